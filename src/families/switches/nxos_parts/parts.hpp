#pragma once
// NX-OS: lines of each object, and what a running configuration says.
#include "families/switches/parts/line_dialect.hpp"

namespace tundish::switches::nexus {

const LineDialect& dialect();
SwitchSeen read_config(const LineTree& config, const SwitchOwnership& ownership);

/// Names of what belongs to one VRF beside its context.
inline std::string leak_name(const std::string& vrf, const std::string& source) {
  return vrf + "-FROM-" + source;
}
inline std::string import_map_name(const std::string& vrf) { return vrf + "-IMPORT"; }
inline std::string own_targets_name(const std::string& vrf) { return vrf + "-OWN"; }
inline std::string direct_map_name(const std::string& vrf) { return vrf + "-DIRECT"; }

}  // namespace tundish::switches::nexus
