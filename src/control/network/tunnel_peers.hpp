#pragma once
// Where a switch's tunnels send to, against the switches that the network is on. An entry by hand
// in the kernel's table is not in any configuration.
#include "control/network/difference.hpp"

namespace tundish::control::network {

/// Each far end that is no switch of the network that the VNI belongs to. A switch whose tunnel end
/// is not known makes every address possible: then nothing is said of that network.
std::vector<Difference> peer_differences(const Intent& intent, const std::string& switch_name,
                                         const std::vector<TunnelPeer>& peers);

}  // namespace tundish::control::network
