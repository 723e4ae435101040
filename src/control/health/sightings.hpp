#pragma once
// What one node showed, in blame's words. For src/control/health only.
#include "control/health/evidence.hpp"
#include "control/view.hpp"

namespace tundish::control::health {

/// Older events say nothing of now.
inline constexpr Duration events_age_limit = minutes(10);

std::vector<Sighting> sightings_of(const View& view, const Node& node);

}  // namespace tundish::control::health
