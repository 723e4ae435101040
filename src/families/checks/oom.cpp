#include "families/checks/check_parts.hpp"

namespace tundish::checks {
namespace {

Verdicts judge(const CheckSample& sample) {
  if (!sample.events) return {make_unknown("kernel events", sample.events_fault)};
  Findings found(sample, "oom");
  for (const auto& seen : *sample.events) {
    if (seen.event.kind != KernelEventKind::oom || seen.provenance != Provenance::kernel) continue;
    if (seen.event.detail.starts_with("Memory cgroup")) continue;
    if (!found.is_recent("window", seen.last_at)) continue;
    found.warn("", "the node ran out of memory and killed processes", seen.event.detail);
    break;
  }
  return found.take("the node did not run out of memory within the window");
}

}  // namespace

extern const Check oom;
const Check oom{"oom",
                "The kernel killed no process for memory lately; inside a job's cgroup that is the "
                "job's.",
                "kernel log: Out of memory, Memory cgroup out of memory; facts/health.md section 2",
                "none: the agent reads the log anyway",
                {"events", "limits"},
                judge,
                Resource::memory,
                Locality::symptom,
                minutes(1),
                Gate::advisory};

}  // namespace tundish::checks
