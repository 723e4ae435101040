#pragma once
// What an allocation asks of switches and fabrics, as acts. Pure.
#include <optional>

#include "control/action.hpp"
#include "control/network/intent.hpp"

namespace tundish::control::network {

/// The switch takes configuration; a flat one takes the segment's name only.
bool is_configured(const PortRef& port);
/// What the port's driver is to do: into `segment`, or out of everything when it is empty.
Result<PortIntent> port_intent(const View& view, const Allocation& allocation,
                               const AllocationNode& member, const PortRef& port,
                               const std::string& segment);
/// The switch shows our part otherwise than the intent, and not because somebody else changed it.
bool is_behind(const View& view, const Allocation& allocation, const PortRef& port,
               const PortIntent& intent);

/// What the act would change on the switch as last seen, for people: "swp3: in quarantine, wanted
/// in vlan 110".
std::string change_text(const View& view, const PortRef& port, const PortIntent& intent);

/// Somebody else changed what the allocation has on the switch, as last seen: that is told, and
/// left alone until reconcile_switch restores it.
bool is_drifted(const View& view, const Allocation& allocation, const std::string& switch_name);

/// Acts beside the nodes' own ports: switches that the storage is cabled to, the InfiniBand
/// manager. Empty: in step as last seen, or not seen at all.
std::vector<Action> beside_actions(const View& view, const Allocation& allocation);

/// Of acts that bring switches of several failure sides into a network only those of one side, in
/// the order of their names: the next follows when the switches of this one show it, or are not
/// heard. What isolates is never held back.
void keep_to_one_side(const View& view, std::vector<Action>& actions);

/// Where the node's HCAs are seen. `none`: the network has no partition or the node no HCA.
/// `inside`: in this partition and in no other of ours, by the ports' own tables.
enum class PartitionPlace { none, inside, outside, unknown };
struct PartitionLook {
  PartitionPlace place = PartitionPlace::none;
  std::string why;  ///< of `unknown`, for people
};
PartitionLook partition_place(const View& view, const Allocation& allocation, const Node& node);

}  // namespace tundish::control::network
