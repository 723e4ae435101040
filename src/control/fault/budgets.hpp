#pragma once
// What repairs of one fault cost so far, over all its incidents: a second incident of the same
// fault does not begin with a full purse.
#include <map>
#include <string>

#include "control/view.hpp"
#include "model/operation.hpp"

namespace tundish::control {

/// Entries of resets, reboots and power cycles that earlier incidents of the same fault on the same
/// node made within the policy's window. Pure.
std::map<std::string, int> spent_before(const View& view, const Incident& incident);

/// Counts them as this incident's own, before it enters the policy; a repeat changes nothing.
OperationPtr carry_budgets(IncidentId incident, std::map<std::string, int> spent);

/// A person releases nothing: the policy releases every claim on the node. Only a policy that says
/// `releases: every` or `claims: slot` asks for it, and none of those can be proved.
OperationPtr override_others(IncidentId incident, std::string reason);

}  // namespace tundish::control
