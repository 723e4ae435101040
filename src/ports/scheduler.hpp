#pragma once
#include <functional>

#include "base/instant.hpp"

namespace tundish {

/// The only source of time of the core. One thread runs every task.
class Scheduler {
 public:
  virtual ~Scheduler() = default;
  virtual Instant now() const = 0;
  /// Runs `task` on the loop thread at `at` or, when that has passed, as soon as possible.
  /// Never runs it before this call returns.
  virtual void at(Instant at, std::function<void()> task) = 0;
};

}  // namespace tundish
