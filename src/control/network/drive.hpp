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

/// Somebody else changed what the allocation has on the switch, as last seen: that is told, and
/// left alone until reconcile_switch restores it.
bool is_drifted(const View& view, const Allocation& allocation, const std::string& switch_name);

/// Acts beside the nodes' own ports: switches that the storage is cabled to, the InfiniBand
/// manager. Empty: in step as last seen, or not seen at all.
std::vector<Action> beside_actions(const View& view, const Allocation& allocation);

/// Where the node's HCAs are seen. `none`: the network has no partition or the node no HCA.
enum class PartitionPlace { none, inside, outside, unknown };
PartitionPlace partition_place(const View& view, const Allocation& allocation, const Node& node);

}  // namespace tundish::control::network
