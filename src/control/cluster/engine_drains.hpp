#pragma once
// Nodes that somebody else than we took out of service in the engine: a person, whose word stands,
// or the engine itself, whose word is a symptom that has a cause and an end.
#include "control/action.hpp"
#include "control/cluster/reconcile_cluster.hpp"

namespace tundish::control {

/// The engine's own reason, once what made it drain the node is over: its checks have looked since
/// and show nothing, and nothing that it shares is in trouble. Empty: the drain stands.
std::string drain_to_undo(const View& view, const Cluster& cluster, const Node& node,
                          const std::string& engine_name);

/// Notes such drains on their nodes. One of the engine's own that outlives its time, while nothing
/// shared explains it, is a fault of the node: an incident.
void follow_engine_drains(const View& view, const Cluster& cluster, const Engine& engine,
                          const EngineObserved& seen, Outcome& out);

}  // namespace tundish::control
