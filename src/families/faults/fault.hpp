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
  std::string part;  ///< HCA, interface or storage server; empty: the first one
  int for_s = 0;     ///< 0: as usual for the kind
  int copies = 0;    ///< 0: as usual for the kind
};

struct Fault {
  std::string_view name;
  std::string_view doc;
  std::string_view expected_detection;
  std::string_view expected_action;
  Result<Injection> (*render)(const FaultOrder&);
  std::string_view unavailable = {};  ///< why no lab can break it yet; empty: one can
};

/// What the driver or the kernel prints, and what breaks at that moment: text of --text instead.
/// A line that a user writes breaks nothing.
struct Breakage {
  std::string effect = "none";
  std::string line = {};
};
Injection make_injection(const FaultOrder& order, const Breakage& breakage);
/// As make_injection, or invalid when the GPU is not on record.
Result<Injection> break_gpu(const FaultOrder& order, const Breakage& breakage);
/// What is no line cannot be written by a user: refused.
Result<Injection> break_part(const FaultOrder& order, const Breakage& breakage);

/// Sorted by file name.
std::span<const Fault* const> list_faults();
const Fault* find_fault(std::string_view name);

}  // namespace tundish::families
