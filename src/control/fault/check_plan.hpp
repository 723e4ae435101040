#pragma once
// Which checks of a state can run, and what the result of an act means to the policy. Pure; the
// controller acts by it and the verifier searches by it.
#include <set>
#include <string>
#include <vector>

#include "model/policy.hpp"
#include "model/step.hpp"

namespace tundish::control {

struct CheckPlan {
  std::vector<std::string> run;      ///< of those that the state names
  std::vector<std::string> skipped;  ///< preconditions do not hold, and nobody waits for them
  std::string why_skipped;           ///< of the first one
  std::string waits;                 ///< preconditions do not hold: nothing starts; empty: it does
  /// Every check was left out: the act is over before it began.
  bool is_empty() const { return waits.empty() && run.empty() && !skipped.empty(); }
};

/// The checks that a state runs, as far as the policy names them; empty: whatever the node has.
std::vector<std::string> checks_of(const RemediationPolicy& policy, const PolicyState& state);

/// Why this check cannot run in this state under these facts; empty: it can.
std::string unmet_precondition(const RemediationPolicy& policy, const PolicyState& state,
                               const std::string& check, const std::set<std::string>& facts);

CheckPlan plan_checks(const RemediationPolicy& policy, const PolicyState& state,
                      const std::set<std::string>& facts);

/// Facts that follow from how the act of a state ended; none while it runs or waits for leave.
std::set<std::string> act_facts(const RemediationPolicy& policy, const PolicyState& state,
                                StepOutcome outcome);

/// Checks that wait for each other in a circle, in its order; empty: none do.
std::vector<std::string> circle_of_checks(const RemediationPolicy& policy);

}  // namespace tundish::control
