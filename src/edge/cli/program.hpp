#pragma once
// The whole command line as one function, so that tests run exactly what people run.
#include <functional>
#include <string>
#include <vector>

#include "edge/cli/context.hpp"

namespace tundish::edge::cli {

/// Nouns that need rooms which edge cannot see (lab).
using AddNouns = std::function<void(Command root, Context& context)>;

/// Returns the exit code: 0 done or pass, 1 tool error, 2 bad flag, 3 refused or failed, 4 unknown
/// or incomplete, 130 declined or Ctrl-C.
int run_program(const std::vector<std::string>& args, Context& context,
                const AddNouns& add_nouns = {});

}  // namespace tundish::edge::cli
