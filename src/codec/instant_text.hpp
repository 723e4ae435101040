#pragma once
// Instant as stored and sent text. base's render_utc is for people and rounds to milliseconds.
#include <optional>
#include <string>
#include <string_view>

#include "base/instant.hpp"

namespace tundish {

/// RFC 3339 in UTC with microseconds; "" for an Instant that is not set. Outside the years 0000 to
/// 9999, which RFC 3339 cannot name, "@" and the microseconds. Exact both ways.
std::string render_instant(Instant at);
/// Takes what render_instant gives, and RFC 3339 with 0 to 6 decimals and any offset.
std::optional<Instant> parse_instant(std::string_view text);

}  // namespace tundish
