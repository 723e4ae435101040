#include "families/checks/check_parts.hpp"

namespace tundish::checks {
namespace {

Verdicts judge(const CheckSample& sample) {
  if (!sample.mounts) return {make_unknown("storage", sample.mounts_fault)};
  if (sample.mounts->empty()) return {nothing_asked(sample, "what storage it is to have")};
  Findings found(sample, "storage_latency");
  for (const auto& probe : *sample.mounts) {
    if (probe.state != MountState::answered) {  // storage_mount tells that
      found.unseen(probe.target, "it did not answer, so nothing was timed");
      continue;
    }
    found.measure("answer", probe.target, probe.took.us / 1000, "a small file takes");
  }
  return found.take("every export answers soon");
}

}  // namespace

extern const Check storage_latency;
const Check storage_latency{
    "storage_latency",
    "Writing, reading and removing a small file of every export takes no seconds.",
    "the time of storage_mount's probe; no peer times a mount; facts/health.md section 2",
    "none: the probe of storage_mount is timed",
    {"mounts", "limits"},
    judge,
    Resource::storage_client,
    Locality::symptom,
    seconds(60),
    Gate::advisory,
    CheckKind::passive,
    Tier::light,
    2};

}  // namespace tundish::checks
