#pragma once
// --wait: progress on standard error, expiry 4, Ctrl-C 130 with the order left in place.
#include <functional>
#include <string>

#include "edge/cli/context.hpp"

namespace tundish::edge::cli {

struct Waited {
  std::string object;  ///< "cluster train"
  std::string look;    ///< command that shows how it stands
};

/// Looks every half second until `missing` returns "" and prints what it returns whenever that
/// changes. Returns the exit code.
Result<int> wait_until(Context& context, const Waited& waited,
                       const std::function<Result<std::string>()>& missing);

}  // namespace tundish::edge::cli
