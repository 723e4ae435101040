#include "edge/cli/when.hpp"

#include <time.h>

#include <chrono>

#include "codec/instant_text.hpp"
#include "edge/cli/command.hpp"

namespace tundish::edge::cli {
namespace {

Error bad_time(const std::string& text) {
  return make_error(Code::invalid, "\"" + text + "\" is no time")
      .with_remedy("use now, +2h, \"2026-12-01 22:00\" (local) or 2026-12-01T21:00:00Z");
}

}  // namespace

Result<Instant> parse_when(const std::string& text, Instant now) {
  if (text == "now") return now;
  if (text.starts_with("+")) return now + TRY(parse_span(text.substr(1)));
  if (const auto exact = parse_instant(text); exact && exact->is_set()) return *exact;
  std::string local = text;
  if (local.size() > 10 && local[10] == 'T') local[10] = ' ';
  tm parts{};
  const char* end = ::strptime(local.c_str(), "%Y-%m-%d %H:%M", &parts);
  if (end && *end == ':') end = ::strptime(local.c_str(), "%Y-%m-%d %H:%M:%S", &parts);
  if (!end || *end != '\0') return bad_time(text);
  const tm asked = parts;
  parts.tm_isdst = -1;
  const time_t at = ::mktime(&parts);
  const bool exists = at > 0 && parts.tm_hour == asked.tm_hour && parts.tm_mday == asked.tm_mday;
  if (!exists) return bad_time(text);
  return Instant{static_cast<std::int64_t>(at) * 1000000};
}

Instant clock_now() {
  return {std::chrono::duration_cast<std::chrono::microseconds>(
              std::chrono::system_clock::now().time_since_epoch())
              .count()};
}

}  // namespace tundish::edge::cli
