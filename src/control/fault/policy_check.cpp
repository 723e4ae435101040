// What must hold before a policy can be read at all: names, kinds, edges that lead somewhere.
#include <algorithm>

#include "base/nearest.hpp"
#include "control/fault/policy.hpp"
#include "control/fault/policy_problem.hpp"

namespace tundish::control {
namespace {

using Names = std::set<std::string>;

template <class T>
Names keys_of(const std::map<std::string, T>& map) {
  Names out;
  for (const auto& [name, value] : map) out.insert(name);
  return out;
}

std::string plain(const std::string& term) { return term.starts_with('!') ? term.substr(1) : term; }

/// Walks the policy and keeps the first thing that is wrong, with its place.
class Checker {
 public:
  explicit Checker(const RemediationPolicy& policy) : policy_(policy) {}

  std::optional<PolicyProblem> first() {
    know({"initial"}, policy_.initial, keys_of(policy_.states), "state");
    for (const auto& [name, state] : policy_.states) check_state(name, state);
    for (const auto& [name, check] : policy_.checks) check_check(name, check);
    for (const auto& [name, state] : policy_.states) check_listed(name, state);
    check_faults();
    check_limits();
    check_active();
    return std::move(first_);
  }

 private:
  using Path = std::vector<std::string>;
  struct Range {
    int least = 0;
    int most = 0;
  };

  void refuse(const Path& path, const std::string& what, const std::string& remedy) {
    if (first_) return;
    first_ = PolicyProblem{path, make_error(Code::invalid, where(path) + what).with_remedy(remedy)};
  }
  /// "state choose: " of a path into one.
  static std::string where(const Path& path) {
    if (path.size() < 2) return "";
    if (path[0] == "limits") return "limits: ";
    if (path[0] == "budgets") return "budgets: ";
    if (path[0] == "active") return "active: ";
    if (path[0] == "states") return "state " + path[1] + ": ";
    return (path[0] == "checks" ? "check " : "fault ") + path[1] + ": ";
  }
  void know(const Path& path, const std::string& name, const Names& known, const char* kind) {
    if (known.contains(name)) return;
    refuse(path, std::string("unknown ") + kind + " " + name,
           which_word(name, {known.begin(), known.end()}));
  }
  void not_below_zero(const Path& path, int value) {
    if (value >= 0) return;
    refuse(path, path.back() + " is not below zero", "say 0, or more");
  }

  void in_range(const Path& path, int value, Range range) {
    if (value >= range.least && value <= range.most) return;
    refuse(path, path.back() + " is " + std::to_string(value),
           "say " + std::to_string(range.least) + " to " + std::to_string(range.most));
  }

  void check_term(const Path& path, const std::string& term) {
    const std::string name = plain(term);
    if (name.starts_with("budget:")) {
      return know(path, name.substr(7), keys_of(policy_.states), "state");
    }
    if (name.starts_with("fault:") && name.size() > 6) return;
    know(path, name, known_facts(), "fact");
  }

  void check_state(const std::string& name, const PolicyState& state) {
    const auto at = [&](const char* key) { return Path{"states", name, key}; };
    if (!state.action.empty()) know(at("action"), state.action, known_actions(), "action");
    if (!state.node.empty()) know(at("node"), state.node, known_node_states(), "node state");
    not_below_zero(at("budget"), state.budget);
    not_below_zero(at("limit_s"), state.limit_s);
    const bool ends = state.action == "return_node" || state.action == "open_rma";
    if (state.final != ends) {
      refuse(at("final"), std::string("final and ") + (ends ? state.action : "no end"),
             "return_node and open_rma end the policy, nothing else does");
    }
    for (std::size_t i = 0; i < state.next.size(); ++i) {
      check_edge({"states", name, "next", std::to_string(i)}, state.next[i]);
    }
  }

  void check_edge(Path path, const PolicyEdge& edge) {
    path.emplace_back("go");
    know(path, edge.go, keys_of(policy_.states), "state");
    path.back() = "after_s";
    not_below_zero(path, edge.after_s);
    path.back() = "when";
    path.emplace_back();
    for (std::size_t i = 0; i < edge.when.size(); ++i) {
      path.back() = std::to_string(i);
      check_term(path, edge.when[i]);
    }
  }

  void check_check(const std::string& name, const PolicyCheck& check) {
    for (const auto& node : check.runs_in) {
      know({"checks", name, "runs_in"}, node, known_node_states(), "node state");
    }
    for (const auto& term : check.needs) {
      know({"checks", name, "needs"}, plain(term), known_facts(), "fact");
    }
    for (const auto& other : check.after) {
      if (policy_.checks.contains(other)) continue;
      refuse({"checks", name, "after"}, "it runs after " + other + ", which is no check",
             "it would wait for ever: name a check of this policy");
    }
  }

  /// A policy that says what its checks need says it of all.
  void check_listed(const std::string& name, const PolicyState& state) {
    if (policy_.checks.empty()) return;
    for (std::size_t i = 0; i < state.checks.size(); ++i) {
      if (policy_.checks.contains(state.checks[i])) continue;
      const Names listed = keys_of(policy_.checks);
      refuse({"states", name, "checks", std::to_string(i)},
             "it runs " + state.checks[i] + ", which is not under `checks`",
             which_word(state.checks[i], {listed.begin(), listed.end()}));
    }
  }

  void check_faults() {
    static const Names actions = {"none", "reset", "reboot", "rma", "power_off"};
    for (std::size_t i = 0; i < policy_.faults.size(); ++i) {
      const PolicyFault& fault = policy_.faults[i];
      const std::string row = std::to_string(i);
      if (fault.name.empty()) refuse({"faults", row}, "it has no name", "name it: `name: xid 79`");
      know({"faults", row, "action"}, fault.action, actions, "action");
    }
  }

  void check_limits() {
    const auto& limits = policy_.limits;
    not_below_zero({"limits", "resets_per_hour"}, limits.resets_per_hour);
    not_below_zero({"limits", "power_acts_per_hour"}, limits.power_acts_per_hour);
    not_below_zero({"limits", "rack_per_hour"}, limits.rack_per_hour);
    not_below_zero({"limits", "tenant_per_hour"}, limits.tenant_per_hour);
    not_below_zero({"limits", "domain_at_once"}, limits.domain_at_once);
    not_below_zero({"limits", "user_lines_per_hour"}, limits.user_lines_per_hour);
    not_below_zero({"budgets", "window_h"}, policy_.budgets.window_h);
    not_below_zero({"budgets", "disruptive_most"}, policy_.budgets.disruptive_most);
    know({"limits", "touch"}, limits.touch, {"drained", "isolated"}, "fact to touch a node on");
    for (const auto& action : limits.brake_stops) {
      know({"limits", "brake_stops"}, action, known_actions(), "action");
    }
  }

  /// 0 hours: never. More than all of the idle nodes cannot run one.
  void check_active() {
    constexpr Range a_year{0, 8760};
    in_range({"active", "light_every_h"}, policy_.active.light_every_h, a_year);
    in_range({"active", "heavy_every_h"}, policy_.active.heavy_every_h, a_year);
    in_range({"active", "idle_percent"}, policy_.active.idle_percent, {0, 100});
  }

  const RemediationPolicy& policy_;
  std::optional<PolicyProblem> first_;
};

}  // namespace

const std::set<std::string>& known_facts() {
  static const std::set<std::string> names = {
      "permitted",     "device_lost",  "drained",       "isolated",       "hardware_witness",
      "wants_reset",   "wants_reboot", "wants_rma",     "wants_nothing",  "action_done",
      "action_failed", "rebooted",     "agent_back",    "checks_passed",  "checks_failed",
      "new_witness",   "engine_known", "in_allocation", "checks_unknown", "action_unknown",
      "brake",         "wants_power_off"};
  return names;
}

const std::set<std::string>& known_actions() {
  static const std::set<std::string> names = {"evacuate",    "reset_gpus", "reboot",
                                              "power_cycle", "run_checks", "wipe",
                                              "return_node", "open_rma",   "power_off"};
  return names;
}

const std::set<std::string>& known_node_states() {
  static const std::set<std::string> names = {"in_service", "draining", "drained", "isolated",
                                              "reserved",   "down",     "off",     "nowhere"};
  return names;
}

std::optional<PolicyProblem> find_problem(const RemediationPolicy& policy) {
  return Checker(policy).first();
}

Result<> check_policy(const RemediationPolicy& policy) {
  if (auto problem = find_problem(policy)) return std::move(problem->error);
  return {};
}

}  // namespace tundish::control
