#pragma once
// A service node serves clusters of tenants who may all have the same addresses. The port of each
// cluster lies in a network namespace of its own, together with the daemons that listen there: no
// packet of one cluster meets an address, a socket or a route of another, or of the node itself.
#include <functional>
#include <string>
#include <vector>

#include "base/instant.hpp"
#include "base/result.hpp"

namespace tundish::agent {

/// As `ip netns` knows it: tundish-train-12.
std::string cluster_network(const std::string& cluster);
/// Its file below /run/netns, also when there is none.
std::string cluster_network_file(const std::string& cluster);
bool has_cluster_network(const std::string& cluster);
/// Whether this kernel and our rights make one.
bool can_make_networks();

struct PortOfCluster {
  std::string cluster;
  std::string interface;
};
/// Makes the namespace and puts the port into it, without addresses. Done when it is there;
/// `conflict` when the port serves another cluster.
Result<> place_port(const PortOfCluster& port, Duration limit);
/// The port comes back, down and without addresses, and the namespace goes. Done when there is
/// none.
Result<> release_port(const std::string& cluster, Duration limit);

/// The cluster's namespace that holds the interface, as a file; empty: the node's own.
std::string network_of_interface(const std::string& interface);
/// Runs `work` on a thread that has entered the namespace; empty: the node's own.
Result<> run_in_network(const std::string& file, const std::function<Result<>()>& work);

/// sysfs shows the node's own namespace only: adds the MACs of ports that are in clusters'.
void add_cluster_macs(std::vector<std::string>& macs);

}  // namespace tundish::agent
