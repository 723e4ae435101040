#pragma once
// A service node has a port in the network of each cluster that it serves. Linux takes a packet for
// any of its addresses on any port: without a shield one tenant could reach the controller of
// another through the node.
#include <string>

#include "base/instant.hpp"
#include "base/result.hpp"

namespace tundish::agent {

/// What nft is told: packets for other addresses than the port's own are dropped, and nothing is
/// forwarded from it.
std::string render_shield(const std::string& interface, const std::string& address);
/// Idempotent; replaces an earlier shield of the port. Also ends answers to ARP for the node's
/// other addresses. `unsupported` where nft is not installed.
Result<> shield_port(const std::string& interface, const std::string& address, Duration limit);

}  // namespace tundish::agent
