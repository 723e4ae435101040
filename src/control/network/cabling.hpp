#pragma once
// Declared cables against what a switch sees at their ends by LLDP. Pure.
#include <string>
#include <vector>

#include "control/view.hpp"
#include "model/physical.hpp"

namespace tundish::control::network {

/// Cables of the switch that end elsewhere than declared, one a line, sorted by port. The far end
/// is known by its MAC, then by its name: a name can be given twice, and a serial number says
/// nothing of a cable. A port without a neighbour is not in the list: silence is no fault.
std::vector<std::string> miswired_cables(const View& view, const Switch& device);

}  // namespace tundish::control::network
