#include "codec/utf8.hpp"

#include <algorithm>
#include <array>

namespace tundish {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

/// Zero width. Source: Unicode 15.0 general categories Mn, Me and Cf, the common blocks;
/// checked 2026-11.
constexpr std::array zero_width{
    Range{0x0300, 0x036F}, Range{0x0483, 0x0489},  Range{0x0591, 0x05BD}, Range{0x0610, 0x061A},
    Range{0x064B, 0x065F}, Range{0x0E31, 0x0E31},  Range{0x0E34, 0x0E3A}, Range{0x0E47, 0x0E4E},
    Range{0x1AB0, 0x1AFF}, Range{0x1DC0, 0x1DFF},  Range{0x200B, 0x200F}, Range{0x202A, 0x202E},
    Range{0x2060, 0x2064}, Range{0x20D0, 0x20FF},  Range{0xFE00, 0xFE0F}, Range{0xFE20, 0xFE2F},
    Range{0xFEFF, 0xFEFF}, Range{0xE0100, 0xE01EF}};

/// Double width. Source: Unicode 15.0 EastAsianWidth W and F, the large blocks; checked 2026-11.
constexpr std::array wide{Range{0x1100, 0x115F},   Range{0x231A, 0x231B},   Range{0x23E9, 0x23EC},
                          Range{0x2705, 0x2705},   Range{0x274C, 0x274C},   Range{0x2E80, 0x303E},
                          Range{0x3041, 0x33FF},   Range{0x3400, 0x4DBF},   Range{0x4E00, 0x9FFF},
                          Range{0xA000, 0xA4CF},   Range{0xA960, 0xA97C},   Range{0xAC00, 0xD7A3},
                          Range{0xF900, 0xFAFF},   Range{0xFE30, 0xFE6F},   Range{0xFF01, 0xFF60},
                          Range{0xFFE0, 0xFFE6},   Range{0x1F300, 0x1F64F}, Range{0x1F680, 0x1F6FF},
                          Range{0x1F900, 0x1F9FF}, Range{0x20000, 0x3FFFD}};

template <std::size_t size>
bool contains(const std::array<Range, size>& ranges, char32_t value) {
  return std::any_of(ranges.begin(), ranges.end(), [&](const Range& range) {
    return value >= range.first && value <= range.last;
  });
}

}  // namespace

CodePoint decode_utf8(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || size > text.size() - at) return {};
  char32_t value = lead & (0x7Fu >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0u) != 0x80) return {};
    value = (value << 6) | (byte(i) & 0x3Fu);
  }
  const bool overlong = (size == 3 && value < 0x800) || (size == 4 && value < 0x10000);
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (overlong || surrogate || value > 0x10FFFF) return {};
  return {value, size, true};
}

std::optional<std::size_t> find_invalid_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = decode_utf8(text, at);
    if (!point.valid) return at;
    at += point.size;
  }
  return std::nullopt;
}

void append_utf8(std::string& out, char32_t value) {
  const auto tail = [&](int shift) {
    out += static_cast<char>(0x80u | ((value >> shift) & 0x3Fu));
  };
  if (value < 0x80) {
    out += static_cast<char>(value);
  } else if (value < 0x800) {
    out += static_cast<char>(0xC0u | (value >> 6));
    tail(0);
  } else if (value < 0x10000) {
    out += static_cast<char>(0xE0u | (value >> 12));
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xF0u | (value >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

int display_width(char32_t value) {
  if (contains(zero_width, value)) return 0;
  return contains(wide, value) ? 2 : 1;
}

}  // namespace tundish
