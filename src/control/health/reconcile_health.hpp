#pragma once
// From blame to incidents. Pure; one look at the whole site.
#include <set>

#include "control/action.hpp"
#include "control/health/blame.hpp"

namespace tundish::control::health {

/// `unwell`: every node for which is_unwell() holds, in any superset.
Outcome reconcile_health(const View& view, const std::set<NodeId>& unwell);

/// What a tenant may read of it: no name of anything.
std::string fault_text(const Finding& finding);

}  // namespace tundish::control::health
