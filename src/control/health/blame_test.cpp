// Each rule with the case and its mirror. Numbers in brackets: reports of facts/health.md
// section 6.
#include "control/health/blame.hpp"

#include <gtest/gtest.h>

#include "control/health/causes.hpp"
#include "control/health/window_for_test.hpp"

namespace tundish::control::health {
namespace {

bool clears(const Finding& finding, Resource part, const std::string& word) {
  for (const auto& one : finding.blame.cleared) {
    const bool named =
        one.object.find(word) != std::string::npos || one.why.find(word) != std::string::npos;
    if (one.part == part && named) return true;
  }
  return false;
}

// Seen in the lab: the check of pressure warned first, and the blame lost what it cleared.
TEST(Blame, a_warning_of_pressure_does_not_hide_that_the_cpu_is_short) {
  Window window(4);
  Sighting& warning = window.fails(1, Resource::cpu, "cpu_some");
  warning.what = "pressure";
  warning.level = Level::warn;
  window.starves(1, seconds(20));
  Sighting& late = window.hangs(1, seconds(25));
  late.level = Level::note;
  late.starved = true;
  const auto found = window.judge();
  ASSERT_EQ(brief(found), "node n1 cpu starved\n");
  EXPECT_TRUE(clears(found[0], Resource::storage_server, "nas1"));
}

// The story of the dirty inodes: the CPUs are gone, the storage client is late, nothing is broken.
TEST(Blame, says_cpu_when_a_node_without_cpu_waits_for_storage) {
  Window window(4);
  window.starves(1);
  window.hangs(1, seconds(3));
  const auto found = window.judge();
  ASSERT_EQ(brief(found), "node n1 cpu starved\n");
  EXPECT_TRUE(clears(found[0], Resource::storage_server, "nas1"));
  EXPECT_TRUE(clears(found[0], Resource::storage_server, "3 other nodes"));
  EXPECT_TRUE(clears(found[0], Resource::storage_client, "did not get to run"));
  EXPECT_GE(found[0].blame.would_change.size(), 1u);
  EXPECT_EQ(found[0].blame.evidence.front().part, Resource::cpu);
}

TEST(Blame, says_storage_when_every_client_waits_and_takes_no_node_out) {
  Window window(4);
  for (int n = 1; n <= 4; ++n) window.hangs(n, seconds(n));
  const auto found = window.judge();
  ASSERT_EQ(brief(found), "storage nas1 storage_server shared_fate\n");
  EXPECT_EQ(found[0].affected.size(), 4u);
  EXPECT_TRUE(found[0].settled);
  EXPECT_TRUE(clears(found[0], Resource::storage_client, "same time"));
  EXPECT_TRUE(clears(found[0], Resource::cpu, "short of CPU"));
}

TEST(Blame, a_busy_client_among_many_does_not_excuse_the_storage) {
  Window window(4);
  for (int n = 1; n <= 4; ++n) window.hangs(n);
  window.starves(2);
  EXPECT_EQ(brief(window.judge()), "storage nas1 storage_server shared_fate\n");
}

TEST(Blame, pressure_that_began_after_the_hang_was_over_explains_nothing) {
  Window window(3);
  Sighting& late = window.starves(1, minutes(1));
  late.last = noon + seconds(65);
  Sighting& hang = window.hangs(1);
  hang.last = noon + seconds(20);
  const auto found = window.judge();
  EXPECT_EQ(find(found, Resource::cpu), nullptr) << brief(found);
}

TEST(Blame, a_check_that_starves_is_told_as_cpu_and_never_as_a_fault) {
  Window window(3);
  window.starves(1);
  Sighting& late = window.hangs(1);
  late.level = Level::note;  // unknown, not fail
  late.starved = true;
  EXPECT_EQ(brief(window.judge()), "node n1 cpu starved\n");
  EXPECT_EQ(brief(window.judge_after(seconds(5))), "");
}

// Seen in the lab on a busy machine: checks of links that starve on every node of a leaf.
TEST(Blame, checks_that_starve_together_are_no_shared_fate) {
  Window window(6);
  for (int n = 1; n <= 6; ++n) {
    Sighting& late = window.fails(n, Resource::link, "eth0");
    late.level = Level::note;
    late.starved = true;
    window.starves(n);
  }
  const auto found = window.judge();
  EXPECT_EQ(find(found, Resource::leaf), nullptr) << brief(found);
  EXPECT_EQ(found.size(), 6u);
  for (const auto& one : found) EXPECT_EQ(one.blame.part, Resource::cpu);
}

TEST(Blame, pressure_that_nobody_noticed_is_no_incident) {
  Window window(3);
  window.starves(1);
  EXPECT_EQ(brief(window.judge()), "");
}

// One client hangs and its peers are fine: the node. [NHC #77, ncpa #997, InferenceX #2892]
TEST(Blame, says_the_node_when_its_peers_use_the_same_storage_and_are_fine) {
  Window window(4);
  window.hangs(3);
  const auto found = window.judge();
  ASSERT_EQ(brief(found), "node n3 storage_client alone claims\n");
  EXPECT_TRUE(clears(found[0], Resource::storage_server, "3 other nodes"));
}

TEST(Blame, nobody_is_claimed_before_peers_had_time_to_look) {
  Window window(4);
  window.hangs(3);
  const auto early = window.judge_after(seconds(2));
  ASSERT_EQ(early.size(), 1u);
  EXPECT_FALSE(early[0].settled);
  EXPECT_EQ(early[0].wake_at, noon + seconds(5));
  const auto later = window.judge_after(seconds(6));
  ASSERT_EQ(later.size(), 1u);
  EXPECT_TRUE(later[0].settled);
  EXPECT_EQ(later[0].blame.rule, "undecided");
  EXPECT_FALSE(later[0].claims);
  EXPECT_EQ(later[0].wake_at, noon + seconds(75));
}

TEST(Blame, the_only_client_of_storage_cannot_tell_which_of_the_two_it_is) {
  Window window(1);
  window.hangs(1);
  const auto found = window.judge();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].blame.rule, "undecided");
  EXPECT_LT(found[0].blame.confidence, least_confidence);
  EXPECT_FALSE(found[0].claims);
}

// Checks look once a minute: clients of one server show its outage one after the other.
TEST(Blame, a_node_is_not_alone_while_others_come_to_show_the_same) {
  Window window(8);
  window.hangs(1);
  window.hangs(2, seconds(60));
  EXPECT_EQ(brief(window.judge_after(seconds(100))).find("claims"), std::string::npos);
  const auto late = window.judge_after(seconds(140));
  EXPECT_EQ(brief(late),
            "node n1 storage_client alone claims\nnode n2 storage_client alone "
            "claims\n")
      << "two of eight that stay two are two nodes";
}

TEST(Blame, peers_that_are_not_heard_are_not_fine) {
  Window window(3);
  window.hangs(1);
  window.topology.nodes[Window::id(2)].heard = false;
  window.topology.nodes[Window::id(3)].heard = false;
  const auto found = window.judge();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_FALSE(found[0].claims) << brief(found);
}

// After a silence the first that speak are fine, and the others did not speak yet.
TEST(Blame, what_was_told_before_a_silence_is_waited_for) {
  Window window(4);
  window.hangs(3);
  for (auto& [id, place] : window.topology.nodes) place.heard_since = noon + minutes(10);
  const auto early = window.judge_after(minutes(10) + seconds(5));
  EXPECT_EQ(brief(early).find("claims"), std::string::npos) << brief(early);
  EXPECT_EQ(brief(window.judge_after(minutes(12))), "node n3 storage_client alone claims\n");
}

TEST(Blame, losing_sight_of_everybody_blames_nobody) {
  Window window(4);
  for (auto& [id, place] : window.topology.nodes) place.heard = false;
  window.share(SubjectKind::network_switch, "leaf1", Resource::leaf).down_since = noon;
  EXPECT_EQ(brief(window.judge()), "");
}

TEST(Blame, says_the_leaf_when_all_its_links_go_and_the_storage_behind_it) {
  Window window(8);
  for (const int n : {1, 3, 5, 7}) {
    window.fails(n, Resource::link, "eth0");
    window.hangs(n, seconds(4));
  }
  const auto found = window.judge();
  ASSERT_EQ(brief(found), "switch leaf1 leaf shared_fate\n");
  EXPECT_TRUE(clears(found[0], Resource::storage_server, "4 other nodes"));
}

TEST(Blame, says_the_leaf_when_the_only_clients_of_storage_hang_on_it) {
  Window window(8);
  auto& storage = window.share(SubjectKind::storage, "nas1", Resource::storage_server);
  for (const int n : {2, 4, 6, 8}) storage.users.erase(Window::id(n));
  for (const int n : {1, 3, 5, 7}) {
    window.fails(n, Resource::link, "eth0");
    window.hangs(n, seconds(4));
  }
  EXPECT_EQ(brief(window.judge()), "switch leaf1 leaf shared_fate\n");
}

TEST(Blame, a_dead_leaf_is_believed_with_one_node_on_it) {
  Window window(2);
  auto& leaf = window.share(SubjectKind::network_switch, "leaf1", Resource::leaf);
  leaf.down_since = noon;
  leaf.down_says = "the switch does not answer";
  window.fails(1, Resource::link, "eth0");
  const auto found = window.judge();
  ASSERT_EQ(brief(found), "switch leaf1 leaf own_word\n");
  EXPECT_EQ(found[0].blame.evidence.front().says, "the switch does not answer");
}

TEST(Blame, a_leaf_whose_management_is_away_still_forwards_for_the_others) {
  Window window(6);
  window.share(SubjectKind::network_switch, "leaf1", Resource::leaf).down_since = noon;
  window.fails(1, Resource::link, "eth0");
  EXPECT_EQ(brief(window.judge()), "switch leaf1/swp1 link alone claims\n");
}

TEST(Blame, names_the_cable_end_when_one_port_flaps) {
  Window window(6);
  window.fails(3, Resource::link, "eth0").says = "4 carrier changes in a minute";
  window.fails(3, Resource::nic, "eth0", seconds(5));
  const auto found = window.judge();
  ASSERT_EQ(brief(found), "switch leaf1/swp3 link alone claims\n");
  EXPECT_EQ(found[0].device, "leaf1/swp3");
  EXPECT_TRUE(clears(found[0], Resource::leaf, "2 other nodes"));
}

TEST(Blame, a_flap_that_is_only_a_warning_is_told_and_costs_no_node) {
  Window window(6);
  window.fails(3, Resource::link, "eth0").level = Level::warn;
  EXPECT_EQ(brief(window.judge()), "switch leaf1/swp3 link alone\n");
}

// A clock, a program, a full disk: told by the check, no reason to take a node from its tenant.
TEST(Blame, what_a_repair_would_not_mend_takes_no_node_out) {
  Window window(3);
  window.fails(1, Resource::clock);
  window.fails(2, Resource::process);
  window.fails(3, Resource::disk, "/");
  EXPECT_EQ(brief(window.judge()), "");
}

TEST(Blame, an_adapter_whose_link_stands_is_blamed_itself) {
  Window window(6);
  window.fails(3, Resource::nic, "eth0");
  EXPECT_EQ(brief(window.judge()), "node n3 nic alone claims\n");
}

// [NVSentinel #1488]: one cause told by two layers is one incident.
TEST(Blame, says_gpu_when_its_fault_came_before_the_errors_of_the_adapter) {
  Window window(6);
  window.says(3, 79, Resource::gpu, "0000:3b:00");
  window.fails(3, Resource::nic, "eth0", seconds(8));
  const auto found = window.judge();
  ASSERT_EQ(brief(found), "node n3 gpu came_first claims\n");
  EXPECT_EQ(found[0].device, "0000:3b:00");
  EXPECT_TRUE(clears(found[0], Resource::nic, "after"));
}

// Seen in the lab: the check that counts faults of all GPUs speaks beside the line of one of them.
TEST(Blame, a_check_of_all_gpus_is_about_the_one_that_the_kernel_names) {
  Window window(6);
  window.says(3, 119, Resource::gpu, "0000:3b:00");
  window.fails(3, Resource::gpu, "", seconds(3)).locality = Locality::device_local;
  window.fails(3, Resource::nic, "eth0", seconds(3));
  const auto found = window.judge_after(seconds(4));
  ASSERT_EQ(brief(found), "node n3 gpu came_first claims\n");
  EXPECT_EQ(found[0].device, "0000:3b:00");
  EXPECT_TRUE(found[0].local) << "the check needs no other witness";
  EXPECT_TRUE(clears(found[0], Resource::nic, "after"));
}

// A disk that reported errors stayed in service, because the line of the log came before the check.
TEST(Blame, a_check_of_the_part_itself_claims_whatever_the_log_said_before) {
  Window window(3);
  Sighting& line = window.says(1, 0, Resource::disk, "nvme0n1");
  line.what = "io_error";
  window.fails(1, Resource::disk, "nvme0n1", seconds(5)).locality = Locality::device_local;
  EXPECT_EQ(brief(window.judge()), "node n1 disk only_part claims\n");
}

TEST(Blame, memory_that_is_short_is_not_the_module_that_fails) {
  Window window(3);
  window.fails(1, Resource::memory, "");
  window.fails(1, Resource::memory, "mc0", seconds(1)).locality = Locality::device_local;
  window.fails(1, Resource::service, "slurmd", seconds(2));
  const auto found = window.judge();
  EXPECT_EQ(found.size(), 2u) << brief(found);
}

TEST(Blame, says_nic_when_its_errors_came_first) {
  Window window(6);
  window.fails(3, Resource::nic, "eth0");
  window.says(3, 79, Resource::gpu, "0000:3b:00", seconds(30));
  EXPECT_EQ(brief(window.judge()), "node n3 nic alone claims\n");
}

TEST(Blame, a_gpu_fault_on_another_node_says_nothing_about_an_adapter) {
  Window window(6);
  window.says(4, 79, Resource::gpu, "0000:3b:00");
  window.fails(3, Resource::nic, "eth0", seconds(8));
  EXPECT_EQ(brief(window.judge()), "node n3 nic alone claims\n");
}

TEST(Blame, a_bad_pcie_link_is_blamed_for_its_own_gpu_only) {
  Window window(2);
  window.fails(1, Resource::pcie, "0000:3b:00");
  window.fails(1, Resource::gpu, "0000:3b:00", seconds(1));
  window.fails(1, Resource::gpu, "0000:5e:00", seconds(1));
  const auto found = window.judge();
  EXPECT_NE(find(found, Resource::pcie), nullptr);
  const Finding* other = find(found, Resource::gpu);
  ASSERT_NE(other, nullptr);
  EXPECT_EQ(other->device, "0000:5e:00");  // [gpud #604]: keyed by address, not by index
  EXPECT_EQ(found.size(), 2u) << brief(found);
}

TEST(Blame, a_part_that_must_itself_be_broken_is_claimed_at_once) {
  Window window(4);
  window.fails(1, Resource::gpu_memory, "0000:3b:00").locality = Locality::device_local;
  window.starves(1);
  const auto found = window.judge_after({});
  ASSERT_EQ(brief(found), "node n1 gpu_memory only_part claims\n");
  EXPECT_TRUE(found[0].local);
}

TEST(Blame, what_is_device_local_is_never_explained_away) {
  Window window(4);
  for (int n = 1; n <= 4; ++n) window.hangs(n).locality = Locality::device_local;
  EXPECT_EQ(window.judge().size(), 4u);
}

// [NPD, NHC #161, #95, #159]: the scheduler is away, no node is at fault.
TEST(Blame, a_scheduler_that_is_away_is_no_fault_of_its_nodes) {
  Window window(4);
  auto& engine = window.share(SubjectKind::engine, "train", Resource::service);
  for (int n = 1; n <= 4; ++n) engine.users[Window::id(n)];
  engine.down_since = noon;
  engine.down_says = "the controller does not answer";
  window.fails(2, Resource::service, "slurmd");
  EXPECT_EQ(brief(window.judge()), "engine train service own_word\n");
}

TEST(Blame, a_daemon_that_alone_fails_is_its_nodes) {
  Window window(4);
  auto& engine = window.share(SubjectKind::engine, "train", Resource::service);
  for (int n = 1; n <= 4; ++n) engine.users[Window::id(n)];
  window.fails(2, Resource::service, "slurmd");
  EXPECT_EQ(brief(window.judge()), "node n2 service alone claims\n");
}

// [gpud PR 1245]: the kernel's tasks spin over files: storage, not the programs.
TEST(Blame, tasks_that_hang_after_their_files_did_are_not_the_cause) {
  Window window(4);
  window.hangs(1);
  window.fails(1, Resource::process, "", seconds(10)).what = "hung_tasks";
  const auto found = window.judge();
  ASSERT_EQ(brief(found), "node n1 storage_client alone claims\n");
}

TEST(Blame, a_row_of_the_table_leads_to_no_circle) {
  // Follow causes from every part; more steps than parts are a circle.
  const auto parts = enum_names(Resource{}).size();
  std::set<Resource> reached;
  for (std::size_t start = 0; start < parts; ++start) {
    std::set<Resource> at = {static_cast<Resource>(start)};
    std::size_t steps = 0;
    while (!at.empty() && steps <= parts) {
      std::set<Resource> next;
      for (const auto& row : cause_rows()) {
        if (row.reach != Reach::users && at.contains(row.cause)) next.insert(row.effect);
      }
      at = std::move(next);
      ++steps;
    }
    EXPECT_LE(steps, parts) << "from " << enum_names(Resource{})[start];
  }
}

TEST(Blame, every_row_says_why_and_no_row_is_there_twice) {
  std::set<std::tuple<Resource, Resource, Reach>> known;
  for (const auto& row : cause_rows()) {
    EXPECT_GT(row.why.size(), 15u);
    EXPECT_TRUE(known.insert({row.cause, row.effect, row.reach}).second) << row.why;
  }
}

}  // namespace
}  // namespace tundish::control::health
