#pragma once
// Active checks inside a tenant's cluster: with its consent, on idle members, as work of its engine
// that gives way to all other work.
#include <optional>

#include "control/view.hpp"

namespace tundish::control {

/// How a reason ends that goes away by itself in some seconds.
inline constexpr std::string_view being_set_up = ": it is being set up";
/// Why no active check may run on a tenant's node; empty: one may. A run that goes on is ended as
/// soon as there is a reason: that the check itself keeps the node busy is none.
std::string tenant_refusal(const View& view, const Node& node);
/// Why none may begin now: tenant_refusal(), something runs there, or nobody knows; empty: it may.
std::string tenant_busy(const View& view, const Node& node);
/// What the node's agent asks the engine for; nullopt: the node is no member of a cluster.
std::optional<CheckWork> work_on(const View& view, const Node& node);

}  // namespace tundish::control
