// Placement at 10,000 nodes, and the policy table of facts/cloud.md 7.4.
// Aim (design 9): >= 1,000 gangs/s, p99 <= 10 ms; best-fit >= 99 % of trays at load 0.70.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <deque>

#include "control/placement/policy_sim_for_test.hpp"

using namespace tundish::control::placement;

namespace {

struct Layout {
  const char* title;
  int pods, leaves, domains, nodes;  ///< pods; leaves per pod; domains per leaf; nodes per domain
  int segment;                       ///< of gangs that are a multiple of it
};

Fleet make_fleet(const Layout& layout) {
  Fleet fleet;
  for (int p = 0; p < layout.pods; ++p) {
    for (int l = 0; l < layout.leaves; ++l) {
      for (int d = 0; d < layout.domains; ++d) {
        const std::string domain = layout.domains > 1 ? "d" + std::to_string(100 + d) : "";
        add_domain(fleet, {"p" + std::to_string(100 + p), "l" + std::to_string(1000 + l), domain},
                   {layout.nodes, layout.nodes});
      }
    }
  }
  return fleet;
}

/// Mostly small gangs, one in a hundred of 512 nodes.
int draw_size(Draw& draw) {
  constexpr int sizes[] = {1, 1, 2, 2, 4, 4, 8, 8, 16, 16, 32, 64, 128};
  if (draw.below(100) == 0) return 512;
  return sizes[draw.below(static_cast<int>(std::size(sizes)))];
}

struct Times {
  std::vector<double> placed_ms, refused_ms;
};

double quantile(std::vector<double>& values, double part) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(part * static_cast<double>(values.size() - 1))];
}

/// Gangs come and go around 85 % use, so that free counts are as ragged as in service. A place
/// call and its marks are timed together.
Times run_churn(const Layout& layout, int rounds, int spares) {
  const Fleet fleet = make_fleet(layout);
  auto index = *FleetIndex::create(fleet);
  Draw draw(42);
  std::deque<std::vector<std::string>> running;
  const int high = static_cast<int>(fleet.slots.size()) * 85 / 100;
  int used = 0;
  Times times;
  for (int i = 0; i < rounds;) {
    Request request{.sku = "s", .count = draw_size(draw), .spares = spares};
    if (request.count % layout.segment == 0) request.segment_nodes = layout.segment;
    while (used + request.count > high) {
      std::swap(running[static_cast<std::size_t>(draw.below(static_cast<int>(running.size())))],
                running.front());
      for (const auto& node : running.front()) (void)index.mark_free(node);
      used -= static_cast<int>(running.front().size());
      running.pop_front();
    }
    const auto start = std::chrono::steady_clock::now();
    const Outcome outcome = place(index, request);
    const auto* placement = std::get_if<Placement>(&outcome);
    if (placement) {
      for (const auto& node : placement->members) (void)index.mark_busy(node);
    }
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    (placement ? times.placed_ms : times.refused_ms).push_back(took.count());
    ++i;
    if (!placement) continue;
    used += request.count;
    running.push_back(placement->members);
  }
  return times;
}

void print_churn(const Layout& layout, int rounds, int spares) {
  Times times = run_churn(layout, rounds, spares);
  double sum = 0;
  for (double ms : times.placed_ms) sum += ms;
  const double count = static_cast<double>(times.placed_ms.size());
  std::printf(
      "%-42s spares %d: %7.0f gangs/s  p50 %.3f  p99 %.3f  max %.3f ms; "
      "refused %zu p99 %.2f ms\n",
      layout.title, spares, 1000 * count / sum, quantile(times.placed_ms, 0.5),
      quantile(times.placed_ms, 0.99), quantile(times.placed_ms, 1), times.refused_ms.size(),
      quantile(times.refused_ms, 0.99));
}

/// One large gang in an otherwise ragged fleet, where no single pod holds it.
void print_large(int nodes) {
  Fleet fleet = make_fleet({"", 10, 31, 1, 32, 1});
  Draw draw(7);
  for (Slot& slot : fleet.slots) slot.placeable = draw.below(100) < 90;
  const auto index = *FleetIndex::create(fleet);
  const auto start = std::chrono::steady_clock::now();
  const Outcome outcome = place(index, {.sku = "s", .count = nodes});
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  std::printf("one gang of %d over several pods: %s in %.1f ms\n", nodes,
              std::holds_alternative<Placement>(outcome) ? "placed" : "refused", took.count());
}

void print_policies() {
  std::printf("accepted trays %%, 3 seeds x 60k arrivals (facts/cloud.md 7.4)\n");
  std::printf("load   most-free  random  first-fit  best-fit\n");
  for (double load : {0.70, 0.85, 1.00}) {
    std::printf("%.2f ", load);
    for (Policy policy : {Policy::most_free, Policy::random, Policy::first_fit, Policy::best_fit}) {
      double sum = 0;
      for (std::uint64_t seed : {1u, 2u, 3u}) {
        sum += PolicySimulation({policy, load, 60000, seed}).accepted();
      }
      std::printf("  %8.1f", 100 * sum / 3);
    }
    std::printf("\n");
  }
}

}  // namespace

int main() {
  const Layout hgx{"HGX, 10 pods x 31 leaves x 32 = 9,920", 10, 31, 1, 32, 1};
  const Layout one_pod{"HGX, 1 pod x 313 leaves x 32 = 10,016", 1, 313, 1, 32, 1};
  const Layout nvl72{"NVL72, 10 pods x 7 leaves x 8 racks x 18", 10, 7, 8, 18, 16};
  for (const Layout& layout : {hgx, one_pod, nvl72}) {
    print_churn(layout, 5000, 0);
    print_churn(layout, 5000, 2);
  }
  for (int nodes : {1500, 5000}) print_large(nodes);
  print_policies();
}
