#pragma once
// Whose network a line is about that no parser understood.
#include "control/network/intent.hpp"

namespace tundish::control::network {

/// The one network that the line names by its VRF, access list, segment, VLAN, VNI or partition.
/// `nobody`: it names none, several, holds a number of another, or speaks of what one takes from
/// another. `place`: the switch that shows the line, for VLANs are its own; a fabric has none.
int network_named_in(const Intent& intent, const std::string& place, const std::string& line);

/// The networks that the line joins: it stands in the one and names the other (a pair of links, an
/// `import vrf`), or is a route that leads out of one to addresses of the other. Empty: it joins
/// nobody.
std::set<int> networks_joined_in(const Intent& intent, const std::string& place,
                                 const std::string& line);

}  // namespace tundish::control::network
