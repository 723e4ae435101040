#include "families/bmcs/basic_auth.hpp"

#include <cstdint>

namespace tundish::families {

std::string basic_auth(const std::string& user, const std::string& password) {
  static constexpr char alphabet[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const std::string clear = user + ":" + password;
  std::string out = "Basic ";
  for (std::size_t i = 0; i < clear.size(); i += 3) {
    const auto byte = [&](std::size_t at) -> std::uint32_t {
      return at < clear.size() ? static_cast<unsigned char>(clear[at]) : 0;
    };
    const std::uint32_t bits = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    out += alphabet[bits >> 18 & 63];
    out += alphabet[bits >> 12 & 63];
    out += i + 1 < clear.size() ? alphabet[bits >> 6 & 63] : '=';
    out += i + 2 < clear.size() ? alphabet[bits & 63] : '=';
  }
  return out;
}

}  // namespace tundish::families
