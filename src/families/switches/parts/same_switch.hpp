#pragma once
// What is declared of a switch against what it shows.
#include "base/result.hpp"
#include "model/switch_state.hpp"

namespace tundish::switches {

/// A switch that runs under other numbers than declared is not the switch we think it is.
Result<> same_switch(const SwitchState& from, const SwitchState& to);

}  // namespace tundish::switches
