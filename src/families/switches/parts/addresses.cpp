#include "families/switches/parts/addresses.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace tundish::switches {
namespace {

/// Decimal digits without sign, blanks or leading zeros.
std::optional<std::int64_t> plain_number(std::string_view text) {
  if (text.empty() || text.size() > 10 || (text.size() > 1 && text[0] == '0')) return std::nullopt;
  std::int64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

bool in_range(const std::optional<std::int64_t>& value, std::int64_t from, std::int64_t to) {
  return value && *value >= from && *value <= to;
}

}  // namespace

bool Prefix4::overlaps(const Prefix4& other) const {
  const std::uint32_t shared = mask() & other.mask();
  return (address & shared) == (other.address & shared);
}

std::optional<std::uint32_t> parse_ipv4(std::string_view text) {
  std::uint32_t value = 0;
  for (int octet = 0; octet < 4; ++octet) {
    const std::size_t dot = octet < 3 ? text.find('.') : text.size();
    if (dot == std::string_view::npos) return std::nullopt;
    const auto number = plain_number(text.substr(0, dot));
    if (!in_range(number, 0, 255)) return std::nullopt;
    value = value << 8 | static_cast<std::uint32_t>(*number);
    text.remove_prefix(octet < 3 ? dot + 1 : dot);
  }
  return value;
}

std::optional<Prefix4> parse_prefix4(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto address = parse_ipv4(text.substr(0, slash));
  const auto length = plain_number(text.substr(slash + 1));
  if (!address || !in_range(length, 0, 32)) return std::nullopt;
  return Prefix4{*address, static_cast<int>(*length)};
}

std::optional<Prefix4> parse_network4(std::string_view text) {
  const auto prefix = parse_prefix4(text);
  if (!prefix || prefix->network() != prefix->address) return std::nullopt;
  return prefix;
}

std::string render_ipv4(std::uint32_t address) {
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) {
    if (shift < 24) out += '.';
    out += std::to_string(address >> shift & 255U);
  }
  return out;
}

std::string render_network4(const Prefix4& prefix) {
  return render_ipv4(prefix.network()) + "/" + std::to_string(prefix.length);
}

bool is_route_target(std::string_view text) {
  const std::size_t colon = text.find(':');
  return colon != std::string_view::npos &&
         in_range(plain_number(text.substr(0, colon)), 1, 65535) &&
         in_range(plain_number(text.substr(colon + 1)), 1, 4294967295);
}

bool is_route_distinguisher(std::string_view text) {
  const std::size_t colon = text.find(':');
  return colon != std::string_view::npos && parse_ipv4(text.substr(0, colon)) &&
         in_range(plain_number(text.substr(colon + 1)), 1, 65535);
}

bool is_unicast_mac(std::string_view text) {
  if (text.size() != 17 || text == "00:00:00:00:00:00") return false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const bool hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
    if (at % 3 == 2 ? c != ':' : !hex) return false;
  }
  return std::string_view("02468ace").find(text[1]) != std::string_view::npos;
}

}  // namespace tundish::switches
