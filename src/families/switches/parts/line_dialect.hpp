#pragma once
// What EOS and NX-OS share: one tree of lines per object, rendered together, changed one by one.
#include <string>
#include <vector>

#include "families/switches/parts/line_tree.hpp"
#include "families/switches/switch_item.hpp"

namespace tundish::switches {

struct LineDialect {
  LineRules rules;
  /// The lines of an object. They may depend on the rest of the state (an AS number).
  LineTree (*vrf)(const VrfState& vrf, const SwitchState& state) = nullptr;
  LineTree (*segment)(const SegmentState& segment, const SwitchState& state) = nullptr;
  LineTree (*acl)(const AclState& acl) = nullptr;
  /// Without the line that shuts it: when that comes and goes is part of the order.
  LineTree (*port)(const SwitchPortState& port) = nullptr;
  /// The gateways' MAC.
  LineTree (*fabric)(const SwitchState& state) = nullptr;
  /// What is declared, not ours: written out so that a whole configuration can be read back.
  LineTree (*declared)(const SwitchState& state) = nullptr;
  /// Place of a top line in the whole configuration.
  int (*rank)(const std::string& line) = nullptr;
};

std::string render_lines(const SwitchState& state, const LineDialect& dialect);
/// Ports leave first, imports and leaks shrink next, then lists, VRFs, segments and ports come,
/// and what nothing refers to any more goes last.
Result<std::vector<SwitchStep>> plan_lines(const SwitchState& from, const SwitchState& to,
                                           const LineDialect& dialect);

/// A number of its own for each prefix of a list: one that comes or goes moves no other.
std::vector<std::pair<int, std::string>> number_prefixes(const std::vector<std::string>& prefixes);
/// The number of the entry that denies the rest. It keeps a list from being empty for a moment: a
/// missing list matches everything.
constexpr int last_prefix_number = 65535;

}  // namespace tundish::switches
