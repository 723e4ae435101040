#pragma once
// The one interpreter of remediation policies: controllers, simulator and verifier call it.
#include <optional>
#include <set>
#include <string>

#include "base/result.hpp"
#include "model/policy.hpp"

namespace tundish::control {

/// Names that a policy may use. An unknown name is refused when the policy is loaded.
const std::set<std::string>& known_facts();
const std::set<std::string>& known_actions();

struct PolicyPosition {
  std::string state;
  Instant entered_at;
  std::map<std::string, int> entries;  ///< how often each state was entered, this time included
};

struct PolicyStep {
  std::optional<std::string> go;
  Instant wake_at;     ///< when an edge that waits for time may open; unset: only facts open one
  std::string reason;  ///< what it waits for, for people
};

/// Pure. `facts` are the ones that hold; what is unknown does not hold.
PolicyStep policy_step(const RemediationPolicy& policy, const PolicyPosition& at,
                       const std::set<std::string>& facts, Instant now);

/// Names, edges to existing states, a way out of every state that is not final, an unconditional or
/// timed way out of every state that acts: what can be seen without searching the state space.
Result<> check_policy(const RemediationPolicy& policy);

}  // namespace tundish::control
