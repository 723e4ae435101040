#pragma once
// What the maker prints of the thing that a limit is about.
#include "model/limit.hpp"

namespace tundish {

/// In the limit's own unit; 0: the nameplate says nothing of it.
std::int64_t printed_value(const Limit& limit, const Nameplate& plate);

}  // namespace tundish
