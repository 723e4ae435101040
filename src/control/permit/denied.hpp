#pragma once
#include <string_view>

namespace tundish::control {

/// Why an act waits that a person denied.
inline constexpr std::string_view denied_word = "a person denied it";

}  // namespace tundish::control
