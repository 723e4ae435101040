#include "families/checks/active_parts/dcgm.hpp"

namespace tundish::checks {
namespace {

Verdicts judge(const CheckSample& sample) { return judge_dcgm(sample, "dcgm_diag"); }

}  // namespace

extern const Check dcgm_diag;
const Check dcgm_diag{
    "dcgm_diag",
    "DCGM's diagnostic of level 3 passes: memory, PCIe, matrix products, stress and power.",
    "dcgmi diag -r 3 -j of DCGM 3 or 4, package datacenter-gpu-manager, with our own floor for "
    "the memory bandwidth where the published one cannot fail; facts/health.md section 3",
    "about 15 minutes with every GPU at full power",
    {"active", "limits"},
    judge,
    Resource::gpu,
    Locality::device_local,
    hours(168),
    Gate::advisory,
    CheckKind::active,
    Tier::heavy};

}  // namespace tundish::checks
