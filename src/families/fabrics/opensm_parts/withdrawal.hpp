#pragma once
// A change that only takes away: fast, because a file that opensm has taken already stays one that
// it takes when lines go.
#include <string>

#include "model/fabric_state.hpp"

namespace tundish::fabrics {

/// `after` is `before` without some members, or some partitions, of ours: every line of it stands
/// in `before`, in that order, but for the mark at a member's end; no partition is new, none is
/// empty, none has another setting, and the default rule is the same. Says nothing about whether
/// opensm takes `before`.
bool is_withdrawal(const std::string& before, const std::string& after,
                   const FabricOwnership& ownership);

}  // namespace tundish::fabrics
