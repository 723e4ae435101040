#pragma once
// The attempt behind place(): an answer or what blocked it, without the explaining.
#include "control/placement/view.hpp"

namespace tundish::control::placement {

std::variant<Placement, Blocker> try_place(const View& view, const Request& request);

/// Words and numbers for a refusal. `view` is null when the sku is unknown.
Shortfall explain(const View* view, const Request& request, Blocker blocker);

}  // namespace tundish::control::placement
