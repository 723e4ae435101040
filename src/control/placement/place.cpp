#include "control/placement/place.hpp"

#include <algorithm>

#include "control/placement/solve.hpp"
#include "control/placement/try_place.hpp"

namespace tundish::control::placement {
namespace {

/// A room bound keeps counts inside Knapsack's fields and a typing error out of the search.
constexpr int max_spares = 1024;

int unit_of(const Request& request) { return std::max(1, request.segment_nodes); }

bool valid(const Request& request) {
  return request.count > 0 && request.count <= max_nodes && request.spares >= 0 &&
         request.spares <= max_spares && request.segment_nodes >= 0 &&
         request.count % unit_of(request) == 0;
}

struct StandIn {
  int slot = 0;
  Stand stand = Stand::same_pod;
};

/// As many spares as can stand with the members, closest first.
std::vector<StandIn> stand_spares(View rest, const std::vector<int>& members,
                                  const Request& request) {
  rest.take(members);
  std::vector<StandIn> spares;
  const std::pair<Scope, Stand> ladder[] = {{Scope::domain, Stand::same_domain},
                                            {Scope::leaf, Stand::same_leaf},
                                            {Scope::pod, Stand::same_pod}};
  for (const auto& [scope, stand] : ladder) {
    View near = rest;
    near.restrict_to(scope, members);
    const int nodes = std::min(request.spares - static_cast<int>(spares.size()), near.usable());
    if (nodes > 0) {
      const auto found = solve(near, {.nodes = nodes});
      for (int slot : found->slots) spares.push_back({slot, stand});
      rest.take(found->slots);
    }
    if (unit_of(request) > 1) break;  // elsewhere a spare could not join any segment
  }
  return spares;
}

Placement make_placement(const View& view, const Solution& gang,
                         const std::vector<StandIn>& spares) {
  Placement placement;
  placement.key = gang.key;
  for (int index : gang.slots) {
    const Slot& slot = view.pool().slots[static_cast<std::size_t>(index)];
    placement.members.push_back(slot.node);
    placement.gpus += slot.gpus;
  }
  for (const StandIn& spare : spares) {
    const Slot& slot = view.pool().slots[static_cast<std::size_t>(spare.slot)];
    placement.spares.push_back({slot.node, spare.stand});
  }
  return placement;
}

Blocker blocker_of(const View& view, const Request& request) {
  if (view.free() < request.count) return Blocker::capacity;
  if (view.usable() < request.count) return Blocker::exclusion;
  return Blocker::segment;
}

}  // namespace

std::variant<Placement, Blocker> try_place(const View& view, const Request& request) {
  const int segment = unit_of(request);
  if (segment_capacity(view, segment) < request.count) return blocker_of(view, request);
  // The gang alone first: cheaper, and when the spares fit beside it, the same answer.
  for (int room : {0, request.spares}) {
    const auto gang = solve(view, {request.count, segment, room});
    if (!gang) break;
    const auto spares = request.spares > 0 ? stand_spares(view, gang->slots, request)
                                           : std::vector<StandIn>{};
    if (static_cast<int>(spares.size()) == request.spares) {
      return make_placement(view, *gang, spares);
    }
  }
  return Blocker::spares;
}

Outcome place(const FleetIndex& index, const Request& request) {
  if (!valid(request)) return explain(nullptr, request, Blocker::invalid_request);
  const Pool* pool = index.find_pool(request.sku);
  if (!pool) return explain(nullptr, request, Blocker::unknown_sku);
  const View view(*pool, request);
  auto answer = try_place(view, request);
  if (auto* placement = std::get_if<Placement>(&answer)) return std::move(*placement);
  return explain(&view, request, std::get<Blocker>(answer));
}

}  // namespace tundish::control::placement
