#include "families/checks/check_parts.hpp"

namespace tundish::checks {
namespace {

Verdicts judge(const CheckSample& sample) {
  if (!sample.pressure) return {make_unknown("pressure", sample.fault_of("pressure"))};
  const Pressure& now = *sample.pressure;
  Verdicts out;
  const auto look = [&](const char* name, const std::optional<std::int64_t>& share, Resource part,
                        const char* what) {
    if (!share) return false;
    Findings found(sample, "pressure");
    found.measure(name, name, *share / 100, what);
    if (found.empty()) return true;
    for (auto& verdict : found.take("")) {
      verdict.watches = part;
      out.push_back(std::move(verdict));
    }
    return true;
  };
  bool any = look("cpu_some", now.cpu_some, Resource::cpu, "tasks wait for a CPU, share of time,");
  any |= look("io_full", now.io_full, Resource::disk, "all tasks wait for a disk, share of time,");
  any |= look("memory_full", now.memory_full, Resource::memory,
              "all tasks wait for memory, share of time,");
  any |= look("own_wait", now.run_queue_wait, Resource::cpu, "the agent waits for a CPU, share,");
  any |= look("steal", now.steal, Resource::cpu, "CPU time taken by a hypervisor, share,");
  if (!out.empty()) return out;
  if (!any) return {make_unknown("pressure", now.fault)};
  return {make_verdict(VerdictState::ok, "nothing waits for long")};
}

}  // namespace

extern const Check pressure;
const Check pressure{
    "pressure",
    "Tasks do not wait for CPU, memory or disk most of the time; the check's own wait is "
    "part of it.",
    "/proc/pressure, /proc/self/schedstat; no peer reads them; facts/health.md sections 2 "
    "and 7",
    "reads some small files of /proc",
    {"pressure", "limits"},
    judge,
    Resource::cpu,
    Locality::symptom,
    seconds(30),
    Gate::advisory,
    CheckKind::passive,
    Tier::light,
    2};

}  // namespace tundish::checks
