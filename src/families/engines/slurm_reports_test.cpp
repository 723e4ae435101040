// What health checks of others did to nodes through their scheduler, played against the commands
// that we would give. The reports: docs/health-issues.md.
#include <gtest/gtest.h>

#include <algorithm>

#include "families/engines/slurm_parts/names.hpp"
#include "families/engines/slurm_parts/parts.hpp"

namespace tundish::slurm_parts {
namespace {

DesiredEngine two_members() {
  DesiredEngine desired;
  desired.cluster = "acme-train";
  for (const char* name : {"n01", "n02"}) {
    DesiredEngineNode node;
    node.name = name;
    node.role = EngineRole::member;
    desired.nodes.push_back(node);
  }
  return desired;
}

/// Both in service, with one job over both of them.
EngineObserved busy() {
  EngineObserved seen;
  seen.reachable = true;
  seen.at = {1000000000};
  seen.partition_nodes = {"n01", "n02"};
  seen.nodes = {{"n01", {"ALLOCATED"}, "", 8, true}, {"n02", {"ALLOCATED"}, "", 8, true}};
  seen.jobs = {{"5", "alice", "a", "RUNNING", {"n01", "n02"}, 0, true, 0}};
  return seen;
}

TEST(SlurmReports, a_claim_takes_no_running_job_along) {
  auto desired = two_members();
  desired.nodes[0].drained = true;
  desired.nodes[0].reason = "tundish: ecc";
  const auto commands = plan_commands(desired, busy());
  ASSERT_EQ(commands.size(), 1u) << "nothing is set down, requeued or taken from the partition";
  EXPECT_EQ(commands[0].verb, EngineVerb::update_nodes);
  EXPECT_EQ(commands[0].state, "drain");
}

TEST(SlurmReports, a_drain_ends_with_its_claim_whatever_runs_on_the_node) {
  auto seen = busy();
  seen.nodes[0].reason = "tundish: ecc";
  for (const char* base : {"IDLE", "ALLOCATED", "MIXED"}) {
    seen.nodes[0].states = {base, "DRAIN"};
    const auto commands = plan_commands(two_members(), seen);
    ASSERT_EQ(commands.size(), 1u) << base;
    EXPECT_EQ(commands[0].state, "undrain") << base;
  }
}

TEST(SlurmReports, whatever_takes_a_node_away_says_why_in_the_same_command) {
  const auto check = [](const DesiredEngine& desired, const EngineObserved& seen) {
    int taken = 0;
    for (const auto& command : plan_commands(desired, seen)) {
      const bool takes = command.state == "drain" || command.state == "down";
      EXPECT_TRUE(!takes || is_our_reason(command.reason)) << command.state << command.reason;
      EXPECT_TRUE(takes || command.reason.empty()) << command.state;
      taken += takes;
    }
    return taken;
  };
  const auto one = [&](auto&& change) {
    auto desired = two_members();
    change(desired.nodes[0]);
    return check(desired, busy());
  };
  EXPECT_EQ(one([](auto& node) { node.drained = true; }), 1);
  EXPECT_EQ(one([](auto& node) { node.device_lost = true; }), 1);
  EXPECT_EQ(one([](auto& node) { node.gone = true; }), 2);
  EXPECT_EQ(one([](auto& node) { node.role = EngineRole::spare; }), 1);
  EXPECT_EQ(one([](auto& node) { node.role = EngineRole::headroom; }), 1);
  auto left = two_members();
  left.nodes.pop_back();
  EXPECT_EQ(check(left, busy()), 1);
}

TEST(SlurmReports, a_reason_that_changes_is_written_with_its_state) {
  auto desired = two_members();
  desired.nodes[0].drained = true;
  desired.nodes[0].reason = "tundish: incident-8";
  auto seen = busy();
  seen.nodes[0].states = {"ALLOCATED", "DRAIN"};
  seen.nodes[0].reason = "tundish: incident-7";
  const auto commands = plan_commands(desired, seen);
  ASSERT_EQ(commands.size(), 1u);
  EXPECT_EQ(commands[0].state, "drain");
  EXPECT_EQ(commands[0].reason, "tundish: incident-8");
}

}  // namespace
}  // namespace tundish::slurm_parts
