#include <iterator>

#include "families/faults/fault.hpp"

namespace tundish::families {
#include "families/faults/table.inc"

std::span<const Fault* const> list_faults() { return {all_faults, std::size(all_faults) - 1}; }

const Fault* find_fault(std::string_view name) {
  for (const Fault* fault : list_faults()) {
    if (fault->name == name) return fault;
  }
  return nullptr;
}

}  // namespace tundish::families
