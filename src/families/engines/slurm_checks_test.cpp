// Active checks in a Slurm cluster: the partition that gives way to every other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "families/engines/slurm_parts/names.hpp"
#include "families/engines/slurm_parts/parts.hpp"

namespace tundish::slurm_parts {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const Instant consent{2000000000};

DesiredEngine two_members(Instant checks_since) {
  DesiredEngine desired;
  desired.cluster = "train-3";
  desired.controller_address = "10.0.0.1";
  desired.cpus = 8;
  desired.checks_since = checks_since;
  desired.users = {{"alice", 20001, {}}};
  for (const char* name : {"n01", "n02", "n03"}) {
    DesiredEngineNode node;
    node.name = name;
    node.role = node.name == "n03" ? EngineRole::headroom : EngineRole::member;
    desired.nodes.push_back(node);
  }
  return desired;
}

/// In step with two_members(), without a partition for checks.
EngineObserved in_step() {
  EngineObserved seen;
  seen.reachable = seen.can_preempt = true;
  seen.started_at = {1000000000};
  seen.partition_nodes = {"n01", "n02"};
  seen.nodes = {{"n01", {"IDLE"}, "", 0, true},
                {"n02", {"IDLE"}, "", 0, true},
                {"n03", {"IDLE", "DRAIN"}, "tundish: headroom", 0, true}};
  return seen;
}

std::string conf_of(const DesiredEngine& desired) {
  for (const auto& file : render_files(desired)) {
    if (file.name == "slurm.conf") return file.content;
  }
  return "";
}

std::string planned(const DesiredEngine& desired, const EngineObserved& seen) {
  std::string out;
  for (const auto& command : plan_commands(desired, seen)) {
    out += enum_names(command.verb)[static_cast<std::size_t>(command.verb)];
    for (const auto& part : {command.partition, fold_hostlist(command.nodes)}) {
      if (!part.empty()) out += " " + part;
    }
    for (const auto& user : command.users) out += " " + user.name;
    out += "\n";
  }
  return out;
}

TEST(SlurmChecks, the_partition_is_there_with_consent_only_and_gives_way_to_all_work) {
  const std::string without = conf_of(two_members({}));
  EXPECT_THAT(without, HasSubstr("PreemptType=preempt/partition_prio\nPreemptMode=CANCEL\n"));
  EXPECT_THAT(without, HasSubstr("PartitionName=main Nodes=n[01-02] Default=YES MaxTime=INFINITE "
                                 "State=UP PreemptMode=OFF PriorityTier=10\n"));
  EXPECT_THAT(without, Not(HasSubstr("tundish-check")));
  EXPECT_EQ(conf_of(two_members(consent)),
            without + "PartitionName=tundish-check Nodes=n[01-02] Default=NO MaxTime=INFINITE "
                      "State=UP PreemptMode=CANCEL GraceTime=0 PriorityTier=1 "
                      "OverSubscribe=EXCLUSIVE AllowAccounts=tundish-check\n");
}

TEST(SlurmChecks, consent_makes_the_partition_and_its_end_takes_it_away) {
  auto seen = in_step();
  EXPECT_EQ(planned(two_members({}), seen), "");
  EXPECT_EQ(planned(two_members(consent), seen), "write_files\nadd_users alice\nreconfigure\n");
  seen.check_nodes = {"n02", "n01"};
  EXPECT_EQ(planned(two_members(consent), seen), "") << "in step";
  EXPECT_EQ(planned(two_members({}), seen), "write_files\nreconfigure\n");
  seen.jobs = {{"7", "root", "tundish-check", "COMPLETING", {"n01"}, 0, false, 0}};
  EXPECT_EQ(planned(two_members({}), seen), "") << "not under a check that is about to end";
  seen.jobs[0].user = "alice";
  EXPECT_EQ(planned(two_members({}), seen), "write_files\nreconfigure\n")
      << "what a user calls so keeps nothing";
}

TEST(SlurmChecks, it_follows_the_members) {
  auto seen = in_step();
  seen.check_nodes = {"n01", "n02"};
  auto desired = two_members(consent);
  desired.nodes[1].role = EngineRole::headroom;
  EXPECT_THAT(planned(desired, seen),
              HasSubstr("write_files\nset_partition main n01\nset_partition tundish-check n01\n"));
  seen.partition_nodes = {"n01"};
  seen.nodes[1].states = {"IDLE", "DRAIN"};
  seen.nodes[1].reason = "tundish: headroom";
  EXPECT_EQ(planned(desired, seen), "write_files\nset_partition tundish-check n01\n");
}

TEST(SlurmChecks, a_cluster_without_members_needs_none) {
  auto desired = two_members(consent);
  auto seen = in_step();
  seen.partition_nodes.clear();
  for (auto& node : desired.nodes) node.role = EngineRole::headroom;
  for (auto& node : seen.nodes) {
    node.states = {"IDLE", "DRAIN"};
    node.reason = "tundish: headroom";
  }
  EXPECT_EQ(planned(desired, seen), "");
}

TEST(SlurmChecks, a_controller_of_before_is_restarted_once_to_learn_it) {
  auto seen = in_step();
  seen.can_preempt = false;
  EXPECT_EQ(planned(two_members({}), seen), "") << "not without need";
  EXPECT_EQ(planned(two_members(consent), seen),
            "write_files\nadd_users alice\nrestart_controller\n");
  seen.started_at = consent + seconds(1);
  seen.check_nodes = {"n01", "n02"};
  EXPECT_EQ(planned(two_members(consent), seen), "") << "it did not help: no second time";
}

std::string observation(const std::string& control) {
  return "tundish-slurm 1 5\n== control " + std::to_string(control.size()) + "\n" + control;
}

EngineObserved shown(const std::string& type, const std::string& partitions) {
  const auto seen = parse_observation(observation(
      "BOOT_TIME               = 2026-11-30T10:00:00\nPreemptMode             = CANCEL\n"
      "PreemptType             = " + type + "\n" + partitions));
  EXPECT_TRUE(seen);
  return seen ? *seen : EngineObserved{};
}

const std::string main_line =
    "PartitionName=main AllowGroups=ALL MaxNodes=UNLIMITED Nodes=n[01-02] PriorityTier=10 "
    "RootOnly=NO PreemptMode=OFF State=UP\n";
std::string check_line(const std::string& tier, const std::string& mode) {
  return "PartitionName=tundish-check AllowGroups=ALL MaxNodes=UNLIMITED Nodes=n01 PriorityTier=" +
         tier + " RootOnly=NO PreemptMode=" + mode + " State=UP\n";
}

TEST(SlurmChecks, the_partition_is_seen_apart_from_the_tenants_own_in_any_order) {
  for (const auto& text : {main_line + check_line("1", "CANCEL"),
                           check_line("1", "CANCEL") + main_line}) {
    const auto seen = shown("preempt/partition_prio", text);
    EXPECT_THAT(seen.partition_nodes, ElementsAre("n01", "n02"));
    EXPECT_THAT(seen.check_nodes, ElementsAre("n01"));
    EXPECT_TRUE(seen.can_preempt);
  }
}

TEST(SlurmChecks, only_what_really_gives_way_counts) {
  EXPECT_TRUE(shown("preempt/partition_prio", main_line).can_preempt);
  EXPECT_FALSE(shown("preempt/none", main_line).can_preempt);
  EXPECT_FALSE(shown("preempt/none", main_line + check_line("1", "CANCEL")).can_preempt);
  const auto same = shown("preempt/partition_prio", main_line + check_line("10", "CANCEL"));
  EXPECT_FALSE(same.can_preempt) << "a person raised its tier";
  EXPECT_FALSE(
      shown("preempt/partition_prio", main_line + check_line("1", "SUSPEND")).can_preempt);
}

TEST(SlurmChecks, the_recorded_controller_of_before_preempts_nothing) {
  std::ifstream file(std::string(TUNDISH_SOURCE_DIR) +
                     "/tests/data/slurm/observe_22_05_held.txt");
  std::stringstream text;
  text << file.rdbuf();
  const auto seen = parse_observation(text.str());
  ASSERT_TRUE(seen);
  EXPECT_FALSE(seen->can_preempt);
  EXPECT_THAT(seen->check_nodes, IsEmpty());
}

}  // namespace
}  // namespace tundish::slurm_parts
