#pragma once
#include "control/action.hpp"

namespace tundish::control {

/// The life of a node outside an allocation: admitted, inspected, proved, wiped, proved again. An
/// open incident owns the node instead.
Outcome reconcile_node(const View& view, const Node& node);

}  // namespace tundish::control
