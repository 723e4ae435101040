#pragma once
// Whether two policies do the same in every position that can be reached.
#include <optional>
#include <string>

#include "control/verify/verify.hpp"

namespace tundish::control::verify {

/// The first position in which `other` goes another way than `input.policy`, in words; nullopt:
/// they are bisimilar. Both must have the same states with the same actions.
Result<std::optional<std::string>> find_difference(const VerifyInput& input,
                                                   const RemediationPolicy& other);

}  // namespace tundish::control::verify
