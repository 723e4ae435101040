#pragma once
// Draws that are the same on every standard library: std::*_distribution is not.
#include <cmath>
#include <cstdint>
#include <random>

namespace tundish::control::placement {

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : engine_(seed) {}
  /// 0 .. bound - 1. The bias of the modulo is below 2^-50 for the small bounds of tests.
  int below(int bound) {
    return static_cast<int>(engine_() % static_cast<std::uint64_t>(bound));
  }
  bool percent(int chance) { return below(100) < chance; }
  /// In (0, 1).
  double unit() { return (static_cast<double>(engine_() >> 11) + 0.5) * 0x1p-53; }
  double exponential(double mean) { return -mean * std::log(unit()); }

 private:
  std::mt19937_64 engine_;
};

}  // namespace tundish::control::placement
