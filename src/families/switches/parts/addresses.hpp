#pragma once
// IPv4 addresses, prefixes, route targets and distinguishers as text and as numbers.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tundish::switches {

struct Prefix4 {
  std::uint32_t address = 0;  ///< as written: an interface's address keeps its low bits
  int length = 0;

  std::uint32_t mask() const { return length == 0 ? 0U : ~0U << (32 - length); }
  std::uint32_t network() const { return address & mask(); }
  bool overlaps(const Prefix4& other) const;
};

/// Dotted quad without leading zeros; nullopt for anything else.
std::optional<std::uint32_t> parse_ipv4(std::string_view text);
/// `address/length`; nullopt for anything else, a missing length included.
std::optional<Prefix4> parse_prefix4(std::string_view text);
/// As parse_prefix4, and the bits after the length are zero.
std::optional<Prefix4> parse_network4(std::string_view text);
std::string render_ipv4(std::uint32_t address);
std::string render_network4(const Prefix4& prefix);

/// `AS:number` with AS 1..65535 and number 1..4294967295: the one form that holds a 24-bit VNI.
/// Source: facts/cloud.md, section 3.2 (RFC 4360, section 4; RFC 5668); checked 2026-11.
bool is_route_target(std::string_view text);
/// `IPv4:number` with number 1..65535, a type 1 route distinguisher (RFC 4364, section 4.2).
bool is_route_distinguisher(std::string_view text);
/// Six lower-case octets, not multicast, not zero.
bool is_unicast_mac(std::string_view text);

}  // namespace tundish::switches
