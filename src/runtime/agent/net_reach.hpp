#pragma once
// Who answers by TCP or to a ping on one port of the node.
#include <string>
#include <vector>

#include "base/instant.hpp"
#include "model/net_probe.hpp"

namespace tundish::agent {

struct ReachLimits {
  std::string interface;  ///< connections leave here and nowhere else
  Duration wait = seconds(4);
};
/// In the order asked; port 0 is asked by ICMP echo. An answer of any kind is an answer: silence
/// alone says that the way is closed. Blocks until all have answered or `wait` has passed.
std::vector<ProbeServiceSeen> reach_services(const std::vector<ProbeService>& services,
                                             const ReachLimits& limits);

/// tundishd as the agent reaches it, and another port of the same address, which must not answer.
std::vector<ProbeService> controller_services(const std::string& api);

}  // namespace tundish::agent
