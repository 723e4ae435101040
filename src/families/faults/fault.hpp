#pragma once
// Kinds of faults that can be injected: one file each.
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "ports/drivers.hpp"

namespace tundish::families {

/// What a person asks for, with the device it is about.
struct FaultOrder {
  std::string node_name;
  std::string pci;  ///< of the GPU, as the inventory observed it
  int gpu = 0;
  int xid = 0;
  bool sticky = false;
  bool userspace = false;
  std::string text;
};

struct Fault {
  std::string_view name;
  std::string_view doc;
  std::string_view expected_detection;
  std::string_view expected_action;
  Result<Injection> (*render)(const FaultOrder&);
};

/// Sorted by file name.
std::span<const Fault* const> list_faults();
const Fault* find_fault(std::string_view name);

}  // namespace tundish::families
