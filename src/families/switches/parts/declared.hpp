#pragma once
// What a person declared about a switch and we never change.
#include "base/result.hpp"
#include "model/switch_state.hpp"

namespace tundish::switches {

/// A conflict when a switch shows another AS, router-id, tunnel end or gateway MAC than declared.
/// What `from` does not show (an empty switch) is taken from `to`.
Result<> same_declared(const SwitchState& from, const SwitchState& to);

}  // namespace tundish::switches
