#include "model/ops/health_ops.hpp"

#include <gtest/gtest.h>

#include "model/ops/node_ops.hpp"

namespace tundish {
namespace {

Verdict says(const std::string& check, VerdictState state, const std::string& reason,
             const std::string& device = "") {
  Verdict verdict;
  verdict.check = check;
  verdict.state = state;
  verdict.reason = reason;
  verdict.device = device;
  return verdict;
}

class HealthOps : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(run(admit_node("n1", {})));
    id_ = registry_.find_named<Node>("n1")->id;
    ASSERT_TRUE(run(record_boot(id_, "boot1")));
  }
  Result<> run(const OperationPtr& operation) {
    now_ = now_ + seconds(1);
    Txn txn(registry_, now_, "test");
    const auto done = operation->perform(txn);
    if (!done) txn.undo();
    return done;
  }
  const Node& node() { return *registry_.find(id_); }
  void tell(HealthReport report) { ASSERT_TRUE(run(record_verdicts(id_, std::move(report)))); }
  static HealthReport report(std::int64_t seq, std::vector<Verdict> verdicts) {
    HealthReport out;
    out.boot_id = "boot1";
    out.seq = seq;
    out.complete = seq == 1 || seq == 5;
    out.verdicts = std::move(verdicts);
    return out;
  }

  Registry registry_;
  Instant now_{1000};
  NodeId id_;
};

using S = VerdictState;

TEST_F(HealthOps, what_the_bmc_shows_stands_whatever_the_agent_says) {
  const auto wet = says("leak", VerdictState::fail, "wet", "1/A");
  ASSERT_TRUE(run(record_bmc_verdicts(id_, {says("leak", VerdictState::ok, "dry"), wet})));
  ASSERT_EQ(node().status.bmc_verdicts.size(), 1u);
  const Instant since = node().status.bmc_verdicts[0].since;
  EXPECT_TRUE(since.is_set());
  tell(report(1, {}));
  ASSERT_TRUE(run(record_boot(id_, "boot2")));
  const auto shown = verdicts_at(node(), Instant{}, now_);
  EXPECT_EQ(shown.back().check, "leak");
  EXPECT_EQ(shown.back().state, VerdictState::fail) << "the agent is silent, the BMC is not";
  EXPECT_FALSE(is_bmc_news(node(), {wet}));
  const auto revision = registry_.revision();
  ASSERT_TRUE(run(record_bmc_verdicts(id_, {wet})));
  EXPECT_EQ(registry_.revision(), revision);
  ASSERT_TRUE(run(record_bmc_verdicts(id_, {says("leak", VerdictState::fail, "wetter", "1/A")})));
  EXPECT_EQ(node().status.bmc_verdicts[0].since, since);
  ASSERT_TRUE(run(record_bmc_verdicts(id_, {})));
  EXPECT_TRUE(node().status.bmc_verdicts.empty());
}

TEST_F(HealthOps, keeps_what_is_not_ok_with_the_time_since) {
  tell(report(1, {says("ecc", S::fail, "bad"), says("gpu_count", S::ok, "all there")}));
  ASSERT_EQ(node().status.verdicts.size(), 1U);
  const Instant since = node().status.verdicts[0].since;
  EXPECT_EQ(since, now_);
  tell(report(2, {says("ecc", S::fail, "worse")}));
  EXPECT_EQ(node().status.verdicts[0].reason, "worse");
  EXPECT_EQ(node().status.verdicts[0].since, since);  // it is bad since then
  tell(report(3, {says("ecc", S::warn, "better")}));
  EXPECT_EQ(node().status.verdicts[0].since, now_);
  tell(report(4, {says("ecc", S::ok, "good")}));
  EXPECT_TRUE(node().status.verdicts.empty());
}

TEST_F(HealthOps, devices_and_sources_are_told_apart) {
  Verdict other = says("ecc", S::fail, "bad", "0000:3b:00");
  other.source = "dcgm";
  tell(report(1, {says("ecc", S::fail, "bad", "0000:3b:00"), other,
                  says("ecc", S::fail, "bad", "0000:4b:00")}));
  EXPECT_EQ(node().status.verdicts.size(), 3U);
  tell(report(2, {says("ecc", S::ok, "", "0000:3b:00")}));
  EXPECT_EQ(node().status.verdicts.size(), 2U);
}

TEST_F(HealthOps, only_news_is_written) {
  tell(report(1, {says("ecc", S::fail, "bad")}));
  const auto revision = node().meta.revision;
  EXPECT_FALSE(is_news(node(), report(2, {says("ecc", S::fail, "bad")})));
  tell(report(2, {says("ecc", S::fail, "bad")}));
  EXPECT_EQ(node().meta.revision, revision);
  EXPECT_FALSE(is_news(node(), report(0, {says("ecc", S::ok, "")})));  // tells no verdicts
}

TEST_F(HealthOps, older_ones_and_those_of_another_boot_change_nothing) {
  tell(report(5, {says("ecc", S::fail, "bad")}));
  tell(report(4, {says("ecc", S::ok, "")}));
  EXPECT_EQ(node().status.verdicts.size(), 1U);
  HealthReport foreign = report(9, {says("ecc", S::ok, "")});
  foreign.boot_id = "boot0";
  tell(foreign);
  EXPECT_EQ(node().status.verdicts.size(), 1U);
}

TEST_F(HealthOps, a_boot_begins_anew) {
  tell(report(5, {says("ecc", S::fail, "bad")}));
  ASSERT_TRUE(run(record_boot(id_, "boot2")));
  const auto old = verdicts_at(node(), now_, now_);
  ASSERT_EQ(old.size(), 2U);
  EXPECT_EQ(old[0].state, S::unknown);
  HealthReport fresh = report(1, {says("nvlink_state", S::warn, "w")});
  fresh.boot_id = "boot2";
  fresh.complete = false;
  tell(fresh);  // changes of what nobody stored
  EXPECT_EQ(node().status.verdicts_boot, "boot1");
  fresh.complete = true;
  tell(fresh);
  ASSERT_EQ(node().status.verdicts.size(), 1U);
  EXPECT_EQ(node().status.verdicts[0].check, "nvlink_state");
}

TEST_F(HealthOps, a_complete_report_leaves_nothing_else) {
  tell(report(1, {says("ecc", S::fail, "bad"), says("disk_space", S::warn, "full")}));
  HealthReport all = report(2, {says("ecc", S::fail, "bad")});
  all.complete = true;
  tell(all);
  EXPECT_EQ(node().status.verdicts.size(), 1U);
}

TEST_F(HealthOps, silence_is_unknown_and_no_fault) {
  tell(report(1, {says("ecc", S::fail, "bad")}));
  EXPECT_EQ(verdicts_at(node(), now_, now_)[0].state, S::fail);
  const auto later = verdicts_at(node(), now_, now_ + minutes(5));
  EXPECT_EQ(later[0].state, S::unknown);
  EXPECT_EQ(later[0].evidence, "before: bad");
  EXPECT_EQ(verdicts_at(node(), Instant{}, now_)[0].state, S::unknown);
}

// gpud PR 381: right after a restart nothing was looked at, which is not healthy.
TEST_F(HealthOps, before_the_first_look_a_node_is_unknown) {
  const auto first = verdicts_at(node(), now_, now_);
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0].state, S::unknown);
  tell(report(1, {}));
  EXPECT_TRUE(verdicts_at(node(), now_, now_).empty());
}

TEST_F(HealthOps, a_flood_is_bounded_and_the_worst_stay) {
  HealthReport flood = report(1, {});
  for (int i = 0; i < 3000; ++i) {
    flood.verdicts.push_back(says("d_state", S::unknown, "?", std::to_string(i)));
  }
  flood.verdicts.push_back(says("ecc", S::fail, "bad"));
  flood.verdicts.push_back(says("", S::fail, "nameless"));
  tell(flood);
  EXPECT_EQ(node().status.verdicts.size(), most_verdicts);
  EXPECT_EQ(node().status.verdicts[0].check, "ecc");
}

TEST_F(HealthOps, pressure_is_stored_when_it_crosses_the_mark) {
  HealthReport calm = report(1, {});
  calm.pressure.emplace();
  calm.pressure->cpu_some = 100;
  tell(calm);
  ASSERT_TRUE(node().status.pressure);
  HealthReport more = report(2, {});
  more.pressure.emplace();
  more.pressure->cpu_some = 1900;
  EXPECT_FALSE(is_news(node(), more));
  more.pressure->cpu_some = 2000;
  EXPECT_TRUE(is_news(node(), more));
}

}  // namespace
}  // namespace tundish
