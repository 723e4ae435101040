#pragma once
// EOS: lines of each object, and what a running configuration says.
#include "families/switches/parts/line_dialect.hpp"

namespace tundish::switches::eos {

const LineDialect& dialect();
SwitchSeen read_config(const LineTree& config, const SwitchOwnership& ownership);

}  // namespace tundish::switches::eos
