#pragma once
// What a look at the fabric prints: who is the manager, which ports are there, how they are cabled,
// and the PKey table of each. Total: what is not understood is left out.
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ports/drivers.hpp"

namespace tundish::fabrics {

struct Sweep {
  bool has_manager = false;  ///< sminfo answered
  std::vector<FabricPort> ports;
  std::vector<FabricCable> cables;
};

Sweep parse_sweep(std::string_view text);

/// What paths_script prints, beside what was asked. A path that it does not name is unknown.
std::vector<FabricPath> read_paths(std::string_view text, std::vector<FabricPath> asked);

/// One port that contradicts what is wanted.
struct PortFault {
  std::string what;       ///< names the port and the PKey
  bool is_open = false;   ///< a full member of the default partition: it reaches everybody
  bool is_extra = false;  ///< carries what it should have lost
};

/// Ports whose table is unknown are no fault. `full_guids`: full in the default partition by a rule
/// that is not ours.
std::vector<PortFault> find_faults(const Sweep& sweep, const FabricState& desired,
                                   const FabricOwnership& ownership,
                                   const std::set<std::string>& full_guids);

}  // namespace tundish::fabrics
