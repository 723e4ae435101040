#pragma once
// Whether the wall clock may be believed at a start. A clock that is a day ahead ends holds and
// begins maintenance windows that nobody meant, and the store keeps its time for good.
#include <optional>
#include <string>

#include "base/instant.hpp"
#include "base/result.hpp"

namespace tundish {

/// Two clocks at one moment, kept beside the store: the steady one is no wall clock's to move.
struct ClockMark {
  std::string boot_id;
  Duration uptime;
  Instant at;
};

struct ClockSight {
  Instant wall;
  Instant newest;  ///< entry of the store; unset: it is new
  std::optional<ClockMark> mark;
  std::string boot_id;
  Duration uptime;
  bool disciplined = false;  ///< the kernel keeps this very time by a time service
};

/// So much the time may have jumped before it is asked for evidence.
inline constexpr Duration clock_jump_least = hours(1);
/// So much it may be behind the store before that is told.
inline constexpr Duration clock_behind_least = minutes(1);

enum class ClockTrust {
  believed,
  ahead,  ///< nothing vouches for the time that would have passed: `begin` goes on from before
  behind  ///< time goes on from the newest entry, ahead of the wall clock
};

struct ClockStart {
  Instant begin;
  ClockTrust trust = ClockTrust::believed;
  Duration away;  ///< between the wall clock and `begin`
};

/// Pure. The mark of this boot and a time service are evidence, a wall clock alone is none.
ClockStart judge_clock(const ClockSight& seen);
/// For people; empty: it is believed. `remedy` is the command that believes it.
std::string clock_note(const ClockStart& start, const std::string& remedy);

/// Of this machine now; the time service's word counts only for the time that we read.
ClockSight look_at_clock();

std::string render_mark(const ClockMark& mark);
/// nullopt: it is no mark.
std::optional<ClockMark> parse_mark(const std::string& text);

}  // namespace tundish
