#include "control/network/foreign.hpp"

#include <algorithm>

namespace tundish::control::network {
namespace {

bool has(const std::vector<int>& numbers, int number) {
  return number != 0 && std::ranges::find(numbers, number) != numbers.end();
}

}  // namespace

std::vector<ForeignClash> foreign_clashes(const Intent& intent, const std::string& switch_name,
                                          const ForeignNumbers& foreign) {
  std::vector<ForeignClash> out;
  if (foreign.vnis.empty() && foreign.vlans.empty() && foreign.route_targets.empty()) return out;
  for (std::size_t i = 0; i < intent.networks.size(); ++i) {
    const auto& network = intent.networks[i];
    const int index = static_cast<int>(i);
    for (const int vni : {network.l2vni, network.l3vni}) {
      if (!has(foreign.vnis, vni)) continue;
      out.push_back({"VNI " + std::to_string(vni) + " of " + network.label, index, true});
    }
    for (const auto& target : {network.l2_target, network.l3_target}) {
      if (std::ranges::find(foreign.route_targets, target) == foreign.route_targets.end()) continue;
      out.push_back({"target " + target + " of " + network.label, index, true});
    }
    const auto numbers = network.switches.find(switch_name);
    if (numbers == network.switches.end()) continue;
    for (const int vlan : {numbers->second.vlan, numbers->second.l3vlan}) {
      if (!has(foreign.vlans, vlan)) continue;
      out.push_back({"vlan " + std::to_string(vlan) + " of " + network.label, index, false});
    }
  }
  return out;
}

}  // namespace tundish::control::network
