#include "control/placement/view.hpp"

#include <set>

#include "base/check.hpp"

namespace tundish::control::placement {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

bool excludes_any(const Request& request) {
  return !request.excluded_nodes.empty() || !request.excluded_racks.empty() ||
         !request.excluded_leaf_groups.empty() || !request.pinned_leaf_group.empty();
}

}  // namespace

bool excludes(const Request& request, const Slot& slot) {
  return request.excluded_nodes.contains(slot.node) || request.excluded_racks.contains(slot.rack) ||
         request.excluded_leaf_groups.contains(slot.leaf_group) ||
         (!request.pinned_leaf_group.empty() && request.pinned_leaf_group != slot.leaf_group);
}

View::View(const Pool& pool)
    : pool_(&pool), usable_(pool.free), leaves_(pool.leaf_tally), domains_(pool.domain_tally) {}

View::View(const Pool& pool, const Request& request) : View(pool) {
  if (!excludes_any(request)) return;
  for (std::size_t i = 0; i < pool.slots.size(); ++i) {
    if (pool.free[i] && excludes(request, pool.slots[i])) block(static_cast<int>(i));
  }
}

int View::usable() const {
  int sum = 0;
  for (const Tally& leaf : leaves_) sum += leaf.usable;
  return sum;
}

int View::free() const {
  int sum = 0;
  for (const Tally& leaf : leaves_) sum += leaf.free;
  return sum;
}

void View::block(int slot) {
  if (!usable_[at(slot)]) return;
  usable_[at(slot)] = 0;
  const std::size_t domain = at(pool_->domain_of[at(slot)]);
  if (domains_[domain].usable == 0) return;  // the whole domain was blocked before
  --domains_[domain].usable;
  --leaves_[at(pool_->domains[domain].leaf)].usable;
}

void View::take(const std::vector<int>& slots) {
  for (int slot : slots) {
    block(slot);
    const std::size_t domain = at(pool_->domain_of[at(slot)]);
    for (Tally* tally : {&domains_[domain], &leaves_[at(pool_->domains[domain].leaf)]}) {
      --tally->free;
      if (pool_->slots[at(slot)].counts_as_capacity) ++tally->busy;
    }
  }
}

int View::place_of(int slot, Scope scope) const {
  const int domain = pool_->domain_of[at(slot)];
  const int leaf = pool_->domains[at(domain)].leaf;
  switch (scope) {
    case Scope::domain: return domain;
    case Scope::leaf: return leaf;
    case Scope::pod: return pool_->leaves[at(leaf)].pod;
  }
  return domain;
}

void View::block_all(int domain) {
  Tally& tally = domains_[at(domain)];
  leaves_[at(pool_->domains[at(domain)].leaf)].usable -= tally.usable;
  tally.usable = 0;
}

void View::restrict_to(Scope scope, const std::vector<int>& slots) {
  std::set<int> kept;
  for (int slot : slots) kept.insert(place_of(slot, scope));
  for (std::size_t i = 0; i < domains_.size(); ++i) {
    const Domain& domain = pool_->domains[i];
    const bool nameless = scope == Scope::domain && domain.name.empty();
    if (nameless || !kept.contains(place_of(domain.slot_begin, scope))) {
      block_all(static_cast<int>(i));
    }
  }
}

void View::append_usable(int domain, int count, std::vector<int>& slots) const {
  const Domain& range = pool_->domains[at(domain)];
  for (int slot = range.slot_begin; slot < range.slot_end && count > 0; ++slot) {
    if (!usable_[at(slot)]) continue;
    slots.push_back(slot);
    --count;
  }
  check(count == 0, "a domain's tally counts its usable slots");
}

}  // namespace tundish::control::placement
