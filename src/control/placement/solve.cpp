#include "control/placement/solve.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "control/placement/knapsack.hpp"

namespace tundish::control::placement {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

/// One leaf group that can give at least one unit (segment, or node without segments).
struct Candidate {
  int leaf = 0;
  int units = 0;
  int shape = 0;  ///< equal for leaves that cost the same whatever is taken
};

/// Units of the smallest number of leaves of a pod that reach the target, and what they tell
/// about every best answer. With k leaves at least, the k largest hold `surplus` units too many;
/// a leaf used for t units gives up max(units, kth) - t of them, so t has a lower bound.
/// The default tells nothing.
struct Fewest {
  int leaves = std::numeric_limits<int>::max();
  int surplus = std::numeric_limits<int>::max();
  int kth_units = 0;
};

Fewest find_fewest(const std::vector<Candidate>& candidates, int target) {
  std::vector<int> units;
  units.reserve(candidates.size());
  for (const Candidate& candidate : candidates) units.push_back(candidate.units);
  std::sort(units.rbegin(), units.rend());
  int sum = 0;
  for (std::size_t k = 0; k < units.size(); ++k) {
    sum += units[k];
    if (sum >= target) return {static_cast<int>(k) + 1, sum - target, units[k]};
  }
  return {};
}

class Solver {
 public:
  Solver(const View& view, const Demand& demand)
      : view_(view),
        segment_(demand.segment_nodes),
        goal_{demand.nodes / segment_, segment_ > 1 ? demand.room : 0},
        pod_room_(segment_ > 1 ? 0 : demand.room) {}

  std::optional<Solution> run();

 private:
  struct Shape {
    std::vector<int> signature;
    CostTable costs;
    int filled = 0;  ///< costs are known up to this many units
  };
  struct Found {
    Cost cost = Cost::impossible();
    std::vector<Candidate> candidates;
    std::vector<Goal> takes;
  };

  int units_of(const Tally& tally) const { return tally.usable / segment_; }
  int units_of_domain(int domain) const;
  std::vector<Candidate> candidates_of(const Pod& pod) const;
  int shape_of(int leaf);
  const CostTable& costs_of(const Candidate& candidate);
  CostTable domain_costs(const Tally& tally, int most) const;
  std::vector<CostTable> tables_of(int leaf, int most, std::vector<Item>& items) const;
  Knapsack inside(int leaf, int most) const;
  std::vector<Candidate> distinct(std::vector<Candidate> candidates, int most_alike);
  void try_pods(std::vector<Candidate> candidates, const Fewest& bounds, Found& best);
  bool perfect(const Found& found) const;
  Solution pick(const Found& found) const;

  const View& view_;
  int segment_;
  Goal goal_;
  int pod_room_;
  std::vector<Shape> shapes_;
  std::map<std::vector<int>, int> shape_by_signature_;
};

/// Nodes outside any NVLink domain cannot form a segment.
int Solver::units_of_domain(int domain) const {
  if (segment_ > 1 && view_.pool().domains[at(domain)].name.empty()) return 0;
  return units_of(view_.domain(domain));
}

std::vector<Candidate> Solver::candidates_of(const Pod& pod) const {
  std::vector<Candidate> result;
  for (int i = pod.leaf_begin; i < pod.leaf_end; ++i) {
    if (view_.leaf(i).usable < segment_) continue;
    const Leaf& leaf = view_.pool().leaves[at(i)];
    int units = segment_ > 1 ? 0 : view_.leaf(i).usable;
    for (int d = leaf.domain_begin; segment_ > 1 && d < leaf.domain_end; ++d) {
      units += units_of_domain(d);
    }
    if (units > 0) result.push_back({i, units, 0});
  }
  return result;
}

/// Leaves are alike when they have the same numbers, whatever the order of their domains.
int Solver::shape_of(int index) {
  const Leaf& leaf = view_.pool().leaves[at(index)];
  std::vector<std::vector<int>> domains;
  for (int d = leaf.domain_begin; d < leaf.domain_end; ++d) {
    const Tally& tally = view_.domain(d);
    if (units_of_domain(d) == 0) continue;
    domains.push_back({units_of_domain(d), tally.free, tally.wholly_free() ? 1 : 0,
                       goal_.room > 0 ? tally.usable : 0});
  }
  std::sort(domains.begin(), domains.end());
  const Tally& tally = view_.leaf(index);
  std::vector<int> signature{tally.free, tally.wholly_free() ? 1 : 0};
  for (const auto& domain : domains) {
    signature.insert(signature.end(), domain.begin(), domain.end());
  }
  const auto [found, added] =
      shape_by_signature_.try_emplace(std::move(signature), static_cast<int>(shapes_.size()));
  if (added) shapes_.emplace_back();
  return found->second;
}

CostTable Solver::domain_costs(const Tally& tally, int most) const {
  const int rooms = goal_.room + 1;
  CostTable costs(at((most + 1) * rooms), Cost::impossible());
  for (int units = 1; units <= most; ++units) {
    const int left = tally.free - units * segment_;
    const Key key{.domains = 1,
                  .domain_stranded = left,
                  .domain_broken = tally.wholly_free() && left > 0 ? 1 : 0};
    const int room = std::min(goal_.room, tally.usable - units * segment_);
    for (int g = 0; g <= room; ++g) costs[at(units * rooms + g)] = Cost(key);
  }
  return costs;
}

/// Items point into the returned tables: the vector may be moved, not copied.
std::vector<CostTable> Solver::tables_of(int index, int most, std::vector<Item>& items) const {
  const Leaf& leaf = view_.pool().leaves[at(index)];
  std::vector<CostTable> tables;
  tables.reserve(at(leaf.domain_end - leaf.domain_begin));
  for (int d = leaf.domain_begin; d < leaf.domain_end; ++d) {
    const int units = std::min(most, units_of_domain(d));
    tables.push_back(domain_costs(view_.domain(d), units));
    items.push_back({.group = 0, .hi = units, .costs = &tables.back()});
  }
  return tables;
}

Knapsack Solver::inside(int leaf, int most) const {
  std::vector<Item> items;
  const std::vector<CostTable> tables = tables_of(leaf, most, items);
  return Knapsack(std::move(items), {most, goal_.room}, Cost{});
}

const CostTable& Solver::costs_of(const Candidate& candidate) {
  Shape& shape = shapes_[at(candidate.shape)];
  const int most = std::min(candidate.units, goal_.units);
  if (shape.filled >= most) return shape.costs;
  const Leaf& leaf = view_.pool().leaves[at(candidate.leaf)];
  const Tally& tally = view_.leaf(candidate.leaf);
  if (leaf.domain_end - leaf.domain_begin == 1) {
    shape.costs = domain_costs(view_.domain(leaf.domain_begin), most);
  } else {
    const Knapsack domains = inside(candidate.leaf, most);
    shape.costs.assign(at((most + 1) * (goal_.room + 1)), Cost::impossible());
    for (int units = 1; units <= most; ++units) {
      for (int g = 0; g <= goal_.room; ++g) {
        shape.costs[at(units * (goal_.room + 1) + g)] = domains.cost({units, g});
      }
    }
  }
  for (int units = 1; units <= most; ++units) {
    const int left = tally.free - units * segment_;
    const Cost own(Key{.leaves = 1,
                       .stranded = left,
                       .broken = tally.wholly_free() && left > 0 ? 1 : 0});
    for (int g = 0; g <= goal_.room; ++g) {
      Cost& cost = shape.costs[at(units * (goal_.room + 1) + g)];
      if (cost.possible()) cost = cost + own;
    }
  }
  shape.filled = most;
  return shape.costs;
}

/// Of leaves that are alike, a best answer that uses m of them can use the first m of each pod.
std::vector<Candidate> Solver::distinct(std::vector<Candidate> candidates, int most_alike) {
  std::map<std::pair<int, int>, int> seen;
  std::vector<Candidate> result;
  for (Candidate& candidate : candidates) {
    candidate.shape = shape_of(candidate.leaf);
    const int pod = view_.pool().leaves[at(candidate.leaf)].pod;
    if (++seen[{pod, candidate.shape}] <= most_alike) result.push_back(candidate);
  }
  return result;
}

void Solver::try_pods(std::vector<Candidate> candidates, const Fewest& bounds, Found& best) {
  candidates = distinct(std::move(candidates), std::min(goal_.units, bounds.leaves));
  std::vector<Item> items;
  for (const Candidate& candidate : candidates) {
    const int least = std::max(candidate.units, bounds.kth_units) - bounds.surplus;
    items.push_back({.group = view_.pool().leaves[at(candidate.leaf)].pod,
                     .lo = std::max(1, least),
                     .hi = std::min(candidate.units, goal_.units),
                     .costs = nullptr});
  }
  for (std::size_t i = 0; i < items.size(); ++i) items[i].costs = &costs_of(candidates[i]);
  const Knapsack knapsack(std::move(items), goal_, Cost(Key{.pods = 1}));
  if (!(knapsack.cost(goal_) < best.cost)) return;
  best = {knapsack.cost(goal_), std::move(candidates), knapsack.takes(goal_)};
}

/// Nothing can beat an answer that strands nothing in leaves of one domain each; its number of
/// leaves was the fewest before the search began.
bool Solver::perfect(const Found& found) const {
  if (!found.cost.possible() || goal_.room > 0) return false;
  const Key key = found.cost.key();
  return key.stranded == 0 && key.domains == key.leaves && key.domain_stranded == 0;
}

Solution Solver::pick(const Found& found) const {
  Solution solution{found.cost.key(), {}};
  for (std::size_t i = 0; i < found.candidates.size(); ++i) {
    const Goal take = found.takes[i];
    if (take.units == 0) continue;
    const int index = found.candidates[i].leaf;
    const Leaf& leaf = view_.pool().leaves[at(index)];
    if (leaf.domain_end - leaf.domain_begin == 1) {
      view_.append_usable(leaf.domain_begin, take.units * segment_, solution.slots);
      continue;
    }
    const std::vector<Goal> takes = inside(index, take.units).takes(take);
    for (std::size_t d = 0; d < takes.size(); ++d) {
      view_.append_usable(leaf.domain_begin + static_cast<int>(d), takes[d].units * segment_,
                          solution.slots);
    }
  }
  return solution;
}

std::optional<Solution> Solver::run() {
  std::vector<std::vector<Candidate>> single;
  std::vector<Fewest> bounds;
  std::vector<Candidate> all;
  int fewest = std::numeric_limits<int>::max();
  for (const Pod& pod : view_.pool().pods) {
    std::vector<Candidate> candidates = candidates_of(pod);
    all.insert(all.end(), candidates.begin(), candidates.end());
    int units = 0;
    for (const Candidate& candidate : candidates) units += candidate.units;
    if (units < goal_.units + pod_room_) continue;
    bounds.push_back(find_fewest(candidates, goal_.units));
    fewest = std::min(fewest, bounds.back().leaves);
    single.push_back(std::move(candidates));
  }
  Found best;
  for (std::size_t i = 0; i < single.size() && !perfect(best); ++i) {
    if (goal_.room > 0) {
      try_pods(std::move(single[i]), Fewest{}, best);  // room may need more leaves
    } else if (bounds[i].leaves == fewest) {
      try_pods(std::move(single[i]), bounds[i], best);
    }
  }
  if (!best.cost.possible() && pod_room_ == 0) try_pods(std::move(all), Fewest{}, best);
  if (!best.cost.possible()) return std::nullopt;
  return pick(best);
}

}  // namespace

std::optional<Solution> solve(const View& view, const Demand& demand) {
  return Solver(view, demand).run();
}

int segment_capacity(const View& view, int segment_nodes) {
  int nodes = 0;
  for (std::size_t i = 0; i < view.pool().domains.size(); ++i) {
    if (segment_nodes > 1 && view.pool().domains[i].name.empty()) continue;
    nodes += view.domain(static_cast<int>(i)).usable / segment_nodes * segment_nodes;
  }
  return nodes;
}

}  // namespace tundish::control::placement
