#pragma once
// NVUE of Cumulus Linux 5: one tree. File nvue.json is what GET /nvue_v1/?rev=applied&filled=false
// or `nv config show -o json` gives. A step's text is a body of PATCH /nvue_v1/?rev=ID, in which
// null unsets; all steps of one change may go into one revision, in their order.
// Source: Cumulus Linux 5.10 user guide (NVUE API, EVPN, VRF, Access Control Lists, Route
// Filtering) and facts/cloud.md 3.5; checked 2026-11. No image was at hand: `match source-vrf`,
// port ranges and a gateway with only a virtual address are from the guide and memory.
#include <string>
#include <string_view>
#include <vector>

#include "families/switches/switch_item.hpp"

namespace tundish::switches::nvue_parts {

/// A subtree that is wholly ours, and where it hangs.
struct AnchorText {
  std::vector<std::string> path;
  std::string json;  ///< "null": nothing may be there
};

/// Of every object, and of what is declared.
std::vector<AnchorText> anchor_texts(const SwitchState& state);
std::string render_tree(const SwitchState& state);
Result<SwitchSeen> read_tree(std::string_view json, const SwitchOwnership& ownership);
Result<std::vector<SwitchStep>> plan_steps(const SwitchState& from, const SwitchState& to);

}  // namespace tundish::switches::nvue_parts
