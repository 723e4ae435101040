#pragma once
#include <set>
#include <string>

#include "control/action.hpp"

namespace tundish::control {

/// The node's way from claim to return, by the loaded policy. Never calls the allocation's
/// controller: that one sees the claim.
Outcome reconcile_incident(const View& view, const Incident& incident);

/// The facts of the policy that hold now. Pure; what is unknown does not hold.
std::set<std::string> facts_of(const View& view, const Incident& incident);

}  // namespace tundish::control
