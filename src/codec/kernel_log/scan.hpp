#pragma once
// Small forward scanner shared by the shapes of kernel lines.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "base/text.hpp"

namespace tundish::kernel_log {

inline bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}
inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// Removes `prefix` from the front; false and untouched when it is not there.
inline bool take(std::string_view& text, std::string_view prefix) {
  if (!starts_with(text, prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

/// Removes the digits in front and returns their value; nullopt (digits still removed) for none or
/// for more than nine, which no driver prints.
inline std::optional<int> take_number(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string_view digits = text.substr(0, end);
  text.remove_prefix(end);
  if (digits.empty() || digits.size() > 9) return std::nullopt;
  return static_cast<int>(*parse_integer(digits));
}

/// Removes and returns all up to the first character of `stops`, which stays.
inline std::string_view take_until(std::string_view& text, std::string_view stops) {
  const std::size_t end = std::min(text.find_first_of(stops), text.size());
  const std::string_view out = text.substr(0, end);
  text.remove_prefix(end);
  return out;
}

}  // namespace tundish::kernel_log
