#pragma once
// Where somebody else's lines on a switch use what belongs to a network of ours. Pure.
#include "control/network/intent.hpp"

namespace tundish::control::network {

struct ForeignClash {
  std::string what;  ///< "VNI 10001 of acme/train"
  int network = nobody;
  bool joins = false;  ///< whoever uses it there is in the network; a VLAN may be another bridge's
};

std::vector<ForeignClash> foreign_clashes(const Intent& intent, const std::string& switch_name,
                                          const ForeignNumbers& foreign);

}  // namespace tundish::control::network
