// Every counterexample is lived through by the shipped controllers, and sticks where its story
// says: of the known-bad policies, and of ways to break the default one.
#include "sim/replay.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/log.hpp"
#include "codec/json.hpp"
#include "control/verify/story.hpp"
#include "sim/catalogues.hpp"

namespace tundish::sim {
namespace {

using control::verify::Refutation;
using control::verify::ThresholdRow;
using control::verify::Verification;

void quiet(LogLevel, std::string_view, const std::vector<LogField>&) {}

const std::string catalog = std::string(TUNDISH_SOURCE_DIR) + "/catalog";

const XidCatalogue& xids() {
  static const auto loaded = load_xids(catalog);
  EXPECT_TRUE(loaded);
  return *loaded;
}

std::vector<std::string> known_bad_files() {
  std::vector<std::string> out;
  for (const auto& file : std::filesystem::directory_iterator(catalog + "/policies/known-bad")) {
    const std::string path = file.path().string();
    if (path.find(".fixed.") == std::string::npos) out.push_back(path);
  }
  std::sort(out.begin(), out.end());
  return out;
}

Verification verified(const RemediationPolicy& policy, std::vector<ThresholdRow> rows = {}) {
  const auto found =
      control::verify::verify({policy, control::verify::faults_of(xids()), std::move(rows)});
  EXPECT_TRUE(found) << (found ? "" : found.error().message());
  return found ? *found : Verification{};
}

RemediationPolicy shipped() {
  const auto policy = load_policy(catalog);
  EXPECT_TRUE(policy);
  return *policy;
}

const Refutation* find(const Verification& found, const std::string& property) {
  for (const auto& refutation : found.refuted) {
    if (refutation.property == property) return &refutation;
  }
  return nullptr;
}

void expect_lived(const RemediationPolicy& policy, const Refutation& story) {
  const auto report = replay(policy, xids(), story);
  ASSERT_TRUE(report) << policy.name << " " << story.property << ": " << report.error().message();
  EXPECT_TRUE(report->is_reproduced) << policy.name << " " << story.property << ": " << report->end
                                     << " (" << story.verdict << ")";
}

class ReplayTest : public testing::Test {
 protected:
  ReplayTest() { set_log_sink(quiet); }
};

TEST_F(ReplayTest, every_story_of_every_known_bad_policy_is_reproduced) {
  int lived = 0;
  for (const auto& file : known_bad_files()) {
    const auto policy = load_policy_file(file);
    ASSERT_TRUE(policy) << policy.error().message();
    for (const auto& story : verified(*policy).refuted) {
      expect_lived(*policy, story);
      ++lived;
    }
  }
  EXPECT_GE(lived, 45);
}

TEST_F(ReplayTest, a_fault_that_nothing_handles_is_lived) {
  RemediationPolicy policy = shipped();
  std::erase_if(policy.states.at("choose").next,
                [](const PolicyEdge& edge) { return edge.go == "rma"; });
  const auto found = verified(policy);
  const Refutation* story = find(found, "catalogue");
  ASSERT_TRUE(story) << control::verify::render(found);
  expect_lived(policy, *story);
  // The whole policy does first what that fault asks for: nothing of the story is seen.
  const auto whole = replay(shipped(), xids(), *story);
  ASSERT_TRUE(whole);
  EXPECT_FALSE(whole->is_reproduced) << whole->end;
}

TEST_F(ReplayTest, a_state_that_nothing_leads_to_and_a_guard_without_a_fault_are_lived) {
  RemediationPolicy lonely = shipped();
  lonely.states["lonely"].next.push_back({{}, 60, "choose"});
  const auto state = verified(lonely);
  ASSERT_TRUE(find(state, "catalogue")) << control::verify::render(state);
  EXPECT_EQ(find(state, "catalogue")->about, "lonely");
  expect_lived(lonely, *find(state, "catalogue"));
  RemediationPolicy guarded = shipped();
  auto& edges = guarded.states.at("choose").next;
  edges.insert(edges.begin(), {{"fault:xid 9999"}, 0, "rma", Escalation::log});
  const auto guard = verified(guarded);
  ASSERT_TRUE(find(guard, "catalogue"));
  EXPECT_EQ(find(guard, "catalogue")->about, "choose.0");
  expect_lived(guarded, *find(guard, "catalogue"));
  // An edge that is needed is no such guard.
  Refutation wrong = *find(guard, "catalogue");
  wrong.about = "choose.1";
  const auto other = replay(guarded, xids(), wrong);
  ASSERT_TRUE(other);
  EXPECT_FALSE(other->is_reproduced) << other->end;
}

TEST_F(ReplayTest, a_limit_of_the_catalogue_that_says_the_wrong_thing_is_lived) {
  const auto row = [](LimitSide side, std::int64_t limit) {
    return ThresholdRow{"memory_bandwidth.hbm", "h200_sxm",
                        {side, limit, 0, 4'800'000, "mbyte_per_s"}};
  };
  // A thousandth of what was meant passes what is broken; above the nameplate fails what is sound.
  for (const auto& bad : {row(LimitSide::below, 2333), row(LimitSide::below, 4'800'001),
                          row(LimitSide::above, 4'800'000)}) {
    const auto found = verified(shipped(), {bad});
    ASSERT_EQ(found.refuted.size(), 1u) << control::verify::render(found);
    EXPECT_FALSE(found.refuted[0].story.empty());
    expect_lived(shipped(), found.refuted[0]);
  }
  Refutation story = verified(shipped(), {row(LimitSide::below, 2333)}).refuted.at(0);
  story.reading->threshold.limit = 2'333'000;  // as it was meant
  const auto mended = replay(shipped(), xids(), story);
  ASSERT_TRUE(mended);
  EXPECT_FALSE(mended->is_reproduced) << mended->end;
}

TEST_F(ReplayTest, what_is_left_under_a_hold_was_never_tried) {
  RemediationPolicy policy = shipped();
  auto& edges = policy.states.at("reset").next;
  edges.insert(edges.begin(), {{"new_witness"}, 0, "choose", Escalation::log});
  const auto found = verified(policy);
  const Refutation* story = find(found, "deadline");
  ASSERT_TRUE(story) << control::verify::render(found);
  EXPECT_NE(story->verdict.find("left under a hold"), std::string::npos) << story->verdict;
  expect_lived(policy, *story);
}

TEST_F(ReplayTest, a_story_is_the_same_after_it_was_written_down) {
  const auto policy = load_policy_file(catalog + "/policies/known-bad/dcgm-h200.yaml");
  ASSERT_TRUE(policy);
  const auto found = verified(*policy);
  Verification read;
  ASSERT_TRUE(parse_json(render_json(found), read));
  ASSERT_EQ(read.refuted.size(), found.refuted.size());
  for (const auto& story : read.refuted) expect_lived(*policy, story);
}

}  // namespace
}  // namespace tundish::sim
