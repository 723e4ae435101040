#include <algorithm>
#include <optional>
#include <set>
#include <tuple>

#include "control/placement/place.hpp"
#include "control/placement/view.hpp"

namespace tundish::control::placement {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

struct Gang {
  int lost = 0;
  std::vector<int> others;  ///< ascending
  Scope limit = Scope::pod;  ///< how far from the lost node a replacement may be
  std::set<int> pods, leaves, domains;  ///< of the others
};

Gang make_gang(const View& view, int lost, std::vector<int> members) {
  Gang gang;
  gang.lost = lost;
  gang.others = std::move(members);
  std::erase(gang.others, lost);
  for (int slot : gang.others) {
    gang.pods.insert(view.place_of(slot, Scope::pod));
    gang.leaves.insert(view.place_of(slot, Scope::leaf));
    gang.domains.insert(view.place_of(slot, Scope::domain));
  }
  return gang;
}

struct Choice {
  int slot = 0;
  Stand stand = Stand::same_pod;
};

/// How much the node adds to the Key of the others. A place that they use is not wholly free,
/// and what is left free there counts against every choice alike, except for the node itself.
Key key_added(const View& view, const Gang& gang, int slot) {
  const int own = view.pool().free[at(slot)] ? 1 : 0;
  const int leaf = view.place_of(slot, Scope::leaf);
  const int domain = view.place_of(slot, Scope::domain);
  Key key{.pods = gang.pods.contains(view.place_of(slot, Scope::pod)) ? 0 : 1,
          .stranded = -own,
          .domain_stranded = -own};
  if (!gang.leaves.contains(leaf)) {
    const Tally& tally = view.leaf(leaf);
    key.leaves = 1;
    key.stranded += tally.free;
    key.broken = own && tally.wholly_free() && tally.free > 1 ? 1 : 0;
  }
  if (!gang.domains.contains(domain)) {
    const Tally& tally = view.domain(domain);
    key.domains = 1;
    key.domain_stranded += tally.free;
    key.domain_broken = own && tally.wholly_free() && tally.free > 1 ? 1 : 0;
  }
  return key;
}

bool named_domain(const View& view, int slot) {
  return !view.pool().domains[at(view.pool().domain_of[at(slot)])].name.empty();
}

Stand stand_of(const View& view, const Gang& gang, int slot) {
  const auto shares = [&](Scope scope) {
    return view.place_of(slot, scope) == view.place_of(gang.lost, scope);
  };
  if (named_domain(view, slot) && shares(Scope::domain)) return Stand::same_domain;
  return shares(Scope::leaf) ? Stand::same_leaf : Stand::same_pod;
}

bool may_stand(const View& view, const Gang& gang, int slot) {
  if (slot == gang.lost) return false;
  if (std::binary_search(gang.others.begin(), gang.others.end(), slot)) return false;
  if (gang.limit == Scope::domain) return stand_of(view, gang, slot) == Stand::same_domain;
  const int pod = view.place_of(slot, Scope::pod);
  return pod == view.place_of(gang.lost, Scope::pod) || gang.pods.contains(pod);
}

/// `candidates` ascending, so that ties keep the lowest id.
std::optional<Choice> find_best(const View& view, const Gang& gang,
                                const std::vector<int>& candidates) {
  std::optional<Choice> best;
  Key best_key;
  for (int slot : candidates) {
    if (!may_stand(view, gang, slot)) continue;
    const Choice choice{slot, stand_of(view, gang, slot)};
    const Key key = key_added(view, gang, slot);
    if (best && std::tie(best_key, best->stand) <= std::tie(key, choice.stand)) continue;
    best = choice;
    best_key = key;
  }
  return best;
}

/// One free slot per domain is enough: the others of the domain differ in id only.
std::vector<int> free_candidates(const View& view, const Gang& gang) {
  std::vector<int> slots;
  for (std::size_t d = 0; d < view.pool().domains.size(); ++d) {
    const int domain = static_cast<int>(d);
    std::vector<int> usable;
    view.append_usable(domain, view.domain(domain).usable, usable);
    for (int slot : usable) {
      if (!may_stand(view, gang, slot)) continue;
      slots.push_back(slot);
      break;
    }
  }
  return slots;
}

std::vector<int> slots_of(const FleetIndex& index, const Pool& pool,
                          const std::vector<std::string>& nodes) {
  std::vector<int> slots;
  for (const std::string& node : nodes) {
    const auto where = index.find_node(node);
    if (where && where->pool == &pool) slots.push_back(where->slot);
  }
  std::sort(slots.begin(), slots.end());
  return slots;
}

Shortfall refuse(const View* view, const Swap& swap, const Request& request) {
  Shortfall shortfall;
  if (!view) {
    shortfall.blocked_by = Blocker::invalid_request;
    shortfall.text = "node " + swap.lost + " is not in the index, so nothing can stand for it";
    return shortfall;
  }
  shortfall.free = view->free();
  shortfall.usable = view->usable();
  const bool segments = request.segment_nodes > 1;
  shortfall.blocked_by = shortfall.free == 0     ? Blocker::capacity
                         : shortfall.usable == 0 ? Blocker::exclusion
                         : segments              ? Blocker::segment
                                                 : Blocker::spares;
  shortfall.text = "no node can stand for " + swap.lost + ": " + std::to_string(shortfall.free) +
                   " of its sku free and healthy, " + std::to_string(shortfall.usable) +
                   " allowed by the request, none of them nor a held spare in " +
                   (segments ? "its NVLink domain" : "the pods of its gang");
  return shortfall;
}

}  // namespace

SwapOutcome pick_replacement(const FleetIndex& index, const Swap& swap, const Request& request) {
  const auto where = index.find_node(swap.lost);
  if (!where) return refuse(nullptr, swap, request);
  const Pool& pool = *where->pool;
  const View view(pool, request);
  Gang gang = make_gang(view, where->slot, slots_of(index, pool, swap.members));
  gang.limit = request.segment_nodes > 1 ? Scope::domain : Scope::pod;
  std::vector<int> spares = slots_of(index, pool, swap.held_spares);
  std::erase_if(spares, [&](int slot) { return excludes(request, pool.slots[at(slot)]); });
  const auto spare = find_best(view, gang, spares);
  const auto best = spare ? spare : find_best(view, gang, free_candidates(view, gang));
  if (!best) return refuse(&view, swap, request);
  return Replacement{pool.slots[at(best->slot)].node, best->stand, spare.has_value()};
}

}  // namespace tundish::control::placement
