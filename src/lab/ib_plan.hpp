#pragma once
// The InfiniBand fabric of an frr lab: switches, HCAs, cables. Pure, as topology.hpp is.
#include <string>
#include <vector>

#include "lab/topology.hpp"

namespace tundish::lab {

struct IbSwitch {
  std::string name;  ///< ibleaf1, ibspine1
  std::string guid;  ///< 0x and 16 hex digits
  int ports = 0;
};

/// An HCA and the machine it is in.
struct IbPort {
  std::string machine;  ///< n01, or the fabric manager
  LabHca hca;
};

struct IbTrunk {
  std::string leaf;
  int leaf_port = 0;
  std::string spine;
  int spine_port = 0;
};

/// Empty in a flat lab and in one without HCAs.
struct IbPlan {
  std::vector<IbSwitch> switches;
  std::vector<IbPort> ports;
  std::vector<IbTrunk> trunks;

  bool is_empty() const { return switches.empty(); }
  /// The manager's own HCA.
  const IbPort& manager() const { return ports.back(); }
};

/// A leaf per rack below one spine, two cables each; a single switch when there is one rack.
IbPlan ib_plan_of(const LabSpec& spec);
/// What ibsim reads. Source: facts/lab.md section 3; checked 2026-11.
std::string render_ib_net(const IbPlan& plan);
/// How ibsim names an HCA: H-0002c90301000100.
std::string ib_node_id(const LabHca& hca);

/// One port as `Dump` of ibsim's console shows it.
struct IbPortDump {
  std::string node_id;
  int lid = 0;
  std::string state;     ///< Down, Init, Armed, Active
  std::string physical;  ///< Polling, Disabled, LinkUp
};
/// The CAs of the newest complete dump in what ibsim has printed; none when it is not complete.
std::vector<IbPortDump> parse_ib_dump(const std::string& printed);

/// Per LID the PKey table that smpquery shows after a line `lid N`: 0x7fff, 0x8110, 0x0000 ...
struct IbKeys {
  int lid = 0;
  std::vector<std::string> table;
};
std::vector<IbKeys> parse_ib_keys(const std::string& printed);

}  // namespace tundish::lab
