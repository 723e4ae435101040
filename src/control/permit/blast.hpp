#pragma once
// Rate limits and blast radius of the loaded policy, counted from the incidents' own timelines:
// they survive restarts, and nobody can give them back.
#include <string>

#include "control/action.hpp"

namespace tundish::control {

/// Most resets, reboots and power cycles that may be in flight.
int most_in_flight(const View& view);

/// As many run for other incidents already; what the policy calls `brake`.
bool is_braked(const View& view, const IncidentId& except);

/// The brake stops this action: by the policy's list, else resets, reboots and power cycles.
bool is_stopped_by_brake(const RemediationPolicy& policy, std::string_view action);

/// Which limit of the policy the act would break; empty: none.
std::string broken_limit(const Action& action, const View& view);

}  // namespace tundish::control
