#pragma once
// What the bench programs share: quantiles, clocks, and one figure per line for run.py.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <vector>

namespace tundish::bench {

inline double quantile(std::vector<double> values, double part) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(part * static_cast<double>(values.size() - 1))];
}

inline double wall_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// CPU seconds of this process so far: unlike wall time it does not grow with the load of others.
inline double cpu_s() {
  timespec at{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
  return static_cast<double>(at.tv_sec) + static_cast<double>(at.tv_nsec) / 1e9;
}

inline void print_figure(const char* name, double value) {
  std::printf("{\"figure\": \"%s\", \"value\": %.6f}\n", name, value);
  std::fflush(stdout);
}

}  // namespace tundish::bench
