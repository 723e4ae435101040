#pragma once
// A described object as lines of path and value.
#include <string>
#include <utility>
#include <vector>

#include "base/describe.hpp"

namespace tundish {

/// "spec.parts[0].model" and its value as text, in the order of the description. Absent optionals
/// and empty lists have no line.
std::vector<std::pair<std::string, std::string>> flatten(AnyDescribed object);

/// "spec.rack: r01 -> r02" for every value that differs; what one side lacks shows as "(none)",
/// empty text as "". Lines of `a` first, then those that only `b` has.
std::vector<std::string> diff(AnyDescribed a, AnyDescribed b);

}  // namespace tundish
