#pragma once
// What differs between two states of one switch, object by object.
#include <vector>

#include "model/switch_state.hpp"

namespace tundish::switches {

template <class T>
struct Change {
  const T* from = nullptr;  ///< absent: the object is new
  const T* to = nullptr;    ///< absent: the object goes
  bool is_new() const { return from == nullptr; }
  bool is_gone() const { return to == nullptr; }
};

/// Points into both states: they must outlive it. Unchanged objects are not in it.
struct StateChanges {
  std::vector<Change<VrfState>> vrfs;
  std::vector<Change<SegmentState>> segments;
  std::vector<Change<SwitchPortState>> ports;
  std::vector<Change<AclState>> acls;
  bool empty() const { return vrfs.empty() && segments.empty() && ports.empty() && acls.empty(); }
};

StateChanges find_changes(const SwitchState& from, const SwitchState& to);

/// Whether the port's place in a network differs; a description alone does not count.
bool moves(const Change<SwitchPortState>& port);
/// "vlan 110", "vrf Vrf00010", "quarantine".
std::string place_of(const SwitchPortState& port);
/// Elements of `from` that `to` lacks, in order.
std::vector<std::string> missing_in(const std::vector<std::string>& from,
                                    const std::vector<std::string>& to);

}  // namespace tundish::switches
