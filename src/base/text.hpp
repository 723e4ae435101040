#pragma once
// Small text helpers that std lacks.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tundish {

std::vector<std::string> split(std::string_view text, char separator);
std::string join(const std::vector<std::string>& parts, std::string_view separator);
std::string_view trim(std::string_view text);
std::string to_lower(std::string_view text);
/// The whole text as a number of the given base; nullopt for anything else, overflow included.
std::optional<std::int64_t> parse_integer(std::string_view text, int base = 10);
std::string render_hex(std::string_view bytes);

}  // namespace tundish
