#pragma once
// UTF-8 one code point at a time.
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tundish {

struct CodePoint {
  char32_t value = 0xFFFD;  ///< U+FFFD when not valid
  std::size_t size = 1;     ///< bytes used; 1 when not valid
  bool valid = false;
};

/// The code point that starts at `at`, which must lie inside the text. Overlong forms, surrogates
/// and values above U+10FFFF are not valid.
CodePoint decode_utf8(std::string_view text, std::size_t at);
/// Offset of the first byte that is not UTF-8.
std::optional<std::size_t> find_invalid_utf8(std::string_view text);
void append_utf8(std::string& out, char32_t value);
/// Cells that a terminal uses: 0 for combining marks, 2 for East Asian wide and emoji.
int display_width(char32_t value);

}  // namespace tundish
