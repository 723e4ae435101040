#pragma once
// What differs between two states, in words for people, with the networks that it concerns.
#include <set>

#include "control/network/intent.hpp"

namespace tundish::control::network {

struct Difference {
  std::string what;        ///< "swp3: in vlan 120, wanted 110"
  std::set<int> networks;  ///< indices of Intent::networks; empty: the switch itself
  bool there = false;      ///< something of it is on the switch; else it is only missing
};

std::vector<Difference> differences(const Intent& intent, const std::string& switch_name,
                                    const SwitchState& wanted, const SwitchState& seen);
std::vector<Difference> differences(const Intent& intent, const FabricState& wanted,
                                    const FabricState& seen);

/// The first three lines, and how many more there are.
std::string tell_lines(const std::vector<std::string>& lines);

}  // namespace tundish::control::network
