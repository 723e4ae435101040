#pragma once
// What the two checks that run nccl-tests share.
#include "families/checks/active_parts/findings.hpp"

namespace tundish::checks {

/// Wrong elements fail; the bus bandwidth of the largest message is held against the floor.
Verdicts judge_nccl(const CheckSample& sample, std::string_view check,
                    const std::string& when_good);

}  // namespace tundish::checks
