#include "runtime/agent/passive_loop.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

namespace tundish::agent {
namespace {
namespace fs = std::filesystem;

/// A loop over an empty node, with a clock and a judge of our own.
class PassiveLoopTest : public testing::Test {
 protected:
  PassiveLoopTest()
      : root_(testing::TempDir() + "passive_loop_" + std::to_string(::getpid())),
        config_(make_config(root_)),
        gatherer_({"/proc/self/exe", "none.so", config_.sys_dir, milliseconds(500)}),
        events_(root_ + "/events.json", root_),
        samples_({config_, gatherer_, events_, "boot1", [this] { return now_; }}),
        box_(root_ + "/expectation.json") {}
  ~PassiveLoopTest() override { fs::remove_all(root_); }

  static AgentConfig make_config(const std::string& root) {
    fs::remove_all(root);
    fs::create_directories(root + "/sys");
    AgentConfig config;
    config.state_dir = root;
    config.sys_dir = root + "/sys";
    config.proc_dir = root + "/proc";
    config.catalog_dir = root;
    return config;
  }
  PassiveLoop make(Judge judge, std::vector<PassiveCheck> checks) {
    return PassiveLoop({config_, samples_, gatherer_, box_, news_, std::move(judge),
                        std::move(checks), [] { return GpuLook{}; }, [this] { return now_; },
                        [this] { ++rings_; }});
  }
  static PassiveCheck check_of(const std::string& name, Duration every) {
    PassiveCheck check;
    check.name = name;
    check.needs = {"mount_table"};
    check.every = every;
    return check;
  }
  static Verdict says(const std::string& check, VerdictState state) {
    Verdict out;
    out.check = check;
    out.state = state;
    out.reason = "because";
    return out;
  }
  AgentSync message() {
    AgentSync out;
    sent_ = news_.fill(out, ++seq_);
    return out;
  }

  std::string root_;
  AgentConfig config_;
  Instant now_{hours(1000).us};
  Gatherer gatherer_;
  BootEvents events_;
  SampleMaker samples_;
  ExpectationBox box_;
  VerdictNews news_;
  VerdictNews::Sent sent_;
  std::int64_t seq_ = 0;
  int rings_ = 0;
};

using S = VerdictState;

TEST_F(PassiveLoopTest, WithoutAnExpectationNothingIsJudged) {
  auto loop = make([](const CheckSample&, const auto&) { return std::vector<Verdict>{}; },
                   {check_of("a", minutes(1))});
  EXPECT_LT(loop.step(), seconds(10));
  EXPECT_EQ(message().verdicts_seq, 0);
  EXPECT_EQ(rings_, 0);
}

TEST_F(PassiveLoopTest, TellsAllOnceAndThenChanges) {
  box_.set({}, "mark");
  VerdictState state = S::fail;
  auto loop = make(
      [&](const CheckSample&, const std::vector<std::string>& names) {
        std::vector<Verdict> out;
        for (const auto& name : names) out.push_back(says(name, name == "a" ? state : S::ok));
        return out;
      },
      {check_of("a", minutes(1)), check_of("b", minutes(5))});
  EXPECT_EQ(loop.step(), minutes(1));
  auto first = message();
  EXPECT_TRUE(first.verdicts_complete);
  ASSERT_EQ(first.verdicts.size(), 1U);
  EXPECT_EQ(first.verdicts[0].check, "a");
  EXPECT_EQ(rings_, 1);
  news_.confirm(sent_);
  EXPECT_FALSE(news_.has_news());
  now_ = now_ + minutes(1);
  (void)loop.step();
  EXPECT_FALSE(news_.has_news());  // the same again is no news
  state = S::ok;
  now_ = now_ + minutes(1);
  (void)loop.step();
  const auto change = message();
  EXPECT_FALSE(change.verdicts_complete);
  ASSERT_EQ(change.verdicts.size(), 1U);
  EXPECT_EQ(change.verdicts[0].state, S::ok);
  // It was not confirmed: it is told again, with what came meanwhile.
  EXPECT_EQ(message().verdicts.size(), 1U);
}

TEST_F(PassiveLoopTest, WhatTheNodeIsToHaveNowIsJudgedAtOnce) {
  Expectation cluster;
  cluster.exports = {{"srv:/x", "/data", "nfs"}};
  box_.set(cluster, "in");
  auto loop = make(
      [](const CheckSample& sample, const std::vector<std::string>&) {
        return std::vector<Verdict>{says("a", sample.expect.exports.empty() ? S::ok : S::fail)};
      },
      {check_of("a", minutes(5))});
  EXPECT_GT(loop.step(), seconds(50));
  news_.confirm((message(), sent_));
  now_ = now_ + seconds(3);
  (void)loop.step();
  EXPECT_FALSE(news_.has_news());
  EXPECT_FALSE(loop.is_overtaken());
  box_.set({}, "out");
  EXPECT_TRUE(loop.is_overtaken());
  (void)loop.step();
  const auto told = message();
  ASSERT_EQ(told.verdicts.size(), 1U);
  EXPECT_EQ(told.verdicts[0].state, S::ok);
}

TEST_F(PassiveLoopTest, WhatTheKernelSaysIsJudgedAtOnceAndAStormNoOftener) {
  box_.set({}, "mark");
  std::int64_t noted = 0;
  int judged = 0;
  PassiveParts parts{config_, samples_, gatherer_, box_, news_,
                     [](const CheckSample&, const std::vector<std::string>& names) {
                       std::vector<Verdict> out;
                       for (const auto& name : names) out.push_back(says(name, S::ok));
                       return out;
                     },
                     {check_of("log", minutes(5)), check_of("other", minutes(5))},
                     [] { return GpuLook{}; }, [this] { return now_; }, [] {},
                     [] { return false; }, [&] { return noted; }};
  parts.checks[0].needs = {"events"};
  parts.gpus = [&] {
    ++judged;  // once per look, in this process
    return GpuLook{};
  };
  PassiveLoop loop(std::move(parts));
  (void)loop.step();
  EXPECT_EQ(judged, 1);
  now_ = now_ + seconds(10);
  EXPECT_FALSE(loop.is_overtaken());
  noted = 1;
  EXPECT_TRUE(loop.is_overtaken()) << "the kernel said something new";
  (void)loop.step();
  EXPECT_EQ(judged, 2);
  noted = 1000;
  now_ = now_ + seconds(1);
  EXPECT_FALSE(loop.is_overtaken()) << "a storm waits";
  (void)loop.step();
  EXPECT_EQ(judged, 2);
  now_ = now_ + seconds(5);
  EXPECT_TRUE(loop.is_overtaken());
}

/// Its switch shut and opened the port between two clusters, faster than anybody looked.
TEST_F(PassiveLoopTest, WhatItsLinksDidBeforeTheNodeEnteredAClusterDoesNotCount) {
  const std::string folder = config_.sys_dir + "/class/net/eth0";
  fs::create_directories(folder);
  const auto put = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder + "/" + name) << text << "\n";
  };
  put("address", "02:00:00:00:00:0a");
  put("operstate", "up");
  Expectation expect;
  expect.services = {"slurmd"};
  const auto grown = [&](const std::string& changes) -> std::optional<std::int64_t> {
    put("carrier_changes", changes);
    now_ = now_ + minutes(1);
    const CheckSample sample = samples_.make(expect, {"counters", "nets"}, {});
    for (const auto& counter : sample.counters.value()) {
      if (counter.name == "carrier_changes") return counter.grown;
    }
    ADD_FAILURE() << "it was not read";
    return std::nullopt;
  };
  EXPECT_EQ(grown("4"), std::nullopt);
  EXPECT_EQ(grown("6"), 2);
  samples_.forget_links();
  EXPECT_EQ(grown("8"), std::nullopt);
  EXPECT_EQ(grown("9"), 1);
}

TEST_F(PassiveLoopTest, ACheckThatCrashesIsUnknownAndTheOthersAreJudged) {
  box_.set({}, "mark");
  auto loop = make(
      [](const CheckSample&, const std::vector<std::string>& names) {
        std::vector<Verdict> out;
        for (const auto& name : names) {
          if (name == "crash") ::raise(SIGSEGV);
          if (name == "hang") {
            for (;;) ::pause();
          }
          if (name == "flood") out.resize(60000, says(name, S::fail));
          out.push_back(says(name, S::warn));
        }
        return out;
      },
      {check_of("crash", minutes(1)), check_of("flood", minutes(1)), check_of("good", minutes(1)),
       check_of("hang", minutes(1))});
  (void)loop.step();
  std::map<std::string, VerdictState> seen;
  for (const auto& verdict : message().verdicts) seen[verdict.check] = verdict.state;
  EXPECT_EQ(seen["crash"], S::unknown);
  EXPECT_EQ(seen["hang"], S::unknown);
  EXPECT_EQ(seen["flood"], S::unknown);
  EXPECT_EQ(seen["good"], S::warn);
}

TEST_F(PassiveLoopTest, GarbageOfACheckIsUnknown) {
  box_.set({}, "mark");
  auto loop = make(
      [](const CheckSample&, const std::vector<std::string>&) {
        Verdict odd = says("other", S::fail);
        return std::vector<Verdict>{odd};
      },
      {check_of("a", minutes(1))});
  (void)loop.step();
  // Nobody asked for a verdict of that name, and the check that was asked said nothing.
  const auto told = message();
  ASSERT_EQ(told.verdicts.size(), 1U);
  EXPECT_EQ(told.verdicts[0].check, "a");
  EXPECT_EQ(told.verdicts[0].state, S::unknown);
}

TEST_F(PassiveLoopTest, ASampleSaysWhatIsMissing) {
  Expectation expect;
  expect.gpu_model = "NVIDIA H100 80GB HBM3";
  const auto sample = samples_.make(expect, {"pci", "mount_table", "processes"}, {});
  EXPECT_FALSE(sample.pci);
  EXPECT_EQ(sample.fault_of("pci"), "the kernel shows no PCI bus");
  EXPECT_FALSE(sample.mount_table);
  EXPECT_FALSE(sample.fault_of("limits").empty());  // no catalogue in that folder
  EXPECT_TRUE(sample.processes);
  EXPECT_FALSE(sample.clock);
}

// NVSentinel #1287: what could not be read at the start is not missing for ever.
TEST_F(PassiveLoopTest, AFileThatComesLaterIsUsed) {
  Expectation expect;
  expect.gpu_model = "NVIDIA H100 80GB HBM3";
  EXPECT_TRUE(samples_.make(expect, {}, {}).limits.empty());
  for (const char* const name : {"nameplates.yaml", "thresholds.yaml"}) {
    fs::copy(std::string(TUNDISH_SOURCE_DIR) + "/catalog/" + name, root_ + "/" + name);
  }
  const auto sample = samples_.make(expect, {}, {});
  EXPECT_FALSE(sample.limits.empty());
  ASSERT_TRUE(sample.nameplate);
  EXPECT_EQ(sample.nameplate->model, "h100_sxm");
  EXPECT_EQ(sample.fault_of("limits"), "");
  // A file that breaks leaves the limits of before in force, and says so.
  std::ofstream(root_ + "/thresholds.yaml") << "edition: broken\nlimits: 3\n";
  const auto after = samples_.make(expect, {}, {});
  EXPECT_FALSE(after.limits.empty());
  EXPECT_NE(after.fault_of("limits").find("thresholds.yaml:"), std::string::npos);
}

}  // namespace
}  // namespace tundish::agent
