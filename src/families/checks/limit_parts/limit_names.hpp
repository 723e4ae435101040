#pragma once
// Every limit that some check asks thresholds.yaml for, with the unit it compares in. The family's
// test reads the checks themselves: a limit that is asked for and not here, or here and not asked
// for, fails it.
#include <vector>

#include "codec/limit_names.hpp"

namespace tundish::checks {

std::vector<KnownLimit> known_limits();

}  // namespace tundish::checks
