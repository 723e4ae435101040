#include "families/checks/check_parts.hpp"

namespace tundish::checks {
namespace {

struct Kind {
  KernelEventKind kind;
  const char* reason;
  VerdictState state;
  Resource watches;
};
constexpr Kind kinds[] = {
    {KernelEventKind::hard_lockup, "a CPU did not take interrupts", VerdictState::fail,
     Resource::cpu},
    {KernelEventKind::soft_lockup, "a CPU did not schedule", VerdictState::warn, Resource::cpu},
    {KernelEventKind::rcu_stall, "a CPU held up the kernel (RCU stall)", VerdictState::warn,
     Resource::cpu},
    {KernelEventKind::kernel_oops, "the kernel broke (oops)", VerdictState::fail,
     Resource::unknown},
    {KernelEventKind::hung_task, "a task hung for two minutes", VerdictState::warn,
     Resource::process},
};

Verdicts judge(const CheckSample& sample) {
  if (!sample.events) return {make_unknown("kernel events", sample.events_fault)};
  Findings found(sample, "kernel_lockup");
  Verdicts out;
  for (const auto& kind : kinds) {
    for (const auto& seen : *sample.events) {
      if (seen.event.kind != kind.kind || seen.provenance != Provenance::kernel) continue;
      if (!found.is_recent("window", seen.last_at)) continue;
      Verdict verdict = make_verdict(kind.state, kind.reason, seen.event.detail);
      verdict.device = enum_names(kind.kind)[static_cast<std::size_t>(kind.kind)];
      verdict.watches = kind.watches;
      out.push_back(std::move(verdict));
      break;
    }
  }
  return out.empty() ? found.take("no lockup within the window") : out;
}

}  // namespace

extern const Check kernel_lockup;
const Check kernel_lockup{
    "kernel_lockup",
    "The kernel reported no lockup, stall, oops or hung task lately.",
    "kernel log: soft lockup, hard LOCKUP, rcu stall, hung task, BUG, Oops; NPD's "
    "KernelDeadlock never clears, this one does after the window; facts/health.md section "
    "2",
    "none: the agent reads the log anyway",
    {"events", "limits"},
    judge,
    Resource::cpu,
    Locality::symptom,
    seconds(30),
    Gate::advisory};

}  // namespace tundish::checks
