#include "families/fabrics/fabric_item.hpp"

namespace tundish::fabrics {
#include "families/fabrics/table.inc"

const FabricItem* find_fabric_item(std::string_view name) {
  for (const FabricItem* item : tundish::all_fabric_items()) {
    if (item->name == name) return item;
  }
  return nullptr;
}

}  // namespace tundish::fabrics

namespace tundish {

std::span<const fabrics::FabricItem* const> all_fabric_items() {
  return {fabrics::all_fabrics, std::size(fabrics::all_fabrics) - 1};
}

}  // namespace tundish
