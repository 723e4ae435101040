#pragma once
// A maintenance from its plan to the checks that end it.
#include "model/ops/common.hpp"

namespace tundish {

struct MaintenanceOrder {
  std::string scope;
  std::string reason;
  Instant begin;
  Instant end;
  TimeOwner owner = TimeOwner::nobody;
};

/// Nodes of a scope by its name, retired ones left out; nullopt: no scope that people work in.
std::optional<std::vector<NodeId>> nodes_of_scope(const Registry& view, const std::string& scope);

/// invalid: end before begin, a window that is past, no reason, no such scope; conflict: a node has
/// a window already that meets this one.
OperationPtr create_maintenance(MaintenanceOrder order);
/// planned -> near -> active by the clock. Becoming active claims every node.
OperationPtr advance_maintenance(MaintenanceId id, MaintenanceState from, MaintenanceState to);
/// The tenant consents, or nobody has to be asked: its engine may be told to drain the node.
OperationPtr permit_maintenance(MaintenanceId id, NodeId node);
OperationPtr note_maintenance_node(MaintenanceId id, NodeId node, MaintenanceNodeState state,
                                   std::string reason);
/// The window is over and nobody said that the work is done.
OperationPtr mark_overrun(MaintenanceId id);
/// A person says that the work is done. One that did not begin is cancelled.
OperationPtr end_maintenance(MaintenanceId id);
/// What the checks said of one node. Passed: its claim is released and what was recorded of it in
/// the window is closed. Failed twice: an incident holds it from here on.
OperationPtr record_maintenance_checks(MaintenanceId id, NodeId node,
                                       std::vector<Verdict> verdicts);
/// A node that the vendor has is proved when it comes back: the window does not wait for that.
OperationPtr leave_to_vendor(MaintenanceId id, NodeId node);
/// An incident of a node under maintenance: kept with it, neither paged nor acted on.
OperationPtr record_in_window(MaintenanceId id, IncidentId incident);

MaintenanceNode* find_node(Maintenance& maintenance, const NodeId& node);
const MaintenanceNode* find_node(const Maintenance& maintenance, const NodeId& node);
/// The maintenance in which people may have their hands in the node now; nullptr: none.
const Maintenance* maintenance_over(const Registry& view, const NodeId& node);

/// The same of an incident; on a shared part: a window on that part, or on all that it touches.
const Maintenance* maintenance_over(const Registry& view, const Incident& incident);

}  // namespace tundish
