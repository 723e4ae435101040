#pragma once
// What an agent tells is data from a machine that may belong to somebody else's root.
#include <string>
#include <vector>

#include "base/describe.hpp"

namespace tundish::edge {

/// Puts every field of a report within bounds: numbers that cannot be, times that have not come,
/// control characters, texts and lists without end. Returns what was changed and why, the first
/// few of it. A fault is never lost because one number of its report is wrong.
std::vector<std::string> clean_report(AnyDescribed report, Instant now);

}  // namespace tundish::edge
