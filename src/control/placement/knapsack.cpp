#include "control/placement/knapsack.hpp"

#include <algorithm>

namespace tundish::control::placement {

Knapsack::Knapsack(std::vector<Item> items, Goal largest, Cost group_cost)
    : items_(std::move(items)),
      largest_(largest),
      rooms_(static_cast<std::size_t>(largest.room) + 1) {
  const std::size_t goals = at(largest_.units + 1, 0);
  best_.assign(goals, Cost::impossible());
  best_[0] = Cost{};
  best_open_ = best_;
  choices_.resize(goals * items_.size());
  // From the last item to the first, so that reading the choices forward favours early items.
  for (std::size_t i = items_.size(); i-- > 0;) add(i, group_cost);
}

Cost Knapsack::cheapest(const Item& item, Goal goal, Choice& choice) const {
  Cost found = Cost::impossible();
  for (int units = std::min(item.hi, goal.units); units >= item.lo; --units) {
    for (int room = 0; room <= goal.room; ++room) {
      const Cost own = (*item.costs)[at(units, room)];
      const Cost rest = best_open_[at(goal.units - units, goal.room - room)];
      if (!own.possible()) break;  // more room is no easier
      if (!rest.possible()) continue;
      const Cost sum = own + rest;
      if (!(sum < found)) continue;
      found = sum;
      choice.units = units;
      choice.room = static_cast<std::int16_t>(room);
    }
  }
  return found;
}

void Knapsack::add(std::size_t item, Cost group_cost) {
  const Item& added = items_[item];
  if (item + 1 < items_.size() && items_[item + 1].group != added.group) best_open_ = best_;
  Choice* row = &choices_[item * best_.size()];
  reachable_ += std::min(added.hi, largest_.units);
  // Downwards: a goal reads only smaller ones, which must not have seen this item yet.
  for (int units = std::min(reachable_, largest_.units); units >= added.lo; --units) {
    for (int room = 0; room <= largest_.room; ++room) {
      const std::size_t here = at(units, room);
      const Cost taken = cheapest(added, {units, room}, row[here]);
      if (!taken.possible()) continue;
      if (taken <= best_open_[here]) {
        best_open_[here] = taken;
        row[here].joins = true;
      }
      if (taken + group_cost <= best_[here]) {
        best_[here] = taken + group_cost;
        row[here].opens = true;
      }
    }
  }
}

std::vector<Goal> Knapsack::takes(Goal goal) const {
  std::vector<Goal> result(items_.size());
  bool open = false;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (i > 0 && items_[i].group != items_[i - 1].group) open = false;
    const Choice& choice = choices_[i * best_.size() + at(goal.units, goal.room)];
    if (!(open ? choice.joins : choice.opens)) continue;
    result[i] = {choice.units, choice.room};
    goal.units -= choice.units;
    goal.room -= choice.room;
    open = true;
  }
  return result;
}

}  // namespace tundish::control::placement
