#pragma once
// What is wrong with a policy before anything is searched, and where in it.
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/policy.hpp"
#include "model/resource.hpp"

namespace tundish::control {

/// `path`: keys and indices from the top of the policy to what is wrong.
struct PolicyProblem {
  std::vector<std::string> path;
  Error error;
};

/// The first name that no state, fact or action has, and what else keeps it from being read.
std::optional<PolicyProblem> find_problem(const RemediationPolicy& policy);

/// A check that this program has.
struct KnownCheck {
  std::string name;
  CheckKind kind = CheckKind::passive;
};

/// Whether checks that the policy describes itself, under `checks`, may be another system's.
enum class OtherChecks { refused, taken };

/// The first check that no agent has, or that is active where a passive one is meant. Empty
/// `known`: nobody says what there is, and nothing is refused.
std::optional<PolicyProblem> find_unknown_check(const RemediationPolicy& policy,
                                                const std::vector<KnownCheck>& known,
                                                OtherChecks others = OtherChecks::refused);

}  // namespace tundish::control
