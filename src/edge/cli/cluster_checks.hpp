#pragma once
#include "edge/cli/context.hpp"

namespace tundish::edge::cli {

void add_cluster_checks(Command noun, Context& context);

}  // namespace tundish::edge::cli
