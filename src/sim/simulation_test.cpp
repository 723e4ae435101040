// 200 seeds, a crash at every hook, exact replay, and planted bugs that must be found.
#include "sim/simulation.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "base/log.hpp"
#include "sim/catalogues.hpp"

namespace tundish::sim {
namespace {

constexpr std::uint64_t seeds = 200;
constexpr std::uint64_t replay_every = 20;

void quiet(LogLevel, std::string_view, const std::vector<LogField>&) {}

struct Catalogues {
  Result<XidCatalogue> xids = load_xids(std::string(TUNDISH_SOURCE_DIR) + "/catalog");
  Result<RemediationPolicy> policy = load_policy(std::string(TUNDISH_SOURCE_DIR) + "/catalog");
};

const Catalogues& catalogues() {
  static const Catalogues loaded;
  return loaded;
}

SimReport run(SimOptions options) {
  set_log_sink(quiet);
  options.catalogue = &*catalogues().xids;
  options.policy = &*catalogues().policy;
  return run_simulation(options);
}

std::string told(const SimReport& report) {
  std::string out;
  for (const auto& fault : report.broken) out += "  " + fault + "\n";
  return out;
}

TEST(simulation, every_rule_holds_in_200_seeds) {
  int incidents = 0, crashes = 0, rma = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto report = run(options_of_seed(seed));
    EXPECT_TRUE(report.broken.empty())
        << "seed " << seed << ", replay with: ./dev sim " << seed << "\n"
        << told(report);
    incidents += report.incidents;
    crashes += report.crashes;
    rma += report.rma;
  }
  // Seeds in which nothing happens would hold every rule.
  EXPECT_GT(incidents, 500);
  EXPECT_GT(crashes, 100);
  EXPECT_GT(rma, 50);
}

TEST(simulation, a_seed_replays_exactly) {
  for (std::uint64_t seed = replay_every; seed <= seeds; seed += replay_every) {
    const auto first = run(options_of_seed(seed));
    const auto second = run(options_of_seed(seed));
    EXPECT_EQ(first.digest, second.digest) << "seed " << seed;
    EXPECT_EQ(first.end_state, second.end_state) << "seed " << seed;
  }
  EXPECT_NE(run(options_of_seed(1)).digest, run(options_of_seed(2)).digest);
}

TEST(simulation, a_crash_at_any_hook_leads_to_the_same_end) {
  const auto whole = run(script_options());
  ASSERT_TRUE(whole.broken.empty()) << told(whole);
  for (const auto& [hook, times] : whole.hooks) {
    for (int nth = 1; nth <= std::min(times, 2); ++nth) {
      auto options = script_options();
      options.crash_at = hook;
      options.crash_nth = nth;
      const auto report = run(options);
      const std::string where = hook + " number " + std::to_string(nth);
      EXPECT_TRUE(report.crash_hit) << where;
      EXPECT_TRUE(report.broken.empty()) << where << "\n" << told(report);
      EXPECT_EQ(report.end_state, whole.end_state) << where;
    }
  }
}

/// Words that follow `before` in the controllers' sources.
void collect(const std::string& text, const std::string& before, const std::string& after,
             std::set<std::string>& out) {
  for (auto at = text.find(before); at != std::string::npos; at = text.find(before, at + 1)) {
    std::size_t begin = at + before.size();
    while (begin < text.size() && std::isspace(static_cast<unsigned char>(text[begin]))) ++begin;
    const auto end = text.find(after, begin);
    if (end != std::string::npos) out.insert(text.substr(begin, end - begin));
  }
}

TEST(simulation, the_script_visits_every_hook_that_the_controllers_have) {
  const auto hooks = run(script_options()).hooks;
  std::set<std::string> operations, acts;
  const std::filesystem::path root = std::string(TUNDISH_SOURCE_DIR) + "/src/control";
  for (const auto& file : std::filesystem::recursive_directory_iterator(root)) {
    if (file.path().extension() != ".cpp") continue;
    // An import is a person's call: refused or done, with no act behind it.
    if (file.path().string().find("/inventory/") != std::string::npos) continue;
    std::ifstream in(file.path());
    std::ostringstream text;
    text << in.rdbuf();
    collect(text.str(), "operations.push_back(", "(", operations);
    collect(text.str(), "action.name = \"", "\"", acts);
  }
  // Only policies that cannot be proved ask for it; replay_test.cpp lives through those.
  operations.erase("override_others");
  // Nothing breaks by order in the simulator.
  operations.erase("end_drills");
  ASSERT_GT(operations.size(), 15u);
  ASSERT_GT(acts.size(), 3u);
  for (const auto& name : operations) {
    EXPECT_TRUE(hooks.contains("op:" + name)) << "no crash was tried at operation " << name;
  }
  // Acts on switches that take configuration, and on a fabric that a person changed; the simulated
  // ones are flat, and nobody changes them. The drivers are killed in such acts on the real engines
  // by tests/netns/{frr,opensm}_driver.sh.
  for (const char* elsewhere : {"update_port", "restore_switch", "restore_fabric"}) {
    acts.erase(elsewhere);
  }
  for (const auto& name : acts) {
    for (const char* end : {":start", ":end"}) {
      EXPECT_TRUE(hooks.contains("act:" + name + end)) << "no crash was tried at act " << name;
    }
  }
  for (const auto& [name, state] : catalogues().policy->states) {
    if (state.action.empty() || state.final) continue;
    EXPECT_TRUE(hooks.contains("act:" + state.action + ":start")) << state.action;
  }
}

TEST(simulation, every_planted_bug_is_found) {
  const auto names = enum_names(Bug{});
  for (std::size_t number = 1; number < names.size(); ++number) {
    bool found = false;
    for (std::uint64_t seed = 1; seed <= seeds && !found; ++seed) {
      auto options = options_of_seed(seed);
      options.bug = static_cast<Bug>(number);
      found = !run(options).broken.empty();
    }
    EXPECT_TRUE(found) << "bug " << number << " (" << names[number] << ") goes unseen";
  }
}

}  // namespace
}  // namespace tundish::sim
