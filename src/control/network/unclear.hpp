#pragma once
// Whose network a line is about that no parser understood.
#include "control/network/intent.hpp"

namespace tundish::control::network {

/// The one network that the line names by its VRF, access list, segment, VLAN, VNI or partition.
/// `nobody`: it names none, several, holds a number of another, or speaks of what one takes from
/// another. `place`: the switch that shows the line, for VLANs are its own; a fabric has none.
int network_named_in(const Intent& intent, const std::string& place, const std::string& line);

}  // namespace tundish::control::network
