#pragma once
// IPv4 prefixes as numbers, so that overlap is arithmetic and not text.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tundish {

struct Prefix {
  std::uint32_t address = 0;
  int length = 0;
  auto operator<=>(const Prefix&) const = default;
  std::uint32_t mask() const { return length == 0 ? 0 : ~std::uint32_t{0} << (32 - length); }
  std::uint32_t last() const { return address | ~mask(); }
  bool contains(const Prefix& other) const {
    return length <= other.length && (other.address & mask()) == address;
  }
  bool overlaps(const Prefix& other) const { return contains(other) || other.contains(*this); }
};

std::optional<std::uint32_t> parse_ipv4(std::string_view text);
std::string render_ipv4(std::uint32_t address);
/// 10.10.0.0/24; refused when bits below the length are set, as in 10.10.0.1/24.
std::optional<Prefix> parse_prefix(std::string_view text);
/// The network of an address with length: 10.10.0.0/24 for 10.10.0.1/24.
std::optional<Prefix> parse_interface(std::string_view text);
std::string render_prefix(const Prefix& prefix);
/// The fewest prefixes that cover these addresses and no other.
std::vector<std::string> cover_exactly(std::vector<std::uint32_t> addresses);

}  // namespace tundish
