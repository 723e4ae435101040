#pragma once
// The project clock of the daemon: begun with care, and brought up to the wall clock once a time
// service or a person vouches for that.
#include <string>

#include "runtime/clock_start.hpp"
#include "runtime/net/loop.hpp"

namespace tundish::tundishd {

class StartClock {
 public:
  /// `state_dir` holds the mark, and the file by which a person believes the clock.
  StartClock(net::Loop& loop, Instant newest, std::string state_dir);
  ~StartClock();

  /// Looks from time to time whether the doubt is over, and keeps the mark.
  void watch();
  /// For the status; empty: nothing is wrong.
  std::string note() const { return clock_note(start_, "touch " + believed_file()); }

 private:
  std::string believed_file() const { return state_dir_ + "/believe-clock"; }
  std::string mark_file() const { return state_dir_ + "/clock"; }
  void keep_mark() const;
  void settle();

  net::Loop& loop_;
  std::string state_dir_;
  ClockStart start_;
  Instant kept_at_;
};

}  // namespace tundish::tundishd
