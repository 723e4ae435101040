#include "base/quote.hpp"

namespace tundish {
namespace {

constexpr std::size_t most_characters = 64;

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

}  // namespace

std::string shorten(std::string_view text) {
  std::size_t characters = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!begins_character(text[i])) continue;
    if (++characters > most_characters) return std::string(text.substr(0, i)) + "…";
  }
  return std::string(text);
}

std::string in_quotes(std::string_view text) { return '"' + shorten(text) + '"'; }

}  // namespace tundish
