// What must hold before a policy can be read at all: names, kinds, edges that lead somewhere.
#include <algorithm>

#include "base/text.hpp"
#include "control/fault/policy.hpp"

namespace tundish::control {
namespace {

std::string all_of(const std::set<std::string>& names) {
  return join(std::vector<std::string>(names.begin(), names.end()), ", ");
}

Error unknown(const std::string& where, const std::string& what,
              const std::set<std::string>& known) {
  return make_error(Code::invalid, where + ": unknown " + what)
      .with_remedy("known: " + all_of(known));
}

std::string plain(const std::string& term) { return term.starts_with('!') ? term.substr(1) : term; }

Result<> check_term(const std::string& term, const RemediationPolicy& policy,
                    const std::string& where) {
  const std::string name = plain(term);
  if (name.starts_with("budget:")) {
    if (policy.states.contains(name.substr(7))) return {};
    return make_error(Code::invalid, where + ": " + term + " names no state");
  }
  if (name.starts_with("fault:") && name.size() > 6) return {};
  if (known_facts().contains(name)) return {};
  return unknown(where, "fact " + name, known_facts());
}

Result<> check_state(const RemediationPolicy& policy, const std::string& name,
                     const PolicyState& state) {
  const std::string where = "state " + name;
  if (!state.action.empty() && !known_actions().contains(state.action)) {
    return unknown(where, "action " + state.action, known_actions());
  }
  if (!state.node.empty() && !known_node_states().contains(state.node)) {
    return unknown(where, "node state " + state.node, known_node_states());
  }
  if (state.budget < 0 || state.limit_s < 0) {
    return make_error(Code::invalid, where + ": budget and limit_s are not below zero");
  }
  const bool ends = state.action == "return_node" || state.action == "open_rma";
  if (state.final != ends) {
    return make_error(Code::invalid, where + ": final and " + (ends ? state.action : "no end"))
        .with_remedy("return_node and open_rma end the policy, nothing else does");
  }
  for (const auto& edge : state.next) {
    if (!policy.states.contains(edge.go)) {
      return make_error(Code::invalid, where + ": edge to unknown state " + edge.go);
    }
    if (edge.after_s < 0) return make_error(Code::invalid, where + ": after_s is below zero");
    for (const auto& term : edge.when) TRY_VOID(check_term(term, policy, where));
  }
  return {};
}

Result<> check_check(const RemediationPolicy& policy, const std::string& name,
                     const PolicyCheck& check) {
  const std::string where = "check " + name;
  for (const auto& node : check.runs_in) {
    if (!known_node_states().contains(node)) {
      return unknown(where, "node state " + node, known_node_states());
    }
  }
  for (const auto& term : check.needs) {
    if (!known_facts().contains(plain(term))) {
      return unknown(where, "fact " + plain(term), known_facts());
    }
  }
  for (const auto& other : check.after) {
    if (policy.checks.contains(other)) continue;
    return make_error(Code::invalid, where + " runs after " + other + ", which is no check")
        .with_remedy("it would wait for ever: name a check of this policy");
  }
  return {};
}

Result<> check_limits(const RemediationPolicy& policy) {
  const auto& limits = policy.limits;
  for (const int limit : {limits.resets_per_hour, limits.power_acts_per_hour, limits.rack_per_hour,
                          limits.tenant_per_hour, limits.domain_at_once, policy.budgets.window_h,
                          policy.budgets.disruptive_most}) {
    if (limit < 0) return make_error(Code::invalid, "limits and budgets are not below zero");
  }
  if (limits.touch != "drained" && limits.touch != "isolated") {
    return make_error(Code::invalid, "limits: touch is drained or isolated, not " + limits.touch);
  }
  for (const auto& action : limits.brake_stops) {
    if (!known_actions().contains(action)) {
      return unknown("limits: brake_stops", "action " + action, known_actions());
    }
  }
  return {};
}

}  // namespace

const std::set<std::string>& known_facts() {
  static const std::set<std::string> names = {
      "permitted",     "device_lost",  "drained",       "isolated",       "hardware_witness",
      "wants_reset",   "wants_reboot", "wants_rma",     "wants_nothing",  "action_done",
      "action_failed", "rebooted",     "agent_back",    "checks_passed",  "checks_failed",
      "new_witness",   "engine_known", "in_allocation", "checks_unknown", "action_unknown",
      "brake"};
  return names;
}

const std::set<std::string>& known_actions() {
  static const std::set<std::string> names = {"evacuate",    "reset_gpus", "reboot",
                                              "power_cycle", "run_checks", "wipe",
                                              "return_node", "open_rma"};
  return names;
}

const std::set<std::string>& known_node_states() {
  static const std::set<std::string> names = {"in_service", "draining", "drained", "isolated",
                                              "reserved",   "down",     "off",     "nowhere"};
  return names;
}

Result<> check_policy(const RemediationPolicy& policy) {
  static const std::set<std::string> actions = {"none", "reset", "reboot", "rma"};
  if (!policy.states.contains(policy.initial)) {
    return make_error(Code::invalid, "initial state " + policy.initial + " does not exist");
  }
  for (const auto& [name, state] : policy.states) TRY_VOID(check_state(policy, name, state));
  for (const auto& [name, check] : policy.checks) TRY_VOID(check_check(policy, name, check));
  for (const auto& [name, state] : policy.states) {
    for (const auto& check : state.checks) {
      if (policy.checks.empty() || policy.checks.contains(check)) continue;
      return make_error(Code::invalid,
                        "state " + name + " runs " + check + ", which is not under `checks`");
    }
  }
  for (const auto& fault : policy.faults) {
    if (fault.name.empty()) return make_error(Code::invalid, "a fault has no name");
    if (!actions.contains(fault.action)) {
      return unknown("fault " + fault.name, "action " + fault.action, actions);
    }
  }
  return check_limits(policy);
}

}  // namespace tundish::control
