#pragma once
// What a node sees of its HCAs: files below /sys/class/infiniband.
#include <string>
#include <vector>

#include "base/result.hpp"
#include "lab/topology.hpp"

namespace tundish::lab {

enum class HcaLink { down, init, armed, active };
std::string_view link_name(HcaLink link);

struct HcaState {
  HcaLink link = HcaLink::down;
  int lid = 0;
  std::vector<std::string> pkeys = {"0xffff"};  ///< as a port has it before a manager came
  bool operator==(const HcaState&) const = default;
};

/// Below `sysclass`, which is the node's /sys/class. Keeps what is there already.
Result<> prepare_hcas(const std::string& sysclass, const LabNode& node);
/// A reader sees each file as it was or as it is.
Result<> write_hca_state(const std::string& sysclass, const LabHca& hca, const HcaState& state);

}  // namespace tundish::lab
