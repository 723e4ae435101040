#include "model/prefix.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace tundish {
namespace {

/// Digits only, as every switch writes it: no sign, no leading zero.
std::optional<int> parse_small(std::string_view text, int most) {
  if (text.empty() || text.size() > 3 || (text.size() > 1 && text[0] == '0')) return std::nullopt;
  int value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value <= most ? std::optional<int>(value) : std::nullopt;
}

struct Interface {
  std::uint32_t address = 0;
  int length = 0;
};

std::optional<Interface> parse_with_length(std::string_view text) {
  const auto slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto address = parse_ipv4(text.substr(0, slash));
  const auto length = parse_small(text.substr(slash + 1), 32);
  if (!address || !length) return std::nullopt;
  return Interface{*address, *length};
}

}  // namespace

std::optional<std::uint32_t> parse_ipv4(std::string_view text) {
  std::uint32_t out = 0;
  for (int i = 0; i < 4; ++i) {
    const auto dot = text.find('.');
    if ((dot == std::string_view::npos) != (i == 3)) return std::nullopt;
    const auto part = parse_small(text.substr(0, dot), 255);
    if (!part) return std::nullopt;
    out = (out << 8) | static_cast<std::uint32_t>(*part);
    if (i < 3) text.remove_prefix(dot + 1);
  }
  return out;
}

std::string render_ipv4(std::uint32_t address) {
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) {
    out += std::to_string((address >> shift) & 255U);
    if (shift > 0) out += '.';
  }
  return out;
}

std::optional<Prefix> parse_prefix(std::string_view text) {
  const auto read = parse_with_length(text);
  if (!read) return std::nullopt;
  const Prefix out{read->address, read->length};
  if ((out.address & out.mask()) != out.address) return std::nullopt;
  return out;
}

std::optional<Prefix> parse_interface(std::string_view text) {
  const auto read = parse_with_length(text);
  if (!read) return std::nullopt;
  Prefix out{read->address, read->length};
  out.address &= out.mask();
  return out;
}

std::string render_prefix(const Prefix& prefix) {
  return render_ipv4(prefix.address) + "/" + std::to_string(prefix.length);
}

std::vector<std::string> cover_exactly(std::vector<std::uint32_t> addresses) {
  std::sort(addresses.begin(), addresses.end());
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
  std::vector<Prefix> cover;
  for (const auto address : addresses) {
    Prefix next{address, 32};
    // Two halves of one prefix become it, as often as that goes.
    while (!cover.empty() && cover.back().length == next.length && next.length > 0 &&
           (cover.back().address ^ next.address) == std::uint32_t{1} << (32 - next.length)) {
      next = {cover.back().address, next.length - 1};
      cover.pop_back();
    }
    cover.push_back(next);
  }
  std::vector<std::string> out;
  for (const auto& prefix : cover) out.push_back(render_prefix(prefix));
  return out;
}

}  // namespace tundish
