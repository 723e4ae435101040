#pragma once
#include "model/ops/pool.hpp"

namespace tundish {

/// An order with the nodes that placement chose. One transaction checks quota, locks the nodes and
/// takes every number from the pools: all or nothing, so two orders for the last node cannot both
/// win.
struct ClusterOrder {
  TenantId tenant;
  std::string name;
  ClusterSpec spec;
  std::vector<NodeId> members;
  std::vector<NodeId> spares;
  std::vector<NodeId> headroom;  ///< declared to the engine, not held
  NodeId login;                  ///< empty: the cluster has no login node
  NodeId controller;
  std::string fabric = "access";
  NetworkSpec network;  ///< prefixes empty: from the pool
};
OperationPtr create_cluster(ClusterOrder order);
OperationPtr begin_delete_cluster(ClusterId cluster);
/// What the tenant, or a person for it, says to active checks on its idle members.
enum class ChecksConsent { allow, deny };
OperationPtr set_checks_consent(ClusterId cluster, ChecksConsent consent);
/// Changes the number of members or spares; nodes that are added are chosen by the caller.
struct ClusterResize {
  ClusterId cluster;
  int nodes = 0;
  int spares = 0;
  std::vector<NodeId> added_members;
  std::vector<NodeId> removed;
};
OperationPtr resize_cluster(ClusterResize resize);

OperationPtr set_allocation_phase(AllocationId id, AllocationPhase phase, std::string reason);
OperationPtr set_cluster_phase(ClusterId id, ClusterPhase phase, std::string reason);

/// The spare takes the place of `broken`, which is now leaving, or of one that left before.
OperationPtr bind_spare(AllocationId id, NodeId broken, NodeId spare, IncidentId cause);
/// A fitting free node becomes a spare (or, with role member, fills a place that no spare filled).
OperationPtr add_node(AllocationId id, NodeId node, MemberRole role, IncidentId cause);
/// A member without a spare to take its place stops serving; the allocation is short.
OperationPtr mark_leaving(AllocationId id, NodeId node, IncidentId cause);
OperationPtr mark_attached(AllocationId id, NodeId node, bool attached);
/// Its set-up is about to start: from now on it has to be cleaned up, however far that comes.
OperationPtr mark_setup_begun(AllocationId id, NodeId node);
/// `setup_hash` says with what it was set up; empty when it left.
OperationPtr mark_joined(AllocationId id, NodeId node, bool joined, std::string setup_hash = {});
/// Only a leaving node that was observed outside every segment of the allocation. It belongs to
/// nobody then; `phase` is where its own life cycle goes on.
OperationPtr detach_node(AllocationId id, NodeId node, NodePhase phase);

OperationPtr record_controller(ClusterId id, bool ready, std::string config_hash,
                               std::vector<std::string> users);
OperationPtr record_drained(ClusterId id, std::vector<std::string> names);
/// Removes a cluster whose nodes are all gone; its pool values become tombstones.
OperationPtr remove_cluster(ClusterId id);

/// Refused when the service node cannot keep a cluster with these prefixes apart from those that it
/// serves: without network namespaces it holds all their addresses side by side.
Result<> check_service_node(const Registry& view, const Node& node,
                            const std::vector<std::string>& prefixes);

const AllocationNode* find_member(const Allocation& allocation, const NodeId& node);
int count_role(const Allocation& allocation, MemberRole role);

}  // namespace tundish
