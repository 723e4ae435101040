#pragma once
#include "control/view.hpp"

namespace tundish::control {

/// Our drains begin so in the engine; any other reason is a person's or the engine's own.
inline constexpr std::string_view our_reason = "tundish:";

/// *Known* to be empty: the engine answered lately, gives the node no new work, and nothing runs
/// or completes on it. An engine that does not answer leaves it unknown, which is false.
bool is_drained(const View& view, const Node& node);

/// Name of the cluster on machines that serve several: two tenants may choose the same name.
std::string engine_cluster(const Cluster& cluster);
/// Name of the node in the cluster's engine; empty when it is not declared there.
std::string engine_name(const Cluster& cluster, const NodeId& node);
const EngineNode* find_engine_node(const EngineObserved& engine, const std::string& name);
bool has_state(const EngineNode& node, std::string_view state);
/// Jobs that hold the node now (running, completing, suspended: any state but pending and ended).
std::vector<const EngineJob*> jobs_on(const EngineObserved& engine, const std::string& name);
/// An active check's own work: it holds the node as any other, but nobody lost anything by its end.
bool is_check_work(const EngineJob& job);

/// Of an incident with `device_lost`: jobs that began later lost nothing by it, and are waited for
/// as any other. Only a user's line says that the device is gone, or the node was restarted since.
/// Unset: whatever is on the node lost its device.
Instant spares_after(const Incident& incident, const Node& node);

}  // namespace tundish::control
