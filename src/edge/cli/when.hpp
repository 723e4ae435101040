#pragma once
// Times as people type them.
#include <string>

#include "base/instant.hpp"
#include "base/result.hpp"

namespace tundish::edge::cli {

/// "now", "+2h", RFC 3339, or local time "2026-12-01 22:00". `invalid` for anything else, also for
/// an hour that the zone leaves out.
Result<Instant> parse_when(const std::string& text, Instant now);
/// By this computer's clock.
Instant clock_now();

}  // namespace tundish::edge::cli
