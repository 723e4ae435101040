#pragma once
#include "control/view.hpp"
#include "model/ops/allocation_ops.hpp"

namespace tundish::control {

enum class WantLogin { no, yes };

/// Chooses every node of an order: members and spares by placement, a login node, the service node
/// with the fewest clusters, headroom to declare. Pure: create_cluster checks it all again.
Result<ClusterOrder> plan_order(const View& view, const TenantId& tenant, const std::string& name,
                                ClusterSpec spec, WantLogin login);

}  // namespace tundish::control
