#include "control/network/unclear.hpp"

#include "model/line_owner.hpp"

namespace tundish::control::network {
namespace {

LineMarks marks_of(const WantedNetwork& network, const std::string& place) {
  LineMarks out;
  VrfState vrf;
  vrf.name = network.vrf;
  vrf.l3vni = network.l3vni;
  SegmentState segment;
  segment.acl_in = network.acl;
  segment.l2vni = network.l2vni;
  const auto numbers = network.switches.find(place);
  if (numbers != network.switches.end()) {
    vrf.l3vlan = numbers->second.l3vlan;
    segment.vlan = numbers->second.vlan;
  }
  add_marks(vrf, out);
  add_marks(segment, out);
  if (!network.partition.empty()) out.names.insert(network.partition);
  return out;
}

}  // namespace

int network_named_in(const Intent& intent, const std::string& place, const std::string& line) {
  std::vector<LineMarks> marks;
  for (const auto& network : intent.networks) marks.push_back(marks_of(network, place));
  const int owner = owner_of_line(marks, line);
  return owner == no_owner ? nobody : owner;
}

}  // namespace tundish::control::network
