#include "control/fault/policy.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace tundish::control {
namespace {

constexpr std::string_view budget_prefix = "budget:";
constexpr std::string_view fault_prefix = "fault:";

bool has_budget(const std::string& state, const RemediationPolicy& policy,
                const PolicyPosition& at) {
  const auto limit = policy.states.find(state);
  if (limit == policy.states.end()) return false;
  const auto spent = at.entries.find(state);
  return limit->second.budget == 0 || spent == at.entries.end() ||
         spent->second < limit->second.budget;
}

bool holds(const std::string& term, const RemediationPolicy& policy, const PolicyPosition& at,
           const std::set<std::string>& facts) {
  if (term.starts_with('!')) return !holds(term.substr(1), policy, at, facts);
  if (term.starts_with(budget_prefix)) {
    return has_budget(term.substr(budget_prefix.size()), policy, at);
  }
  if (term.starts_with(fault_prefix)) {
    const auto first = facts.lower_bound(term);
    return first != facts.end() && first->starts_with(term);
  }
  return facts.contains(term);
}

/// Everything that must be known about the position holds; time is another matter.
const std::string* missing_term(const PolicyEdge& edge, const RemediationPolicy& policy,
                                const PolicyPosition& at, const std::set<std::string>& facts) {
  for (const auto& term : edge.when) {
    if (!holds(term, policy, at, facts)) return &term;
  }
  return nullptr;
}

}  // namespace

bool is_power_action(std::string_view action) {
  return action == "reboot" || action == "power_cycle" || action == "power_off";
}

bool is_disruptive_action(std::string_view action) {
  return action == "reset_gpus" || is_power_action(action);
}

bool removes_capacity(std::string_view action) {
  return is_disruptive_action(action) || action == "evacuate" || action == "open_rma";
}

PolicyStep policy_step(const RemediationPolicy& policy, const PolicyPosition& at,
                       const std::set<std::string>& facts, Instant now) {
  PolicyStep step;
  const auto found = policy.states.find(at.state);
  if (found == policy.states.end()) {
    step.go = policy.initial;  // the loaded policy no longer knows the state: begin anew
    step.reason = "state " + at.state + " is not in the policy";
    return step;
  }
  if (found->second.final) {
    // A fault that came after the proof: what returns the node would forget it.
    if (found->second.action == "return_node" && facts.contains("new_witness")) {
      step.go = policy.initial;
      step.reason = "the fault showed itself again before the node was returned";
    }
    return step;
  }
  std::vector<std::string> waits;
  for (const auto& edge : found->second.next) {
    if (const std::string* term = missing_term(edge, policy, at, facts)) {
      waits.push_back(*term);
      continue;
    }
    const Instant due = at.entered_at + seconds(edge.after_s);
    if (now >= due) {
      step.go = edge.go;
      step.escalate = edge.escalate;
      return step;
    }
    if (!step.wake_at.is_set() || due < step.wake_at) step.wake_at = due;
  }
  step.reason = "waits for " + join(waits, " or ");
  return step;
}

const PolicyFault* find_fault(const RemediationPolicy& policy, std::string_view fault) {
  const PolicyFault* best = nullptr;
  for (const auto& known : policy.faults) {
    if (!fault.starts_with(known.name)) continue;
    if (!best || known.name.size() > best->name.size()) best = &known;
  }
  return best;
}

std::string wish_fact(std::string_view action) {
  if (action == "power_off") return "wants_power_off";
  if (action == "rma") return "wants_rma";
  if (action == "reboot") return "wants_reboot";
  if (action == "reset" || action == "fabric") return "wants_reset";
  return "wants_nothing";
}

}  // namespace tundish::control
