#include "runtime/clock_start.hpp"

#include <sys/timex.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <sstream>

#include "base/text.hpp"
#include "runtime/process/process.hpp"

namespace tundish {
namespace {

/// Between two readings of one clock.
constexpr Duration reading_slack = seconds(2);

Instant read_wall() {
  timespec at{};
  clock_gettime(CLOCK_REALTIME, &at);
  return {static_cast<std::int64_t>(at.tv_sec) * 1000000 + at.tv_nsec / 1000};
}

/// By the kernel's own file: a clock that is faked for this process alone does not reach it.
Duration read_uptime() {
  const auto text = process::read_file("/proc/uptime");
  double uptime_s = 0;
  if (!text || !(std::istringstream(*text) >> uptime_s)) return {};
  return microseconds(std::llround(uptime_s * 1e6));
}

/// A time service disciplines the kernel's clock, and it is the one that we read.
bool is_disciplined(Instant wall) {
  timex told{};
  const int state = adjtimex(&told);
  if (state < 0 || state == TIME_ERROR || (told.status & STA_UNSYNC) != 0) return false;
  const bool nanoseconds = (told.status & STA_NANO) != 0;
  const std::int64_t fraction = nanoseconds ? told.time.tv_usec / 1000 : told.time.tv_usec;
  const Instant kernel{static_cast<std::int64_t>(told.time.tv_sec) * 1000000 + fraction};
  const Duration away = kernel > wall ? kernel - wall : wall - kernel;
  return away < reading_slack;
}

}  // namespace

ClockStart judge_clock(const ClockSight& seen) {
  Instant known = seen.newest;  // time was at least there
  const bool same_boot = seen.mark && !seen.boot_id.empty() && seen.mark->boot_id == seen.boot_id &&
                         seen.uptime >= seen.mark->uptime;
  if (same_boot) known = std::max(known, seen.mark->at + (seen.uptime - seen.mark->uptime));
  ClockStart out;
  out.begin = std::max(seen.wall, seen.newest);
  if (!seen.newest.is_set()) return out;
  if (seen.wall - known > clock_jump_least && !seen.disciplined) {
    out.begin = known;
    out.trust = ClockTrust::ahead;
    out.away = seen.wall - known;
  } else if (seen.newest - seen.wall > clock_behind_least) {
    out.trust = ClockTrust::behind;
    out.away = seen.newest - seen.wall;
  }
  return out;
}

std::string clock_note(const ClockStart& start, const std::string& remedy) {
  const std::string away = render_duration(start.away);
  switch (start.trust) {
    case ClockTrust::believed: return "";
    case ClockTrust::ahead:
      return "the wall clock is " + away +
             " ahead of what was stored, and nothing vouches for it: time goes on from " +
             render_utc(start.begin) +
             ", no hold ends and no window begins by it; if the clock is right: " + remedy;
    case ClockTrust::behind:
      return "the wall clock is " + away +
             " behind the newest entry of the store: time goes on from " + render_utc(start.begin) +
             ", and holds and windows go by that";
  }
  return "";
}

ClockSight look_at_clock() {
  ClockSight out;
  out.wall = read_wall();
  if (const auto text = process::read_file("/proc/sys/kernel/random/boot_id")) {
    out.boot_id = std::string(trim(*text));
  }
  out.uptime = read_uptime();
  out.disciplined = is_disciplined(out.wall);
  return out;
}

std::string render_mark(const ClockMark& mark) {
  return mark.boot_id + " " + std::to_string(mark.uptime.us) + " " + std::to_string(mark.at.us) +
         "\n";
}

std::optional<ClockMark> parse_mark(const std::string& text) {
  std::istringstream in(text);
  ClockMark out;
  if (!(in >> out.boot_id >> out.uptime.us >> out.at.us)) return std::nullopt;
  return out;
}

}  // namespace tundish
