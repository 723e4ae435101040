// tundish-sim: the shipped controllers over a simulated world. Prints the seed that broke a rule.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "base/log.hpp"
#include "codec/json.hpp"
#include "control/verify/verify.hpp"
#include "sim/catalogues.hpp"
#include "sim/replay.hpp"
#include "sim/simulation.hpp"

namespace {

struct Flags {
  std::uint64_t seed = 1;
  int seeds = 1;
  bool verbose = false;
  std::string catalog = TUNDISH_SOURCE_CATALOG;
  std::string crash_at;
  int crash_nth = 1;
  int bug = 0;
  bool script = false;
  int quiet_days = 0;
  std::string policy;  ///< replay its counterexamples instead
  std::string stories;  ///< of this file, as `tundish policy verify -o json` prints them
};

void usage() {
  std::printf(
      "usage: tundish-sim [--seed N] [--seeds COUNT] [--catalog DIR] [--bug N]\n"
      "                   [--script [--crash-at HOOK [--nth N]]] [--quiet-days D] [--verbose]\n"
      "                   [--policy FILE [--replay FILE]]\n"
      "Runs the shipped controllers over a simulated data centre, each seed as CI runs it.\n"
      "--script: the fixed story that visits every hook; --crash-at: it dies exactly there;\n"
      "--bug: plants a known fault; --quiet-days: a fleet at rest, for speed.\n"
      "--policy: lives through every counterexample that the verifier finds for FILE; 0: none, 3:\n"
      "they were reproduced, 1: one was not.\n"
      "--replay: the counterexamples in this file instead, as `tundish policy verify -o json`\n"
      "prints them.\n"
      "Exit 0: every rule held; 3: one was broken (its seed is printed); 2: bad flag.\nBugs:");
  int number = 0;
  for (const auto name : enum_names(tundish::sim::Bug{})) {
    std::printf(" %d %.*s", number++, static_cast<int>(name.size()), name.data());
  }
  std::printf("\n");
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
    } else if (flag == "--bug" && more) {
      flags.bug = std::atoi(argv[++i]);
      const auto bugs = enum_names(tundish::sim::Bug{}).size();
      if (flags.bug < 0 || flags.bug >= static_cast<int>(bugs)) return false;
    } else if (flag == "--quiet-days" && more) {
      flags.quiet_days = std::atoi(argv[++i]);
    } else if (flag == "--policy" && more) {
      flags.policy = argv[++i];
    } else if (flag == "--replay" && more) {
      flags.stories = argv[++i];
    } else if (flag == "--script") {
      flags.script = true;
    } else if (flag == "--verbose") {
      flags.verbose = true;
    } else {
      return false;
    }
  }
  return flags.stories.empty() || !flags.policy.empty();
}

void quiet(tundish::LogLevel, std::string_view, const std::vector<tundish::LogField>&) {}

tundish::sim::SimOptions options_for(const Flags& flags, std::uint64_t seed,
                                     const tundish::XidCatalogue& xids,
                                     const tundish::RemediationPolicy& policy) {
  using namespace tundish;
  auto options = flags.script ? sim::script_options() : sim::options_of_seed(seed);
  options.seed = seed;
  options.crash_at = flags.crash_at;
  options.crash_nth = flags.crash_nth;
  options.bug = static_cast<sim::Bug>(flags.bug);
  if (flags.quiet_days > 0) {
    options = sim::SimOptions{};
    options.seed = seed;
    options.faults = options.decoys = options.crashes = 0;
    options.length = hours(24LL * flags.quiet_days);
    options.pace = sim::Pace::lazy;
  }
  options.tell = flags.verbose;
  options.catalogue = &xids;
  options.policy = &policy;
  return options;
}

tundish::Result<tundish::control::verify::Verification> find_stories(
    const Flags& flags, const tundish::RemediationPolicy& policy,
    const tundish::XidCatalogue& xids) {
  using namespace tundish;
  if (flags.stories.empty()) {
    const auto rows = TRY(sim::load_threshold_rows(flags.catalog));
    return control::verify::verify({policy, control::verify::faults_of(xids), rows});
  }
  std::ifstream in(flags.stories);
  std::ostringstream text;
  if (!in || !(text << in.rdbuf())) {
    return make_error(Code::not_found, flags.stories + " cannot be read");
  }
  control::verify::Verification out;
  TRY_VOID(parse_json(text.str(), out));
  return out;
}

/// Every story of a policy that is not proved, with the shipped controllers.
int replay_stories(const Flags& flags, const tundish::XidCatalogue& xids) {
  using namespace tundish;
  const auto policy = sim::load_policy_file(flags.policy);
  const auto found = policy ? find_stories(flags, *policy, xids)
                            : Result<control::verify::Verification>(policy.error());
  if (!found) {
    std::fprintf(stderr, "tundish-sim: %s\n", found.error().message().c_str());
    return 1;
  }
  std::printf("%s", control::verify::render(*found).c_str());
  int missed = 0;
  std::size_t number = 0;
  for (const auto& story : found->refuted) {
    // A story may take half a minute: whoever waits sees which one is lived through.
    std::fflush(stdout);
    std::fprintf(stderr, "replay %zu of %zu: %s ...\n", ++number, found->refuted.size(),
                 story.property.c_str());
    const auto report = sim::replay(*policy, xids, story);
    const bool lived = report && report->is_reproduced;
    const bool untold = !report && report.error().code == Code::unsupported;
    missed += lived || untold ? 0 : 1;
    std::printf("replay %s: %s: %s\n", story.property.c_str(),
                lived    ? "reproduced"
                : untold ? "nothing to live through"
                         : "NOT REPRODUCED",
                report ? report->end.c_str() : report.error().message().c_str());
  }
  if (missed > 0) return 1;
  return found->refuted.empty() ? 0 : 3;
}

void print(const tundish::sim::SimReport& report, std::uint64_t seed, double ms, bool verbose) {
  constexpr double year_s = 365.25 * 86400;
  const double years =
      report.nodes * static_cast<double>(report.simulated.us) / 1e6 / year_s;
  std::printf("seed %llu: %s, %lld events, %d incidents (%d returned, %d RMA), %d crashes, "
              "%s simulated in %.0f ms (%.3f node-years/s), digest %s\n",
              static_cast<unsigned long long>(seed), report.broken.empty() ? "ok" : "BROKEN",
              static_cast<long long>(report.events), report.incidents, report.resolved,
              report.rma, report.crashes, tundish::render_duration(report.simulated).c_str(), ms,
              years / ms * 1000, report.digest.c_str());
  for (const auto& fault : report.broken) std::printf("  %s\n", fault.c_str());
  if (!report.broken.empty()) {
    std::printf("  replay: ./dev sim %llu\n", static_cast<unsigned long long>(seed));
  }
  if (verbose) std::printf("%s\n", report.end_state.c_str());
}

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
  if (!flags.policy.empty()) return replay_stories(flags, *xids);
  int broken = 0;
  for (std::uint64_t seed = flags.seed; seed < flags.seed + static_cast<std::uint64_t>(flags.seeds);
       ++seed) {
    const auto options = options_for(flags, seed, *xids, *policy);
    const auto begin = std::chrono::steady_clock::now();
    const auto report = sim::run_simulation(options);
    const auto took = std::chrono::steady_clock::now() - begin;
    const double ms = std::chrono::duration<double, std::milli>(took).count();
    print(report, seed, ms, flags.verbose);
    broken += report.broken.empty() ? 0 : 1;
  }
  return broken == 0 ? 0 : 3;
}
