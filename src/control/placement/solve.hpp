#pragma once
// The best set of slots for a gang in a view. Exact for the objective in Key.
#include <optional>
#include <vector>

#include "control/placement/view.hpp"

namespace tundish::control::placement {

struct Demand {
  int nodes = 0;
  int segment_nodes = 1;  ///< divides `nodes`
  int room = 0;           ///< usable nodes to leave for spares
};

struct Solution {
  Key key;
  std::vector<int> slots;  ///< ascending
};

/// Room is left in the NVLink domains used when segments are asked (segment_nodes > 1), else in
/// the one pod used; without segments a gang with room never spreads over pods.
std::optional<Solution> solve(const View& view, const Demand& demand);

/// Nodes that whole segments could take.
int segment_capacity(const View& view, int segment_nodes);

}  // namespace tundish::control::placement
