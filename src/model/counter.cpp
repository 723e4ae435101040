#include "model/counter.hpp"

#include <algorithm>
#include <cmath>

namespace tundish {
namespace {

constexpr std::int64_t hour_us = hours(1).us;
constexpr std::int64_t day_hours = 24;
/// What nobody looked at for so long is forgotten: a pulled card, a renamed interface.
constexpr Duration stale_after = hours(25);
/// Growth over a longer pause says nothing of a minute.
constexpr Duration longest_step = hours(2);
constexpr double largest_rate = 9007199254740992.0;  ///< 2^53

}  // namespace

void CounterTrend::add(std::int64_t value, Instant at) {
  if (!seen_) {
    seen_ = true;
    last_ = value;
    last_at_ = first_at_ = at;
    return;
  }
  if (at <= last_at_) return;  // an older look that came late
  const bool restarted = value < last_;
  step_ = restarted ? value : value - last_;
  step_took_ = at - last_at_;
  if (restarted) ++resets_;
  last_ = value;
  last_at_ = at;
  const std::int64_t hour = at.us / hour_us;
  std::erase_if(hours_, [&](const Hour& h) { return h.hour <= hour - day_hours; });
  if (step_ <= 0) return;
  if (hours_.empty() || hours_.back().hour != hour) hours_.push_back({hour, 0});
  hours_.back().count += step_;
}

CounterReading CounterTrend::read(Instant now) const {
  CounterReading out;
  out.total = last_;
  out.resets = resets_;
  if (!seen_ || step_took_.us == 0) return out;
  if (step_took_ <= longest_step) {
    const double scaled = static_cast<double>(step_) * static_cast<double>(minutes(1).us);
    const double rate = std::ceil(scaled / static_cast<double>(step_took_.us));
    out.per_minute = static_cast<std::int64_t>(std::min(rate, largest_rate));
  }
  const std::int64_t oldest = now.us / hour_us - day_hours;
  std::int64_t grown = 0;
  for (const auto& hour : hours_) {
    if (hour.hour > oldest) grown += hour.count;
  }
  out.grown = grown;
  out.covered = std::min(last_at_ - first_at_, hours(day_hours));
  return out;
}

bool CounterTrend::is_stale(Instant now) const { return now - last_at_ > stale_after; }

void CounterTrend::fields(Fields& f) {
  f(1, "seen", seen_, "a value was read");
  f(2, "last", last_, "what it showed last");
  f(3, "last_at", last_at_, "when");
  f(4, "first_at", first_at_, "when it was first read");
  f(5, "step", step_, "growth between the last two values");
  f(6, "step_took", step_took_, "microseconds between them; 0: there was only one");
  f(7, "resets", resets_, "times that it began anew");
  f(8, "hours", hours_, "growth per hour, the last 24");
}

}  // namespace tundish
