#pragma once
// What a person typed, as an error repeats it.
#include <string>
#include <string_view>

namespace tundish {

/// Cut after 64 characters, with "…": a megabyte of it helps nobody. Never within a character.
std::string shorten(std::string_view text);
/// The same in quotes.
std::string in_quotes(std::string_view text);

}  // namespace tundish
