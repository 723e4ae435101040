#pragma once
#include "control/action.hpp"

namespace tundish::control {

/// A window from its plan to the proof of its last node: claims, waits for running work or asks for
/// consent, notes the overrun, and runs the real checks once a person said that the work is done.
Outcome reconcile_maintenance(const View& view, const Maintenance& maintenance);

}  // namespace tundish::control
