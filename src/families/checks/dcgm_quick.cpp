#include "families/checks/active_parts/dcgm.hpp"

namespace tundish::checks {
namespace {

Verdicts judge(const CheckSample& sample) { return judge_dcgm(sample, "dcgm_quick"); }

}  // namespace

extern const Check dcgm_quick;
const Check dcgm_quick{
    "dcgm_quick",
    "DCGM's diagnostic of level 1 passes: libraries, permissions, row remapping, InfoROM.",
    "dcgmi diag -r 1 -j of DCGM 3 or 4, package datacenter-gpu-manager; what is a setting only "
    "warns; facts/health.md section 3",
    "about 30 seconds, the GPUs are hardly used",
    {"active"},
    judge,
    Resource::gpu,
    Locality::device_local,
    hours(24),
    Gate::advisory,
    CheckKind::active,
    Tier::light};

}  // namespace tundish::checks
