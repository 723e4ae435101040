#pragma once
// tundishd in the lab's root network, started again after a crash like by a service manager.
#include <functional>
#include <string>

#include "lab/topology.hpp"
#include "runtime/net/loop.hpp"

namespace tundish::lab {

/// Lives on the loop thread.
class DaemonKeeper {
 public:
  DaemonKeeper(net::Loop& loop, LabSpec spec) : loop_(loop), spec_(std::move(spec)) {}

  Result<> start();
  Result<> kill_now();  ///< SIGKILL; it comes back by itself
  /// SIGTERM, then SIGKILL; `done` runs when it is gone, and it stays gone.
  void stop(std::function<void()> done);
  void poll();
  int pid() const { return pid_; }
  int starts() const { return starts_; }
  /// Why it does not stay up: the last line that it wrote; empty: it stays.
  const std::string& failure() const { return failure_; }

 private:
  Duration pause() const;

  net::Loop& loop_;
  LabSpec spec_;
  bool wanted_ = false;
  int pid_ = 0;
  int starts_ = 0;
  Instant start_at_;
  Instant started_at_;
  bool killed_ = false;  ///< by our own hand
  std::string failure_;
  int short_lives_ = 0;  ///< one after the other
};

}  // namespace tundish::lab
