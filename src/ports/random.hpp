#pragma once
#include <cstdint>
#include <string>

namespace tundish {

/// Injected randomness: seeded in the simulator, from the kernel in production.
class Random {
 public:
  virtual ~Random() = default;
  virtual std::uint64_t next() = 0;
  /// Uniform in [0, limit); limit > 0. Bias below 2^-40 for the limits used here.
  std::uint64_t below(std::uint64_t limit) { return next() % limit; }
  /// Lower-case hex of `bytes` random bytes: tokens, keys.
  std::string hex(int bytes) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string out;
    for (int i = 0; i < bytes; ++i) {
      const std::uint64_t r = next();
      out += digits[(r >> 20) & 15];
      out += digits[(r >> 40) & 15];
    }
    return out;
  }
};

}  // namespace tundish
