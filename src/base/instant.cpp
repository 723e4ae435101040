#include "base/instant.hpp"

#include <cstdio>
#include <ctime>

namespace tundish {

std::string render_utc(Instant at) {
  if (!at.is_set()) return "";
  const std::time_t whole = static_cast<std::time_t>(at.us / 1000000);
  std::tm parts{};
  gmtime_r(&whole, &parts);
  char day[32];
  std::strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &parts);
  char out[48];
  std::snprintf(out, sizeof out, "%s.%03dZ", day, static_cast<int>(at.us / 1000 % 1000));
  return out;
}

std::string render_duration(Duration d) {
  char out[48];
  const double value = static_cast<double>(d.us) / 1e6;
  const long long whole = d.us / 1000000;
  if (d.us < 10000) {
    std::snprintf(out, sizeof out, "%.1f ms", value * 1e3);
  } else if (d.us < 1000000) {
    std::snprintf(out, sizeof out, "%.0f ms", value * 1e3);
  } else if (whole < 60) {
    std::snprintf(out, sizeof out, "%.2f s", value);
  } else if (whole < 3600) {
    std::snprintf(out, sizeof out, "%lld min %lld s", whole / 60, whole % 60);
  } else {
    std::snprintf(out, sizeof out, "%lld h %lld min", whole / 3600, whole / 60 % 60);
  }
  return out;
}

}  // namespace tundish
