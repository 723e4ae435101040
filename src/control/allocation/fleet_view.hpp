#pragma once
#include "control/placement/fleet.hpp"
#include "control/placement/request.hpp"
#include "control/view.hpp"

namespace tundish::control {

/// A node as placement sees it now.
placement::Slot slot_of(const View& view, const Node& node);
/// The registry as placement sees it now.
placement::Fleet fleet_of(const View& view);

/// A free node that can stand in the allocation: as a member in place of `lost`, or (lost empty)
/// as a spare beside its members. nullopt with `why` filled when none fits.
std::optional<NodeId> find_stand_in(const View& view, const Allocation& allocation,
                                    const NodeId& lost, std::string& why);
/// The allocation's own spare that stands in best for `lost`.
std::optional<NodeId> find_spare(const View& view, const Allocation& allocation,
                                 const NodeId& lost);

}  // namespace tundish::control
