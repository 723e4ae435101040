#pragma once
// Active checks: on which nodes they may run, when idle nodes run them by themselves, and that
// nobody waits for one. A run is an act under a lease; the lease is taken back as soon as the node
// is anybody's.
#include "control/action.hpp"

namespace tundish::control {

/// An active run that an agent holds a lease for.
struct ActiveRun {
  std::string key;
  std::string call_key;  ///< as the agent knows it
  NodeId node;
  IncidentId incident;  ///< that it proves a repair of; empty: none
  std::vector<std::string> checks;
  Instant since;
  std::string asked_by;  ///< empty: the schedule, or an incident
  bool in_cluster = false;  ///< as work of a tenant's engine
};

struct ActiveWish {
  std::vector<std::string> checks;
  std::string key;
  std::string asked_by = {};  ///< a person's name; empty: nobody asked
  PairSide pair = {};
  Duration limit = minutes(10);
};

/// Without a pull that names it for so long, an agent ends a run.
inline constexpr Duration active_lease = seconds(15);

/// Why no active check may run on the node; empty: one may. It must be free, or claimed and out of
/// every allocation.
std::string active_refusal(const View& view, const Node& node);
/// Why the checks of a call may not run on the node; empty: they may.
std::string call_refusal(const View& view, const Node& node, const RunChecks& call);

/// The leased call of an action, with its arguments; nullptr: it is none.
const RunChecks* leased_checks(const Action& action);

/// Only active checks; on a tenant's node as work of its engine. A person's order is a look, as
/// every check that a person asks for; what runs by itself needs authority over the node, and stops
/// for holds.
Action make_active(const View& view, const Node& node, ActiveWish wish);

/// Lets a run_checks action run these active checks as well.
void add_active(Action& action, const std::vector<std::string>& checks);

/// Active checks that prove the repair of an incident: those that the state of the policy names,
/// and those that found the fault, or light ones that stand for them.
std::vector<std::string> proving_checks(const Incident& incident, const PolicyState& state);

/// Why the run must end now; empty: it may go on.
std::string reason_to_end(const View& view, const ActiveRun& run);

/// What idle nodes begin now, and when the next one is due.
Outcome reconcile_active(const View& view, const std::vector<ActiveRun>& runs);

/// When a node's turn comes next: every period has one, at an instant that is the node's own.
Instant next_turn(const NodeId& node, Instant after, Duration every);

}  // namespace tundish::control
