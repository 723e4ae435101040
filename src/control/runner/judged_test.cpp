// A repair is proved by what showed the fault, or not at all.
#include "control/runner/judged.hpp"

#include <gtest/gtest.h>

namespace tundish::control {
namespace {

Verdict says(const std::string& check, VerdictState state) {
  Verdict out;
  out.check = check;
  out.state = state;
  return out;
}

Incident opened_by(const std::string& check) {
  Incident out;
  out.fault = "checks failed: " + check;
  return out;
}

TEST(Judged, silence_of_the_check_that_failed_is_no_pass) {
  const Incident incident = opened_by("dram_ecc");
  const auto usual = {says("ecc", VerdictState::ok), says("gpu_count", VerdictState::ok)};
  const Judged silent = judge_proof(&incident, usual);
  EXPECT_EQ(silent.outcome, StepOutcome::timeout) << "neither passed nor failed";
  ASSERT_EQ(silent.verdicts.size(), 3U);
  EXPECT_EQ(silent.verdicts.back().check, "dram_ecc");
  EXPECT_EQ(silent.verdicts.back().state, VerdictState::unknown);
  auto all = std::vector<Verdict>(usual);
  all.push_back(says("dram_ecc", VerdictState::ok));
  EXPECT_EQ(judge_proof(&incident, all).outcome, StepOutcome::done);
  all.back().state = VerdictState::fail;
  EXPECT_EQ(judge_proof(&incident, all).outcome, StepOutcome::failed);
}

TEST(Judged, what_it_was_taken_out_for_is_a_fail_while_it_stands) {
  const Incident incident = opened_by("gpu_throttle");
  const auto slow = {says("gpu_count", VerdictState::ok), says("gpu_throttle", VerdictState::warn)};
  const Judged stands = judge_proof(&incident, slow);
  EXPECT_EQ(stands.outcome, StepOutcome::failed) << "unknown would be looked at for ever";
  EXPECT_EQ(stands.verdicts.back().state, VerdictState::fail);
  EXPECT_EQ(judge_proof(nullptr, slow).outcome, StepOutcome::done) << "elsewhere only a warning";
}

TEST(Judged, a_fault_without_a_check_needs_what_every_node_needs) {
  const Incident incident;
  EXPECT_EQ(judge_proof(&incident, {says("ecc", VerdictState::ok)}).outcome, StepOutcome::done);
  EXPECT_EQ(judge_proof(&incident, {}).outcome, StepOutcome::timeout);
  EXPECT_EQ(judge_proof(nullptr, {says("ecc", VerdictState::unknown)}).outcome,
            StepOutcome::timeout);
}

}  // namespace
}  // namespace tundish::control
