#pragma once
// What no switch can hold, and what a vendor's capabilities exclude. An item calls accept_state and
// adds its own rules.
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "families/switches/switch_item.hpp"
#include "model/switch_state.hpp"

namespace tundish::switches {

/// Numbers in range and unique, names that fit, references that resolve, prefixes that do not
/// overlap within a VRF, targets that are written out, leaks that the vendor can carry.
Result<> accept_state(const SwitchState& desired, const SwitchCapabilities& capabilities);

/// An `invalid` error about `object` ("vrf/Vrf00010") with what would work.
Error refuse(std::string object, std::string what, std::string remedy);

/// Printable ASCII without quotes, backslash and the characters that a dialect may not take.
bool is_plain_text(std::string_view text, std::size_t limit);
/// A letter, then letters, digits, '-', '_' up to `limit` characters.
bool is_plain_name(std::string_view text, std::size_t limit);

}  // namespace tundish::switches
