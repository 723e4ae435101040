#include "families/checks/active_parts/nccl.hpp"

namespace tundish::checks {
namespace {

Verdicts judge(const CheckSample& sample) {
  if (sample.pair.role == PairRole::none) {
    return {make_unknown("pair", "it needs a second node: tundish check pairs")};
  }
  // The side that waits measures nothing.
  if (sample.pair.role == PairRole::server) {
    return {make_unknown("pair", sample.pair.peer + " tells")};
  }
  return judge_nccl(sample, "nccl_pair",
                    "an all-reduce with " + sample.pair.peer + " is right and fast");
}

}  // namespace

extern const Check nccl_pair;
const Check nccl_pair{
    "nccl_pair",
    "An all-reduce over the GPUs of two nodes has no wrong element and enough bus bandwidth: "
    "every rail carries what it must.",
    "all_reduce_perf of nccl-tests, built with MPI=1 for MPICH and started by each node's own "
    "agent; a slow pair is settled by pairing both with nodes that are known to be good; "
    "NVSentinel preflight, GCM and Azure pairwise scans, facts/health.md section 3; not yet run "
    "between two real nodes",
    "about two minutes of two nodes",
    {"active", "limits", "pair"},
    judge,
    Resource::link,
    Locality::symptom,
    hours(168),
    Gate::advisory,
    CheckKind::active,
    Tier::heavy};

}  // namespace tundish::checks
