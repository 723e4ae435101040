#include "control/placement/fleet.hpp"

#include <algorithm>
#include <tuple>

#include "control/placement/cost.hpp"

namespace tundish::control::placement {
namespace {

auto place_of(const Slot& slot) {
  return std::tie(slot.sku, slot.pod, slot.leaf_group, slot.nvlink_domain, slot.node);
}

bool same_domain(const Slot& a, const Slot& b) {
  return a.sku == b.sku && a.pod == b.pod && a.leaf_group == b.leaf_group &&
         a.nvlink_domain == b.nvlink_domain;
}

/// An 8-GPU node is often listed as its own NVLink domain. A domain of one node can hold no
/// segment, so it is the same as none, and far fewer domains keep the search small.
void drop_single_domains(std::vector<Slot>& slots) {
  for (std::size_t i = 0; i < slots.size();) {
    std::size_t end = i + 1;
    while (end < slots.size() && same_domain(slots[i], slots[end])) ++end;
    if (end == i + 1) slots[i].nvlink_domain.clear();
    i = end;
  }
  std::sort(slots.begin(), slots.end(),
            [](const Slot& a, const Slot& b) { return place_of(a) < place_of(b); });
}

void count(Tally& tally, const Slot& slot) {
  if (slot.placeable) {
    ++tally.free;
    ++tally.usable;
  } else if (slot.counts_as_capacity) {
    ++tally.busy;
  }
}

/// Appends a slot that is not smaller than all before it.
void append(Pool& pool, Slot slot) {
  const Slot* last = pool.slots.empty() ? nullptr : &pool.slots.back();
  const bool new_pod = !last || last->pod != slot.pod;
  const bool new_leaf = new_pod || last->leaf_group != slot.leaf_group;
  const bool new_domain = new_leaf || last->nvlink_domain != slot.nvlink_domain;
  const int slots = static_cast<int>(pool.slots.size());
  const int domains = static_cast<int>(pool.domains.size());
  const int leaves = static_cast<int>(pool.leaves.size());
  if (new_pod) pool.pods.push_back({slot.pod, leaves, leaves});
  if (new_leaf) {
    const int pod = static_cast<int>(pool.pods.size()) - 1;
    pool.leaves.push_back({slot.leaf_group, pod, domains, domains});
    pool.leaf_tally.emplace_back();
    ++pool.pods.back().leaf_end;
  }
  if (new_domain) {
    const int leaf = static_cast<int>(pool.leaves.size()) - 1;
    pool.domains.push_back({slot.nvlink_domain, leaf, slots, slots});
    pool.domain_tally.emplace_back();
    ++pool.leaves.back().domain_end;
  }
  ++pool.domains.back().slot_end;
  count(pool.leaf_tally.back(), slot);
  count(pool.domain_tally.back(), slot);
  pool.free.push_back(slot.placeable ? 1 : 0);
  pool.domain_of.push_back(static_cast<int>(pool.domains.size()) - 1);
  pool.slots.push_back(std::move(slot));
}

void move_one(Tally& tally, const Slot& slot, int change) {
  tally.free += change;
  tally.usable += change;
  if (slot.counts_as_capacity) tally.busy -= change;
}

}  // namespace

Result<FleetIndex> FleetIndex::create(Fleet fleet) {
  if (fleet.slots.size() > static_cast<std::size_t>(max_nodes)) {
    return make_error(Code::unsupported, "placement holds at most " + std::to_string(max_nodes) +
                                             " nodes, got " + std::to_string(fleet.slots.size()));
  }
  std::sort(fleet.slots.begin(), fleet.slots.end(),
            [](const Slot& a, const Slot& b) { return place_of(a) < place_of(b); });
  drop_single_domains(fleet.slots);
  FleetIndex index;
  for (Slot& slot : fleet.slots) {
    if (slot.node.empty()) return make_error(Code::invalid, "a slot has no node id");
    const auto [sku, new_sku] =
        index.pool_by_sku_.try_emplace(slot.sku, static_cast<int>(index.pools_.size()));
    if (new_sku) index.pools_.emplace_back();
    Pool& pool = index.pools_[static_cast<std::size_t>(sku->second)];
    const Entry entry{sku->second, static_cast<int>(pool.slots.size())};
    if (!index.entry_by_node_.try_emplace(slot.node, entry).second) {
      return make_error(Code::invalid, "node " + slot.node + " is listed twice");
    }
    append(pool, std::move(slot));
  }
  return index;
}

const FleetIndex::Entry* FleetIndex::find_entry(std::string_view node) const {
  const auto found = entry_by_node_.find(node);
  return found == entry_by_node_.end() ? nullptr : &found->second;
}

Result<void> FleetIndex::set_free(std::string_view node, char free) {
  const Entry* entry = find_entry(node);
  if (!entry) {
    return make_error(Code::not_found, "node " + std::string(node) + " is not in the index");
  }
  Pool& pool = pools_[static_cast<std::size_t>(entry->pool)];
  const auto slot = static_cast<std::size_t>(entry->slot);
  if (pool.free[slot] == free) return {};
  pool.free[slot] = free;
  pool.slots[slot].placeable = free != 0;
  const auto domain = static_cast<std::size_t>(pool.domain_of[slot]);
  const auto leaf = static_cast<std::size_t>(pool.domains[domain].leaf);
  const int change = free ? 1 : -1;
  move_one(pool.domain_tally[domain], pool.slots[slot], change);
  move_one(pool.leaf_tally[leaf], pool.slots[slot], change);
  return {};
}

Result<void> FleetIndex::mark_free(std::string_view node) { return set_free(node, 1); }
Result<void> FleetIndex::mark_busy(std::string_view node) { return set_free(node, 0); }

const Pool* FleetIndex::find_pool(std::string_view sku) const {
  const auto found = pool_by_sku_.find(sku);
  return found == pool_by_sku_.end() ? nullptr : &pools_[static_cast<std::size_t>(found->second)];
}

std::optional<FleetIndex::Where> FleetIndex::find_node(std::string_view node) const {
  const Entry* entry = find_entry(node);
  if (!entry) return std::nullopt;
  return Where{&pools_[static_cast<std::size_t>(entry->pool)], entry->slot};
}

}  // namespace tundish::control::placement
