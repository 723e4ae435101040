#include <charconv>
#include <cmath>
#include <cstdio>

#include "codec/tools/tool_output.hpp"

namespace tundish::tools {

std::string render_real(double value, int decimals) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> out;
  constexpr std::string_view blanks = " \t\r";
  for (std::size_t at = line.find_first_not_of(blanks); at != std::string_view::npos;) {
    const std::size_t end = line.find_first_of(blanks, at);
    out.emplace_back(line.substr(at, end == std::string_view::npos ? end : end - at));
    at = end == std::string_view::npos ? end : line.find_first_not_of(blanks, end);
  }
  return out;
}

std::optional<double> parse_real(std::string_view word) {
  double value = 0;
  const auto [end, failed] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (failed != std::errc() || end != word.data() + word.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

}  // namespace tundish::tools
