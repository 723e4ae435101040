#pragma once
// What lldpd shows of the far ends of cables.
#include <string>
#include <vector>

#include "ports/drivers.hpp"

namespace tundish::switches {

/// json0 keeps every level a list, whatever their number. Source: lldpcli(8); checked 2026-11.
void read_lldp_json0(const std::string& text, std::vector<PortNeighbour>& out);
/// "02:00:00:00:00:01" of the ways in which vendors write a MAC; empty: it is none.
std::string plain_mac(const std::string& text);

}  // namespace tundish::switches
