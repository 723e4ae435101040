#pragma once
#include "control/action.hpp"

namespace tundish::control {

/// The allocation's members: into its networks, a spare for each claimed one, out again. Sees
/// claims; never calls the incident's controller.
Outcome reconcile_allocation(const View& view, const Allocation& allocation);

}  // namespace tundish::control
