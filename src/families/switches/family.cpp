#include "families/switches/switch_item.hpp"

namespace tundish::switches {
#include "families/switches/table.inc"

const SwitchItem* find_switch_item(std::string_view name) {
  for (const SwitchItem* item : tundish::all_switch_items()) {
    if (item->name == name) return item;
  }
  return nullptr;
}

}  // namespace tundish::switches

namespace tundish {

std::span<const switches::SwitchItem* const> all_switch_items() {
  return {switches::all_switches, std::size(switches::all_switches) - 1};
}

}  // namespace tundish
