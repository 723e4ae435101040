#pragma once
// A cluster's gateway on a service node: one more port in the cluster's own network, on the node's
// access interface. What the order allows goes to the login node, and its answers come back;
// nothing else passes, neither in nor out, and nobody outside reaches the daemons that run there.
#include <string>

#include "base/result.hpp"
#include "model/verbs.hpp"

namespace tundish::agent {

struct GatewayPlace {
  std::string cluster;
  std::string uplink;   ///< the node's access interface
  std::string segment;  ///< the cluster's own port
};
/// Interface of the gateway in the cluster's network. Not a port of the node's.
inline constexpr std::string_view gateway_interface = "gw0";

/// What nft is told, as one transaction.
std::string render_gateway(const AccessGateway& gateway, const std::string& segment);
/// Idempotent. The filter is in force before the interface is up.
Result<> open_gateway(const GatewayPlace& place, const AccessGateway& gateway, Duration limit);
/// The interface and the filter go. Done when there are none.
Result<> close_gateway(const std::string& cluster, Duration limit);

}  // namespace tundish::agent
