#pragma once
// What a Linux switch shows of itself (iproute2's JSON, lldpcli's) as the files that the frr items
// read. Source: iproute2 6.1, ip/ipaddress.c, bridge/vlan.c; lldpcli(8), format json0; measured
// with both; checked 2026-11.
#include <vector>

#include "families/switches/driver_frr_scripts.hpp"
#include "families/switches/frr_parts/frr_parts.hpp"

namespace tundish::switches {

/// "frr.conf", "kernel" and "nft" in a canonical order, and the ports' carrier and neighbours.
Result<SwitchFetched> read_frr_sections(const std::vector<FrrSection>& sections,
                                        frr_parts::Kernel kernel);

}  // namespace tundish::switches
