// A fixed piece of arithmetic, again and again, pinned to one core: jitter_bench CORE SECONDS.
// What stretches it is whatever else ran there.
#include <sched.h>

#include <cstdint>
#include <cstdlib>

#include "bench/figures.hpp"

namespace {

volatile std::uint64_t sink;

void work(int rounds) {
  std::uint64_t x = 88172645463325252ull;
  for (int i = 0; i < rounds; ++i) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
  }
  sink = x;
}

/// Rounds that take one millisecond when nothing disturbs.
int calibrate() {
  constexpr int rounds = 200000;
  double best = 1;
  for (int i = 0; i < 50; ++i) {
    const double start = tundish::bench::wall_s();
    work(rounds);
    best = std::min(best, tundish::bench::wall_s() - start);
  }
  return static_cast<int>(rounds * 0.001 / best);
}

}  // namespace

int main(int count, char** arguments) {
  using namespace tundish::bench;
  const int core = count > 1 ? std::atoi(arguments[1]) : 0;
  const double seconds = count > 2 ? std::atof(arguments[2]) : 20;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(core), &set);
  if (::sched_setaffinity(0, sizeof set, &set) != 0) return 1;
  const int rounds = calibrate();
  std::vector<double> took_ms;
  const double end = wall_s() + seconds;
  for (double start = wall_s(); start < end;) {
    work(rounds);
    const double now = wall_s();
    took_ms.push_back(1000 * (now - start));
    start = now;
  }
  print_figure("jitter_p50_ms", quantile(took_ms, 0.5));
  print_figure("jitter_p99_ms", quantile(took_ms, 0.99));
  print_figure("jitter_p999_ms", quantile(took_ms, 0.999));
  print_figure("jitter_max_ms", quantile(took_ms, 1));
  return 0;
}
