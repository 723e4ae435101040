#pragma once
// Redfish documents of one node, rendered from its state. Pure.
#include <optional>
#include <string>
#include <string_view>

#include "lab/node_power.hpp"

namespace tundish::lab {

/// The document at `path`, or nullopt when this BMC has none.
std::optional<std::string> render_redfish(std::string_view path, const NodeState& node);
/// Error body of DSP0266, section "Error responses".
std::string render_redfish_error(const std::string& code, const std::string& message);
/// A ResetType of the ComputerSystem schema.
std::optional<PowerAction> parse_reset_type(std::string_view text);

}  // namespace tundish::lab
