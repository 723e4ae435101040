#pragma once
// A window in which people work on nodes: what is in it is claimed, recorded and not acted on.
#include <string>
#include <vector>

#include "model/incident.hpp"

namespace tundish {

struct Maintenance;
using MaintenanceId = Id<Maintenance>;

enum class MaintenanceState {
  planned,
  near,          ///< begins soon: placement hands its nodes out no more
  active,        ///< its nodes are claimed; past the window it goes on until somebody ends it
  revalidating,  ///< a person said that the work is done: the checks decide
  ended,
  cancelled
};
inline std::span<const std::string_view> enum_names(MaintenanceState) {
  static constexpr std::string_view names[] = {"planned",      "near",  "active",
                                               "revalidating", "ended", "cancelled"};
  return names;
}

enum class MaintenanceNodeState {
  waiting,   ///< nothing was done to it yet
  draining,  ///< takes no new work; what runs on it may finish
  empty,     ///< known to be empty: people may work on it
  proved,    ///< its checks passed; its claim is released
  faulty     ///< its checks failed; an incident holds it from here on
};
inline std::span<const std::string_view> enum_names(MaintenanceNodeState) {
  static constexpr std::string_view names[] = {"waiting", "draining", "empty", "proved", "faulty"};
  return names;
}

struct MaintenanceNode {
  NodeId node;
  MaintenanceNodeState state = MaintenanceNodeState::waiting;
  Instant since;
  std::string reason;
  int tries = 0;
  Instant tried_at;
  std::string boot_id = {};
  void fields(Fields& f) {
    f(1, "node", node, "node id");
    f(2, "state", state, "waiting, draining, empty, proved or faulty");
    f(3, "since", since, "when it took that state");
    f(4, "reason", reason, "what it waits for, or why its checks did not pass");
    f(5, "tries", tries, "times that its checks were run to end the maintenance");
    f(6, "tried_at", tried_at, "when they last gave an answer");
    f(7, "boot_id", boot_id, "boot of the node when it was claimed");
  }
};

struct Maintenance {
  static constexpr std::string_view kind = "maintenance";
  MaintenanceId id;
  std::string scope;
  std::string reason;
  Instant begin;
  Instant end;
  TimeOwner owner = TimeOwner::nobody;
  MaintenanceState state = MaintenanceState::planned;
  Instant state_since;
  std::vector<MaintenanceNode> nodes;
  Instant overrun_since;
  Instant begun_at;
  Instant ended_at;
  std::string ended_by;
  std::vector<IncidentId> recorded;
  Meta meta;
  void fields(Fields& f) {
    f(1, "id", id, "ours");
    f(2, "scope", scope, "node:N, rack:R, switch:W or site:S");
    f(3, "reason", reason, "why, for people");
    f(4, "begin", begin, "when the window begins");
    f(5, "end", end, "when it should be over; time alone never ends it");
    f(6, "owner", owner, "whose time the window is; what it overruns is the provider's");
    f(7, "state", state, "planned, near, active, revalidating, ended or cancelled");
    f(8, "state_since", state_since, "when it took that state");
    f(9, "nodes", nodes, "what is in the scope, as it was when the window was made");
    f(10, "overrun_since", overrun_since, "the window was over and the work was not");
    f(11, "ended_at", ended_at, "when its last node was proved, or it was cancelled");
    f(12, "ended_by", ended_by, "who said that the work is done");
    f(13, "recorded", recorded, "incidents of its nodes inside the window: no page, no act");
    f(14, "meta", meta, "name, revision");
    f(15, "begun_at", begun_at, "when its nodes were claimed");
  }
};

/// Holder of its claims.
inline std::string maintenance_holder(const MaintenanceId& id) { return "maintenance:" + id.str(); }
inline bool is_of_maintenance(const Claim& claim) {
  return claim.holder.starts_with("maintenance:");
}
/// People may have their hands in the nodes.
inline bool is_under_way(const Maintenance& maintenance) {
  return maintenance.state == MaintenanceState::active ||
         maintenance.state == MaintenanceState::revalidating;
}
inline bool is_over(const Maintenance& maintenance) {
  return maintenance.state == MaintenanceState::ended ||
         maintenance.state == MaintenanceState::cancelled;
}

}  // namespace tundish
