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
/// What a node can be while an incident is in a state.
const std::set<std::string>& known_node_states();
/// Resets, reboots and power cycles: what costs whoever uses the node.
bool is_disruptive_action(std::string_view action);
/// Of these, the ones that go through the BMC.
bool is_power_action(std::string_view action);
/// Acts that take capacity away; the brake may stop these and no others.
bool removes_capacity(std::string_view action);

struct PolicyPosition {
  std::string state;
  Instant entered_at;
  std::map<std::string, int> entries;  ///< how often each state was entered, this time included
};

struct PolicyStep {
  std::optional<std::string> go;
  Instant wake_at;     ///< when an edge that waits for time may open; unset: only facts open one
  std::string reason;  ///< what it waits for, for people
  Escalation escalate = Escalation::log;  ///< of the edge that is taken
};

/// Pure. `facts` are the ones that hold; what is unknown does not hold. A term is a fact, the
/// beginning of the fault's name (`fault:xid 7`), or `budget:STATE`; a leading ! negates it.
PolicyStep policy_step(const RemediationPolicy& policy, const PolicyPosition& at,
                       const std::set<std::string>& facts, Instant now);

/// Names, and edges to existing states: what must hold before the policy can be read at all.
/// Whether it may be loaded is for verify() to say (control/verify/verify.hpp).
Result<> check_policy(const RemediationPolicy& policy);

/// The policy's own word on a fault, by the longest name that the fault begins with; nullptr: the
/// catalogue speaks.
const PolicyFault* find_fault(const RemediationPolicy& policy, std::string_view fault);

/// Fact that says what the catalogue, or the policy, wants done first about a fault.
std::string wish_fact(std::string_view action);

}  // namespace tundish::control
