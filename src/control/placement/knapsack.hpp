#pragma once
// The exact core: how many units to take from each of an ordered list of places.
#include <cstdint>
#include <vector>

#include "control/placement/cost.hpp"

namespace tundish::control::placement {

/// What to reach: `units` taken, and `room` nodes left usable in the places taken from.
struct Goal {
  int units = 0;
  int room = 0;
};

/// Costs of taking t units and leaving at least g nodes of room, at [t * (room + 1) + g].
using CostTable = std::vector<Cost>;

/// A place to take nothing or `lo..hi` units from.
struct Item {
  int group = 0;  ///< items of one group are neighbours; using a group costs once
  int lo = 1;
  int hi = 0;
  const CostTable* costs = nullptr;
};

/// Choice-per-item dynamic program, cheapest sum first. Among equals, earlier items give as much
/// as possible. With room = 0 both are exact; with room > 0 the cost is exact and the tie-break
/// deterministic. Time is items * units * hi * room^2.
class Knapsack {
 public:
  /// `largest.units` and `largest.room` bound every later question.
  Knapsack(std::vector<Item> items, Goal largest, Cost group_cost);

  Cost cost(Goal goal) const { return best_[at(goal.units, goal.room)]; }
  /// Units and room per item. Only for a goal whose cost is possible.
  std::vector<Goal> takes(Goal goal) const;

 private:
  struct Choice {
    std::int32_t units = 0;
    std::int16_t room = 0;
    bool opens = false;   ///< take, where the group was not used before
    bool joins = false;   ///< take, where an earlier item of the group is used
  };
  std::size_t at(int units, int room) const {
    return static_cast<std::size_t>(units) * rooms_ + static_cast<std::size_t>(room);
  }
  void add(std::size_t item, Cost group_cost);
  Cost cheapest(const Item& item, Goal goal, Choice& choice) const;

  std::vector<Item> items_;
  Goal largest_;
  std::size_t rooms_;
  int reachable_ = 0;            ///< units that the items added so far can give
  std::vector<Cost> best_;       ///< by goal, group of the next item not used yet
  std::vector<Cost> best_open_;  ///< by goal, group of the next item already paid
  std::vector<Choice> choices_;  ///< [item][goal]
};

}  // namespace tundish::control::placement
