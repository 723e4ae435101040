#pragma once
// What status and metrics count, of the objects that the caller sees.
#include <array>

#include "edge/api/backend.hpp"

namespace tundish::edge::api {

struct FleetCounts {
  int nodes = 0;  ///< not retired; as are those below
  int ready = 0, assigned = 0, claimed = 0, claims = 0, placeable = 0;
  int agents_heard = 0, expected_agents = 0;
  int clusters = 0, clusters_active = 0;
  std::array<int, 10> by_phase = {};
  std::array<int, 5> incidents = {};
};

/// Notices whose last try failed: somebody should know, and was not told.
struct Untold {
  int notices = 0;
  std::string fault;  ///< why, of one of them
};
Untold count_untold(const Registry& reg);

FleetCounts count_fleet(const Backend& b, const Identity& who);

}  // namespace tundish::edge::api
