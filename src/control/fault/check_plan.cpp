#include "control/fault/check_plan.hpp"

#include <algorithm>
#include <functional>

#include "base/text.hpp"

namespace tundish::control {
namespace {

const PolicyCheck& check_named(const RemediationPolicy& policy, const std::string& name) {
  static const PolicyCheck plain;
  const auto found = policy.checks.find(name);
  return found == policy.checks.end() ? plain : found->second;
}

bool contains(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

/// What the policy makes of no verdict at all: the gravest word of any check that was to run.
std::string silence_of(const RemediationPolicy& policy, const PolicyState& state) {
  const auto checks = checks_of(policy, state);
  if (checks.empty()) return "checks_unknown";
  bool all_pass = true;
  for (const auto& name : checks) {
    const CheckReading reading = check_named(policy, name).if_error;
    if (reading == CheckReading::fail) return "checks_failed";
    all_pass = all_pass && reading == CheckReading::pass;
  }
  return all_pass ? "checks_passed" : "checks_unknown";
}

}  // namespace

std::vector<std::string> checks_of(const RemediationPolicy& policy, const PolicyState& state) {
  if (!state.checks.empty()) return state.checks;
  std::vector<std::string> out;
  for (const auto& [name, check] : policy.checks) out.push_back(name);
  return out;
}

std::vector<std::string> circle_of_checks(const RemediationPolicy& policy) {
  std::vector<std::string> path, circle;
  std::set<std::string> done;
  const std::function<bool(const std::string&)> visit = [&](const std::string& name) {
    const auto again = std::find(path.begin(), path.end(), name);
    if (again != path.end()) {
      circle.assign(again, path.end());
      return true;
    }
    if (!done.insert(name).second) return false;
    path.push_back(name);
    for (const auto& other : check_named(policy, name).after) {
      if (visit(other)) return true;
    }
    path.pop_back();
    return false;
  };
  for (const auto& [name, check] : policy.checks) {
    if (visit(name)) break;
  }
  return circle;
}

std::string unmet_precondition(const RemediationPolicy& policy, const PolicyState& state,
                               const std::string& name, const std::set<std::string>& facts) {
  const PolicyCheck& check = check_named(policy, name);
  if (!check.runs_in.empty() && !contains(check.runs_in, state.node)) {
    return name + " does not run on a node that is " +
           (state.node.empty() ? "in no stated condition" : state.node) +
           ", only: " + join(check.runs_in, ", ");
  }
  for (const auto& term : check.needs) {
    const bool negated = term.starts_with('!');
    if (facts.contains(negated ? term.substr(1) : term) == negated) {
      return name + " needs " + term;
    }
  }
  const auto circle = circle_of_checks(policy);
  if (contains(circle, name)) return name + " waits for itself: " + join(circle, " after ");
  return "";
}

CheckPlan plan_checks(const RemediationPolicy& policy, const PolicyState& state,
                      const std::set<std::string>& facts) {
  CheckPlan plan;
  for (const auto& name : checks_of(policy, state)) {
    const std::string why = unmet_precondition(policy, state, name, facts);
    if (why.empty()) {
      plan.run.push_back(name);
    } else if (check_named(policy, name).if_unmet == UnmetReading::skip) {
      plan.skipped.push_back(name);
      if (plan.why_skipped.empty()) plan.why_skipped = why;
    } else if (plan.waits.empty()) {
      plan.waits = why;
    }
  }
  return plan;
}

std::set<std::string> act_facts(const RemediationPolicy& policy, const PolicyState& state,
                                StepOutcome outcome) {
  if (state.action.empty()) return {};
  const bool checks = state.action == "run_checks";
  std::set<std::string> facts;
  switch (outcome) {
    case StepOutcome::done:
      facts.insert("action_done");
      if (checks) facts.insert("checks_passed");
      break;
    case StepOutcome::failed:
      facts.insert("action_failed");
      if (checks) facts.insert("checks_failed");
      break;
    case StepOutcome::timeout:  // no answer: it may have been done, the checks may have passed
      facts.insert("action_unknown");
      if (checks) facts.insert(silence_of(policy, state));
      break;
    case StepOutcome::running:
    case StepOutcome::proposed:
    case StepOutcome::refused: break;
  }
  return facts;
}

}  // namespace tundish::control
