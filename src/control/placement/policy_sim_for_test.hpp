#pragma once
// The loss simulation of facts/cloud.md 7.4: 40 NVLink domains of 18 trays, gangs in one domain,
// rejected gangs are lost. Shared by the unit test and the bench.
#include <array>
#include <queue>
#include <string>
#include <vector>

#include "base/check.hpp"
#include "control/placement/draw_for_test.hpp"
#include "control/placement/fleet_for_test.hpp"
#include "control/placement/place.hpp"

namespace tundish::control::placement {

enum class Policy { best_fit, most_free, random, first_fit };

struct PolicyRun {
  Policy policy = Policy::best_fit;
  double load = 0;  ///< offered trays over all trays
  int arrivals = 0;
  std::uint64_t seed = 1;
};

class PolicySimulation {
 public:
  explicit PolicySimulation(const PolicyRun& run)
      : run_(run),
        draw_(run.seed),
        pick_(run.seed + 1000),
        index_(*FleetIndex::create(fleet_of(trays, {{"p", std::vector<int>(domains, trays)}},
                                            Domains::per_leaf))) {}

  /// Accepted trays over asked trays.
  double accepted() {
    // Mean size 5.9 and mean duration 1 make this the arrival rate of the load.
    const double rate = run_.load * domains * trays / 5.9;
    long asked = 0;
    long got = 0;
    double now = 0;
    for (int i = 0; i < run_.arrivals; ++i) {
      now += draw_.exponential(1 / rate);
      const int size = draw_size();
      const double end = now + draw_.exponential(1);
      release(now);
      asked += size;
      if (admit(size, end)) got += size;
    }
    return static_cast<double>(got) / static_cast<double>(asked);
  }

 private:
  static constexpr int domains = 40;
  static constexpr int trays = 18;
  struct Lease {
    double end = 0;
    std::vector<std::string> nodes;
    bool operator<(const Lease& other) const { return end > other.end; }
  };

  int draw_size() {
    constexpr std::array<std::array<int, 2>, 6> sizes{
        {{1, 30}, {2, 15}, {4, 20}, {8, 15}, {16, 15}, {18, 5}}};
    int ticket = draw_.below(100);
    for (const auto& [size, percent] : sizes) {
      if (ticket < percent) return size;
      ticket -= percent;
    }
    return trays;
  }

  void release(double now) {
    while (!leases_.empty() && leases_.top().end <= now) {
      for (const auto& node : leases_.top().nodes) {
        check(index_.mark_free(node).has_value(), "ours");
      }
      leases_.pop();
    }
  }

  bool admit(int size, double end) {
    Request request{.sku = "s", .count = size, .segment_nodes = size};
    if (run_.policy != Policy::best_fit) {
      const int leaf = choose_leaf(size);
      if (leaf < 0) return false;
      const Pool& pool = *index_.find_pool("s");
      request.pinned_leaf_group = pool.leaves[static_cast<std::size_t>(leaf)].name;
    }
    const Outcome outcome = place(index_, request);
    const auto* placement = std::get_if<Placement>(&outcome);
    if (!placement) return false;
    for (const auto& node : placement->members) check(index_.mark_busy(node).has_value(), "ours");
    leases_.push({end, placement->members});
    return true;
  }

  /// The peers' rules; -1 when no domain has room.
  int choose_leaf(int size) {
    const auto& tallies = index_.find_pool("s")->leaf_tally;
    std::vector<int> fitting;
    int fullest = -1;
    for (int i = 0; i < domains; ++i) {
      const int free = tallies[static_cast<std::size_t>(i)].free;
      if (free < size) continue;
      fitting.push_back(i);
      if (fullest < 0 || free > tallies[static_cast<std::size_t>(fullest)].free) fullest = i;
    }
    if (fitting.empty()) return -1;
    if (run_.policy == Policy::most_free) return fullest;
    if (run_.policy == Policy::first_fit) return fitting.front();
    return fitting[static_cast<std::size_t>(pick_.below(static_cast<int>(fitting.size())))];
  }

  PolicyRun run_;
  Draw draw_;
  Draw pick_;
  FleetIndex index_;
  std::priority_queue<Lease> leases_;
};

}  // namespace tundish::control::placement
