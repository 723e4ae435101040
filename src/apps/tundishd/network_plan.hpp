#pragma once
// What the API tells of switches beyond what was observed: kinds of driver, and exact differences.
#include <vector>

#include "edge/api/contract_network.hpp"
#include "model/physical.hpp"

namespace tundish::tundishd {

std::vector<edge::SwitchDriverInfo> switch_driver_infos();
/// For `network plan`: steps and whole text of one switch, and what the text reads back as.
Result<edge::SwitchPlan> plan_switch_text(const Switch& device, const SwitchState& seen,
                                          const SwitchState& wanted);

}  // namespace tundish::tundishd
