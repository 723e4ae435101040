#include <algorithm>

#include "control/placement/solve.hpp"
#include "control/placement/try_place.hpp"

namespace tundish::control::placement {
namespace {

std::string counted(int count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

/// The largest multiple of the segment, up to the request's count, that fits with these spares.
/// Only sizes that were really placed are reported.
int find_largest(const View& view, Request request, int spares) {
  const int unit = std::max(1, request.segment_nodes);
  request.spares = spares;
  int fits = 0;
  int fails = std::min(request.count, segment_capacity(view, unit)) / unit + 1;
  while (fits + 1 < fails) {
    const int middle = fits + (fails - fits) / 2;
    request.count = middle * unit;
    const auto answer = try_place(view, request);
    (std::holds_alternative<Placement>(answer) ? fits : fails) = middle;
  }
  return fits * unit;
}

int largest_domain(const View& view) {
  int most = 0;
  for (std::size_t i = 0; i < view.pool().domains.size(); ++i) {
    if (view.pool().domains[i].name.empty()) continue;
    most = std::max(most, view.domain(static_cast<int>(i)).usable);
  }
  return most;
}

std::string asked(const Request& request) {
  std::string text = "asked " + counted(request.count, "node");
  if (request.spares > 0) text += " + " + counted(request.spares, "spare");
  text += " of sku " + request.sku;
  if (request.segment_nodes > 1) {
    text += " in segments of " + std::to_string(request.segment_nodes);
  }
  return text;
}

std::string why_invalid(const Request& request) {
  if (request.count <= 0) return "a gang has at least 1 node";
  if (request.segment_nodes > 1 && request.count % request.segment_nodes != 0) {
    return "the count must be a multiple of the segment";
  }
  return "a number is negative or beyond what placement holds";
}

std::string reason(const View& view, const Request& request, const Shortfall& shortfall) {
  std::string text = std::to_string(shortfall.free) + " free and healthy";
  if (shortfall.usable < shortfall.free) {
    text += ", " + std::to_string(shortfall.free - shortfall.usable) +
            " of them excluded by the request";
  }
  if (shortfall.blocked_by == Blocker::segment) {
    text += ", not enough NVLink domains with room for whole segments (the largest has " +
            std::to_string(largest_domain(view)) + ")";
  }
  if (shortfall.blocked_by == Blocker::spares) {
    text += ", the members fit but not their " + counted(request.spares, "spare") + " in " +
            (request.segment_nodes > 1 ? "an NVLink domain of theirs" : "a pod of theirs");
  }
  return text;
}

std::string would_fit(const Shortfall& shortfall) {
  if (shortfall.largest_gang == 0) return "nothing of this shape would fit";
  std::string text = "would fit: " + counted(shortfall.largest_gang, "node");
  if (shortfall.largest_with_spares > 0) {
    text += ", or " + counted(shortfall.largest_with_spares, "node") + " + " +
            counted(shortfall.offered_spares, "spare");
  }
  return text;
}

void add_leaves(const View& view, Shortfall& shortfall) {
  const Pool& pool = view.pool();
  for (std::size_t i = 0; i < pool.leaves.size(); ++i) {
    const Tally& tally = view.leaf(static_cast<int>(i));
    if (tally.free == 0) continue;
    const Leaf& leaf = pool.leaves[i];
    shortfall.leaves.push_back({pool.pods[static_cast<std::size_t>(leaf.pod)].name, leaf.name,
                                tally.free, tally.usable});
  }
}

}  // namespace

Shortfall explain(const View* view, const Request& request, Blocker blocker) {
  Shortfall shortfall;
  shortfall.blocked_by = blocker;
  if (!view) {
    shortfall.text = asked(request) + "; " +
                     (blocker == Blocker::unknown_sku ? std::string("no node has this sku")
                                                      : why_invalid(request));
    return shortfall;
  }
  shortfall.free = view->free();
  shortfall.usable = view->usable();
  shortfall.largest_gang = find_largest(*view, request, 0);
  shortfall.offered_spares = std::max(1, request.spares);
  shortfall.largest_with_spares = find_largest(*view, request, shortfall.offered_spares);
  add_leaves(*view, shortfall);
  shortfall.text =
      asked(request) + ", " + reason(*view, request, shortfall) + "; " + would_fit(shortfall);
  return shortfall;
}

}  // namespace tundish::control::placement
