#include "control/fault/policy.hpp"

#include "base/text.hpp"

namespace tundish::control {
namespace {

bool holds(const std::string& term, const RemediationPolicy& policy, const PolicyPosition& at,
           const std::set<std::string>& facts) {
  if (term.starts_with('!')) return !holds(term.substr(1), policy, at, facts);
  constexpr std::string_view prefix = "budget:";
  if (term.starts_with(prefix)) {
    const std::string state = term.substr(prefix.size());
    const auto spent = at.entries.find(state);
    const auto limit = policy.states.find(state);
    if (limit == policy.states.end()) return false;
    return limit->second.budget == 0 || spent == at.entries.end() ||
           spent->second < limit->second.budget;
  }
  return facts.contains(term);
}

Result<> check_term(const std::string& term, const RemediationPolicy& policy,
                    const std::string& state) {
  const std::string name = term.starts_with('!') ? term.substr(1) : term;
  if (name.starts_with("budget:")) {
    if (policy.states.contains(name.substr(7))) return {};
    return make_error(Code::invalid, "state " + state + ": " + term + " names no state");
  }
  if (known_facts().contains(name)) return {};
  std::vector<std::string> all(known_facts().begin(), known_facts().end());
  return make_error(Code::invalid, "state " + state + ": unknown fact " + name)
      .with_remedy("known facts: " + join(all, ", "));
}

Result<> check_state(const RemediationPolicy& policy, const std::string& name,
                     const PolicyState& state) {
  if (!state.action.empty() && !known_actions().contains(state.action)) {
    return make_error(Code::invalid, "state " + name + ": unknown action " + state.action);
  }
  if (state.final) return {};
  bool always_out = false;
  for (const auto& edge : state.next) {
    if (!policy.states.contains(edge.go)) {
      return make_error(Code::invalid, "state " + name + ": edge to unknown state " + edge.go);
    }
    for (const auto& term : edge.when) TRY_VOID(check_term(term, policy, name));
    always_out = always_out || edge.when.empty();
  }
  if (!always_out) {
    return make_error(Code::invalid, "state " + name + " can wait for ever")
        .with_remedy("add an edge without `when`, with `after_s` as its deadline");
  }
  return {};
}

}  // namespace

const std::set<std::string>& known_facts() {
  static const std::set<std::string> names = {
      "permitted",        "device_lost",   "drained",      "isolated",     "hardware_witness",
      "wants_reset",      "wants_reboot",  "wants_rma",    "wants_nothing", "action_done",
      "action_failed",    "rebooted",      "agent_back",   "checks_passed", "checks_failed",
      "new_witness",      "engine_known",  "in_allocation", "checks_unknown", "action_unknown"};
  return names;
}

const std::set<std::string>& known_actions() {
  static const std::set<std::string> names = {
      "evacuate",   "reset_gpus", "reboot",      "power_cycle",
      "run_checks", "wipe",       "return_node", "open_rma"};
  return names;
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
  if (found->second.final) return step;
  std::vector<std::string> waits;
  for (const auto& edge : found->second.next) {
    bool all = true;
    for (const auto& term : edge.when) {
      if (!holds(term, policy, at, facts)) {
        all = false;
        waits.push_back(term);
        break;
      }
    }
    if (!all) continue;
    const Instant due = at.entered_at + seconds(edge.after_s);
    if (now >= due) {
      step.go = edge.go;
      return step;
    }
    if (!step.wake_at.is_set() || due < step.wake_at) step.wake_at = due;
  }
  step.reason = "waits for " + join(waits, " or ");
  return step;
}

Result<> check_policy(const RemediationPolicy& policy) {
  if (!policy.states.contains(policy.initial)) {
    return make_error(Code::invalid, "initial state " + policy.initial + " does not exist");
  }
  for (const auto& [name, state] : policy.states) TRY_VOID(check_state(policy, name, state));
  return {};
}

}  // namespace tundish::control
