#include "model/pci_address.hpp"

#include <cstdint>
#include <cstdio>

#include "base/text.hpp"

namespace tundish {
namespace {

/// A number of `shortest` to `longest` hex digits and nothing else (no sign, no blank).
std::optional<std::uint32_t> hex_number(std::string_view text, std::size_t shortest,
                                        std::size_t longest) {
  if (text.size() < shortest || text.size() > longest) return std::nullopt;
  if (text.find_first_not_of("0123456789abcdefABCDEF") != std::string_view::npos) {
    return std::nullopt;
  }
  const auto value = parse_integer(text, 16);
  if (!value) return std::nullopt;
  return static_cast<std::uint32_t>(*value);
}

}  // namespace

std::optional<std::string> normalise_pci(std::string_view text) {
  constexpr std::string_view prefix = "PCI:";
  if (text.substr(0, prefix.size()) == prefix) text.remove_prefix(prefix.size());
  const std::size_t first = text.find(':');
  if (first == std::string_view::npos) return std::nullopt;
  const std::size_t second = text.find(':', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  std::string_view slot = text.substr(second + 1);
  if (const std::size_t dot = slot.find('.'); dot != std::string_view::npos) {
    const auto function = hex_number(slot.substr(dot + 1), 1, 1);
    if (!function || *function > 7) return std::nullopt;
    slot = slot.substr(0, dot);
  }
  const auto domain = hex_number(text.substr(0, first), 1, 8);
  const auto bus = hex_number(text.substr(first + 1, second - first - 1), 2, 2);
  const auto device = hex_number(slot, 2, 2);
  if (!domain || !bus || !device || *device > 0x1f) return std::nullopt;
  char out[24];
  std::snprintf(out, sizeof out, "%04x:%02x:%02x", *domain, *bus, *device);
  return std::string(out);
}

}  // namespace tundish
