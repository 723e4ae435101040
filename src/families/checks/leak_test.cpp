#include "families/checks/check.hpp"

#include <gtest/gtest.h>

namespace tundish::checks {
namespace {

LeakDetector named(const std::string& name, const std::string& state) {
  LeakDetector out;
  out.name = name;
  out.state = state;
  out.presence = "Enabled";
  out.health = "OK";
  return out;
}

Verdicts judged(std::vector<LeakDetector> detectors) {
  CheckSample sample;
  sample.now = Instant{1'700'000'000'000'000};
  sample.leaks = std::move(detectors);
  return judge_bmc(sample);
}

TEST(leak, every_state_of_the_schema_has_its_verdict) {
  using S = VerdictState;
  for (const auto& [state, expected] :
       std::map<std::string, S>{{"OK", S::ok},
                                {"Warning", S::warn},
                                {"Critical", S::fail},
                                {"Unavailable", S::unknown},
                                {"", S::unknown},
                                {"Wet", S::unknown}}) {
    const auto verdicts = judged({named("1/A", "OK"), named("1/B", state)});
    ASSERT_EQ(verdicts.size(), 1u) << state;
    EXPECT_EQ(verdicts[0].state, expected) << state;
    EXPECT_EQ(verdicts[0].watches, Resource::cooling);
    EXPECT_EQ(verdicts[0].locality, Locality::device_local);
  }
}

TEST(leak, a_detector_that_is_broken_has_seen_nothing) {
  LeakDetector broken = named("1/A", "OK");
  broken.health = "Critical";
  EXPECT_EQ(judged({broken})[0].state, VerdictState::unknown);
  broken.state = "Critical";
  EXPECT_EQ(judged({broken})[0].state, VerdictState::fail) << "wet is wet";
  LeakDetector off = named("1/A", "OK");
  off.presence = "Disabled";
  EXPECT_EQ(judged({off})[0].state, VerdictState::unknown);
  off.presence = "Absent";
  EXPECT_EQ(judged({off})[0].state, VerdictState::ok);
}

TEST(leak, every_wet_detector_is_named) {
  const auto verdicts = judged({named("1/A", "Critical"), named("1/B", "Warning")});
  ASSERT_EQ(verdicts.size(), 2u);
  EXPECT_EQ(verdicts[0].device, "1/A");
  EXPECT_EQ(verdicts[1].device, "1/B");
}

TEST(leak, a_bmc_that_does_not_answer_is_unknown_and_one_without_detectors_is_well) {
  CheckSample sample;
  sample.faults["leaks"] = "no answer";
  const auto unread = judge_bmc(sample);
  ASSERT_EQ(unread.size(), 1u);
  EXPECT_EQ(unread[0].state, VerdictState::unknown);
  EXPECT_EQ(unread[0].reason, "the BMC: no answer");
  EXPECT_EQ(judged({})[0].state, VerdictState::ok);
}

TEST(leak, no_agent_runs_it) {
  for (const auto& verdict : judge_all(CheckSample{}, {"*"})) EXPECT_NE(verdict.check, "leak");
}

}  // namespace
}  // namespace tundish::checks
