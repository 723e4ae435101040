#include "codec/instant_text.hpp"

#include <chrono>
#include <cstdio>

#include "base/text.hpp"

namespace tundish {
namespace {

constexpr std::int64_t second_us = 1000000;
constexpr std::int64_t day_us = 86400 * second_us;

/// Takes exactly `width` digits from the front.
std::optional<int> take_digits(std::string_view& text, std::size_t width) {
  if (text.size() < width) return std::nullopt;
  int value = 0;
  for (const char c : text.substr(0, width)) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  text.remove_prefix(width);
  return value;
}

bool take(std::string_view& text, char expected) {
  if (text.empty() || text.front() != expected) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<std::int64_t> take_day(std::string_view& text) {
  const auto year = take_digits(text, 4);
  if (!year || !take(text, '-')) return std::nullopt;
  const auto month = take_digits(text, 2);
  if (!month || !take(text, '-')) return std::nullopt;
  const auto day = take_digits(text, 2);
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date).time_since_epoch().count() * day_us;
}

/// "hh:mm" in microseconds.
std::optional<std::int64_t> take_minutes(std::string_view& text) {
  const auto hour = take_digits(text, 2);
  if (!hour || *hour > 23 || !take(text, ':')) return std::nullopt;
  const auto minute = take_digits(text, 2);
  if (!minute || *minute > 59) return std::nullopt;
  return (*hour * 60 + *minute) * 60 * second_us;
}

std::optional<std::int64_t> take_fraction(std::string_view& text) {
  if (!take(text, '.')) return 0;
  std::int64_t value = 0;
  int digits = 0;
  for (; digits < 6; ++digits) {
    const auto digit = take_digits(text, 1);
    if (!digit) break;
    value = value * 10 + *digit;
  }
  if (digits == 0) return std::nullopt;
  for (; digits < 6; ++digits) value *= 10;
  return value;
}

std::optional<std::int64_t> take_offset(std::string_view& text) {
  if (take(text, 'Z')) return 0;
  const bool east = take(text, '+');
  if (!east && !take(text, '-')) return std::nullopt;
  const auto offset = take_minutes(text);
  if (!offset) return std::nullopt;
  return east ? *offset : -*offset;
}

}  // namespace

std::string render_instant(Instant at) {
  if (!at.is_set()) return "";
  std::int64_t days = at.us / day_us;
  std::int64_t rest = at.us % day_us;
  if (rest < 0) {
    rest += day_us;
    --days;
  }
  // Days of 0000-01-01 and 9999-12-31 counted from 1970.
  if (days < -719528 || days > 2932896) return "@" + std::to_string(at.us);
  const std::chrono::year_month_day date{
      std::chrono::sys_days(std::chrono::days(static_cast<int>(days)))};
  const auto part = [&](std::int64_t unit, std::int64_t modulo) {
    return static_cast<int>(rest / unit % modulo);
  };
  char out[64];
  std::snprintf(out, sizeof out, "%04d-%02u-%02uT%02d:%02d:%02d.%06dZ",
                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), part(3600 * second_us, 24),
                part(60 * second_us, 60), part(second_us, 60), part(1, second_us));
  return out;
}

std::optional<Instant> parse_instant(std::string_view text) {
  if (text.empty()) return Instant{};
  if (take(text, '@')) {
    const auto us = parse_integer(text);
    return us ? std::optional(Instant{*us}) : std::nullopt;
  }
  const auto day = take_day(text);
  if (!day || !take(text, 'T')) return std::nullopt;
  const auto minutes_us = take_minutes(text);
  if (!minutes_us || !take(text, ':')) return std::nullopt;
  const auto second = take_digits(text, 2);
  if (!second || *second > 59) return std::nullopt;
  const auto fraction = take_fraction(text);
  if (!fraction) return std::nullopt;
  const auto offset = take_offset(text);
  if (!offset || !text.empty()) return std::nullopt;
  return Instant{*day + *minutes_us + *second * second_us + *fraction - *offset};
}

}  // namespace tundish
