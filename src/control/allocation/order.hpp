#pragma once
#include "control/placement/place.hpp"
#include "control/view.hpp"
#include "model/ops/allocation_ops.hpp"

namespace tundish::control {

enum class WantLogin { no, yes };

Result<placement::Placement> place_nodes(const View& view, const placement::Request& request);

/// Fills in the nodes of an order whose spec is set.
Result<> choose_nodes(const View& view, WantLogin login, ClusterOrder& order);

/// A whole order from a spec: members and spares by placement, a login node, the service node with
/// the fewest clusters, headroom to declare. Pure: create_cluster checks it all again.
Result<ClusterOrder> plan_order(const View& view, const TenantId& tenant, const std::string& name,
                                ClusterSpec spec, WantLogin login);

}  // namespace tundish::control
