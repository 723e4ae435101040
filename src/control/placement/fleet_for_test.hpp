#pragma once
// Small fleets for tests, written as free counts.
#include <string>
#include <utility>
#include <vector>

#include "control/placement/fleet.hpp"

namespace tundish::control::placement {

enum class Domains { none, per_leaf };

struct DomainPath {
  std::string pod, leaf, domain;
};

struct DomainSize {
  int free = 0;
  int capacity = 0;
};

/// Nodes are named path/00, path/01 ...; the first `free` of them are free.
inline void add_domain(Fleet& fleet, const DomainPath& path, DomainSize size) {
  const std::string domain = path.domain.empty() ? "" : "/" + path.domain;
  for (int i = 0; i < size.capacity; ++i) {
    Slot slot;
    slot.node = path.pod + "/" + path.leaf + domain + (i < 10 ? "/0" : "/") + std::to_string(i);
    slot.pod = path.pod;
    slot.leaf_group = path.leaf;
    slot.nvlink_domain = path.domain.empty() ? "" : path.leaf + "/" + path.domain;
    slot.sku = "s";
    slot.placeable = i < size.free;
    slot.gpus = 8;
    fleet.slots.push_back(slot);
  }
}

/// Leaf groups "0", "1" ... of every pod, with so many free of `capacity` nodes each.
inline Fleet fleet_of(int capacity,
                      const std::vector<std::pair<std::string, std::vector<int>>>& free,
                      Domains domains = Domains::none) {
  Fleet fleet;
  for (const auto& [pod, leaves] : free) {
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      add_domain(fleet, {pod, std::to_string(i), ""}, {leaves[i], capacity});
    }
  }
  for (Slot& slot : fleet.slots) {
    if (domains == Domains::per_leaf) slot.nvlink_domain = slot.pod + "/" + slot.leaf_group;
  }
  return fleet;
}

}  // namespace tundish::control::placement
