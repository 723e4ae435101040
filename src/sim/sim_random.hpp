#pragma once
#include <random>

#include "base/instant.hpp"

#include "ports/random.hpp"

namespace tundish::sim {

/// mt19937_64 is specified bit for bit; std's distributions are not, so none is used.
class SimRandom final : public Random {
 public:
  explicit SimRandom(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t next() override { return engine_(); }
  bool chance(int per_mille) { return below(1000) < static_cast<std::uint64_t>(per_mille); }
  Duration between(Duration low, Duration high) {
    return {low.us + static_cast<std::int64_t>(
                         below(static_cast<std::uint64_t>(high.us - low.us + 1)))};
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace tundish::sim
