#pragma once
// The one gate between deciding and acting.
#include <string>

#include "control/action.hpp"

namespace tundish::control {

enum class Leave { execute, propose, refuse };

struct Permit {
  Leave leave = Leave::refuse;
  std::string reason;
};

/// How many disruptive acts (reset, power) run now; counted by the runner.
struct InFlight {
  int disruptive = 0;
};

/// Pure. Order: maintenance window, hold, then hardware witness, authority, consent, brake, limits
/// of the policy. Authority is the lowest level that any scope of the action states for its class;
/// where none states one it is observe.
Permit permit(const Action& action, const View& view, const InFlight& running);

}  // namespace tundish::control
