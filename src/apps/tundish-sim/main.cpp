// tundish-sim: the shipped controllers over a simulated world. Prints the seed that broke a rule.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/log.hpp"
#include "sim/catalogues.hpp"
#include "sim/simulation.hpp"

namespace {

struct Flags {
  std::uint64_t seed = 1;
  int seeds = 1;
  bool verbose = false;
  std::string catalog = TUNDISH_SOURCE_CATALOG;
  std::string crash_at;
  int crash_nth = 1;
};

void usage() {
  std::printf(
      "usage: tundish-sim [--seed N] [--seeds COUNT] [--catalog DIR] [--crash-at HOOK [--nth N]]\n"
      "                   [--verbose]\n"
      "Runs the shipped controllers over a simulated data centre. Exit 0: every rule held;\n"
      "3: one was broken (the seed that shows it is printed); 2: bad flag.\n");
}

bool parse(int argc, char** argv, Flags& flags) {
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    const bool more = i + 1 < argc;
    if (flag == "--seed" && more) {
      flags.seed = std::strtoull(argv[++i], nullptr, 10);
    } else if (flag == "--seeds" && more) {
      flags.seeds = std::atoi(argv[++i]);
    } else if (flag == "--catalog" && more) {
      flags.catalog = argv[++i];
    } else if (flag == "--crash-at" && more) {
      flags.crash_at = argv[++i];
    } else if (flag == "--nth" && more) {
      flags.crash_nth = std::atoi(argv[++i]);
    } else if (flag == "--verbose") {
      flags.verbose = true;
    } else {
      return false;
    }
  }
  return true;
}

void quiet(tundish::LogLevel, std::string_view, const std::vector<tundish::LogField>&) {}

}  // namespace

int main(int argc, char** argv) {
  using namespace tundish;
  Flags flags;
  if (!parse(argc, argv, flags)) {
    usage();
    return 2;
  }
  const auto xids = sim::load_xids(flags.catalog);
  const auto policy = sim::load_policy(flags.catalog);
  if (!xids || !policy) {
    std::fprintf(stderr, "tundish-sim: %s\n",
                 (!xids ? xids.error() : policy.error()).message().c_str());
    return 1;
  }
  if (!flags.verbose) set_log_sink(quiet);
  int broken = 0;
  for (std::uint64_t seed = flags.seed; seed < flags.seed + static_cast<std::uint64_t>(flags.seeds);
       ++seed) {
    sim::SimOptions options;
    options.seed = seed;
    options.crash_at = flags.crash_at;
    options.crash_nth = flags.crash_nth;
    options.cut_agents = seed % 3 == 0;
    options.tell = flags.verbose;
    options.catalogue = &*xids;
    options.policy = &*policy;
    const auto begin = std::chrono::steady_clock::now();
    const auto report = sim::run_simulation(options);
    const auto took = std::chrono::steady_clock::now() - begin;
    const double ms = std::chrono::duration<double, std::milli>(took).count();
    std::printf("seed %llu: %s, %lld events, %d incidents (%d returned, %d RMA), %d crashes, "
                "%s simulated in %.0f ms, digest %s\n",
                static_cast<unsigned long long>(seed), report.broken.empty() ? "ok" : "BROKEN",
                static_cast<long long>(report.events), report.incidents, report.resolved,
                report.rma, report.crashes, render_duration(report.simulated).c_str(), ms,
                report.digest.c_str());
    for (const auto& fault : report.broken) std::printf("  %s\n", fault.c_str());
    if (flags.verbose) std::printf("  end: %s\n", report.end_state.c_str());
    broken += report.broken.empty() ? 0 : 1;
  }
  return broken == 0 ? 0 : 3;
}
