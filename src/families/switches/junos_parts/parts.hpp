#pragma once
// Junos: a configuration as statements, the statements of each object, and what they say.
#include <string>
#include <string_view>
#include <vector>

#include "families/switches/switch_item.hpp"

namespace tundish::switches::juniper {

/// The words of one `set` line behind `set`.
using Statement = std::vector<std::string>;

struct Statements {
  std::vector<Statement> lines;
  /// What cannot be read as a statement, and statements that are switched off.
  std::vector<Statement> inactive;
  std::vector<std::string> broken;
};

/// Total. Takes both notations: lines of `set` (display set) and nested braces.
Statements parse_statements(std::string_view text);
std::string render_statement(const Statement& words);

/// Statements of one object, with the roots that go whole when the object goes.
struct JunosObject {
  std::vector<Statement> roots;
  std::vector<Statement> lines;
  bool operator==(const JunosObject&) const = default;
};
JunosObject vrf_object(const VrfState& vrf, const SwitchState& state);
JunosObject segment_object(const SegmentState& segment, const SwitchState& state);
JunosObject acl_object(const AclState& acl);
JunosObject port_object(const SwitchPortState& port, const SwitchState& state);
JunosObject fabric_object(const SwitchState& state);
JunosObject declared_object(const SwitchState& state);

/// `delete` and `set` lines that lead from one to the other.
std::string render_change(const JunosObject& from, const JunosObject& to);

std::vector<SwitchStep> plan_steps(const SwitchState& from, const SwitchState& to);
/// Rules of one filter of ours; what they do not say is added to `unclear`.
std::vector<AclRule> read_filter(const std::vector<Statement>& lines,
                                 std::vector<std::string>& unclear);
SwitchSeen read_config(const Statements& config, const SwitchOwnership& ownership);
/// Objects in our own hand (our names for policies and instances) are held against what render
/// writes for them: a statement too many, too few or said twice is unclear.
void compare_hand(const Statements& config, SwitchSeen& seen);

/// Names: a segment's instance, its VLAN within it, policies and communities of an instance.
inline std::string instance_name(const SegmentState& segment) {
  return "seg" + std::to_string(segment.l2vni);
}
inline constexpr std::string_view gateway_group = "tundish-gateway";
inline constexpr std::string_view leak_term = "from-";

}  // namespace tundish::switches::juniper
