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

/// The group of one act of an allocation or a cluster, or of the restore of a switch or a fabric;
/// those of incidents and maintenance windows cover several.
bool is_of_order(const std::string& group);

/// "waits: " and why nobody does the act now, with the command that changes it; empty: it is done.
std::string waits_for(const Action& action, const View& view);
/// Of the first act that waits; else of the first that its driver refused or that failed: "waits: "
/// and what the driver said.
std::string waits_for(const std::vector<Action>& actions, const View& view);
/// "attach_port failed: ...": the first line of what a driver said, cut where it is long.
std::string fault_text(const std::string& act, const std::string& why);
/// What waits_for() wrote into a reason; empty: nothing.
std::string waiting_part(const std::string& reason);

}  // namespace tundish::control
