#pragma once
#include <csignal>

#include "base/instant.hpp"

namespace tundish::edge::cli {

/// While it lives, Ctrl-C does not end this thread but is seen by pause(): a command that waits
/// can say what it leaves behind. Blocks the signal and asks for it, so no handler and no global.
class Interruptible {
 public:
  Interruptible();
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;
  /// Sleeps; true as soon as a person wants out.
  bool pause(Duration span);

 private:
  sigset_t signals_;
  sigset_t before_;
  bool seen_ = false;
};

}  // namespace tundish::edge::cli
