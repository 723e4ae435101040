#pragma once
// Time as the project counts it. Core code never reads a clock: it is handed `now`.
#include <compare>
#include <cstdint>
#include <string>

namespace tundish {

struct Duration {
  std::int64_t us = 0;
  auto operator<=>(const Duration&) const = default;
  constexpr Duration operator+(Duration d) const { return {us + d.us}; }
  constexpr Duration operator-(Duration d) const { return {us - d.us}; }
  constexpr Duration operator*(std::int64_t n) const { return {us * n}; }
  constexpr std::int64_t ms() const { return us / 1000; }
  constexpr std::int64_t s() const { return us / 1000000; }
};
constexpr Duration microseconds(std::int64_t n) { return {n}; }
constexpr Duration milliseconds(std::int64_t n) { return {n * 1000}; }
constexpr Duration seconds(std::int64_t n) { return {n * 1000000}; }
constexpr Duration minutes(std::int64_t n) { return {n * 60000000}; }
constexpr Duration hours(std::int64_t n) { return {n * 3600000000LL}; }

/// Microseconds since 1970 on the project clock: anchored to wall time when the process starts,
/// then advanced by a steady clock and never below anything already stored, so that a stepped wall
/// clock neither repeats nor skips a deadline. 0 means "never".
struct Instant {
  std::int64_t us = 0;
  auto operator<=>(const Instant&) const = default;
  constexpr Instant operator+(Duration d) const { return {us + d.us}; }
  constexpr Instant operator-(Duration d) const { return {us - d.us}; }
  constexpr Duration operator-(Instant other) const { return {us - other.us}; }
  constexpr bool is_set() const { return us != 0; }
};

/// RFC 3339 in UTC with milliseconds; "" for an Instant that is not set.
std::string render_utc(Instant at);
/// "1.25 s", "3 min 10 s", "2 h 4 min": for people.
std::string render_duration(Duration d);

}  // namespace tundish
