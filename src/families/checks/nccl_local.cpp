#include "families/checks/active_parts/nccl.hpp"

namespace tundish::checks {
namespace {

Verdicts judge(const CheckSample& sample) {
  return judge_nccl(sample, "nccl_local", "an all-reduce over the node's GPUs is right and fast");
}

}  // namespace

extern const Check nccl_local;
const Check nccl_local{
    "nccl_local",
    "An all-reduce over all GPUs of the node has no wrong element and the bus bandwidth of its "
    "model: NVLink and NVSwitch carry what they must.",
    "all_reduce_perf of nccl-tests; limits of Azure/azurehpc-health-checks; facts/health.md "
    "section 3",
    "about two minutes with every NVLink busy and most of the GPUs' memory in use",
    {"active", "limits", "nameplate"},
    judge,
    Resource::nvlink,
    Locality::symptom,
    hours(168),
    Gate::advisory,
    CheckKind::active,
    Tier::heavy};

}  // namespace tundish::checks
