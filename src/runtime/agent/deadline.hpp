#pragma once
#include <algorithm>
#include <chrono>

#include "base/instant.hpp"

namespace tundish::agent {

/// Time that an act may still take, on a clock that nobody steps.
class Deadline {
 public:
  explicit Deadline(Duration limit)
      : end_(std::chrono::steady_clock::now() + std::chrono::microseconds(limit.us)) {}
  /// At least 10 ms, so that a step that is due fails by itself and says what it was.
  Duration left() const {
    const auto us = std::chrono::duration_cast<std::chrono::microseconds>(
                        end_ - std::chrono::steady_clock::now()).count();
    return std::max(microseconds(us), milliseconds(10));
  }
  Duration at_most(Duration limit) const { return std::min(limit, left()); }

 private:
  std::chrono::steady_clock::time_point end_;
};

}  // namespace tundish::agent
