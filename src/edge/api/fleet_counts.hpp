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

FleetCounts count_fleet(const Backend& b, const Identity& who);

}  // namespace tundish::edge::api
