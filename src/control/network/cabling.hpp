#pragma once
// Declared cables against what a switch sees at their ends by LLDP. Pure.
#include <string>
#include <vector>

#include "control/view.hpp"
#include "model/operation.hpp"
#include "model/physical.hpp"

namespace tundish::control::network {

/// Cables of the switch that end elsewhere than declared, one a line, sorted by port. The far end
/// is known by its MAC, then by its name: a name can be given twice, and a serial number says
/// nothing of a cable. A port without a neighbour is not in the list: silence is no fault.
std::vector<std::string> miswired_cables(const View& view, const Switch& device);

/// Condition of a node one of whose access ports was seen where it is not declared. It outlives the
/// look, because nothing is seen through a port that is shut: it goes when the port is seen in its
/// place, when another place is declared for it, or when a person confirms the node.
inline constexpr std::string_view miswired_condition = "miswired";
struct CableChange {
  NodeId node;
  std::string reason;  ///< empty: the condition goes
};
/// What a fresh look at the switch changes of that condition.
std::vector<CableChange> cable_changes(const View& view, const Switch& device);
/// Why the port of the node must not be put into a network; empty: nothing says that.
std::string miswired_port(const Node& node, const std::string& port);

}  // namespace tundish::control::network
