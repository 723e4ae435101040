#pragma once
// Access lists compared by what they let through, not by their text.
#include <string>
#include <vector>

#include "model/switch_state.hpp"

namespace tundish::control::network {

enum class AclVerdict { same, same_effect, weaker, stronger };

struct AclComparison {
  AclVerdict verdict = AclVerdict::same;
  std::string example;  ///< a packet that only one of the two lets through
};

/// Exact: every packet class that the prefixes and ports of both lists tell apart is tried. Weaker
/// when `actual` lets anything through that `wanted` does not; stronger when it only holds back
/// more. A rule that cannot be read counts as permitting everything.
AclComparison compare_acls(const std::vector<AclRule>& wanted, const std::vector<AclRule>& actual);

}  // namespace tundish::control::network
