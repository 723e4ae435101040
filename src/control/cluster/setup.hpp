#pragma once
#include "control/cluster/reconcile_cluster.hpp"

namespace tundish::control {

/// Sets up the engine's controller daemons on the service node.
Action make_controller_setup(const View& view, const Cluster& cluster, const Allocation& allocation,
                             const DesiredEngine& desired, const Engine& engine,
                             SecretSource& secrets);
/// Joins one member or the login node.
Action make_node_setup(const View& view, const Cluster& cluster, const Allocation& allocation,
                       const AllocationNode& member, const DesiredEngine& desired,
                       const std::vector<EngineFile>& files, SecretSource& secrets);
/// Changes with everything that a node must be set up for again.
std::string setup_hash(const DesiredEngine& desired);
/// Likewise of the service node, whose gateway knows who may come in.
std::string controller_hash(const Cluster& cluster, const DesiredEngine& desired);

}  // namespace tundish::control
