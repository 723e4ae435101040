// Many nodes at once: jobs, NVLink domains, racks; and what must not change a blame.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "control/health/window_for_test.hpp"

namespace tundish::control::health {
namespace {

// [NVSentinel #1748]: 45 on all nodes of a job is the job's signature.
TEST(Storm, forty_five_on_all_nodes_of_a_job_is_the_job) {
  Window window(6);
  window.job("17", {1, 2, 3, 4});
  for (int n = 1; n <= 4; ++n) window.says(n, 45, Resource::process, "", milliseconds(n * 200));
  const auto found = window.judge();
  ASSERT_EQ(brief(found), "job 17 process job_storm\n");
  EXPECT_EQ(found[0].affected.size(), 4u);
}

TEST(Storm, on_some_nodes_of_a_job_it_is_nothing) {
  Window window(6);
  window.job("17", {1, 2, 3, 4});
  for (int n = 1; n <= 3; ++n) window.says(n, 45, Resource::process);
  EXPECT_EQ(brief(window.judge()), "");
}

TEST(Storm, spread_over_an_hour_it_is_no_storm) {
  Window window(6);
  window.job("17", {1, 2, 3, 4});
  for (int n = 1; n <= 4; ++n) window.says(n, 45, Resource::process, "", minutes(n * 10));
  EXPECT_EQ(brief(window.judge_after(minutes(60))), "");
}

// Seen in the lab on a busy machine.
TEST(Storm, nodes_that_are_short_of_cpu_do_not_hide_the_storm) {
  Window window(6);
  window.job("17", {1, 2, 3, 4});
  for (int n = 1; n <= 4; ++n) window.says(n, 45, Resource::process);
  window.starves(2);
  window.starves(3);
  EXPECT_EQ(brief(window.judge()), "job 17 process job_storm\n");
}

TEST(Storm, an_older_line_of_one_node_does_not_hide_the_storm) {
  Window window(6);
  window.job("17", {1, 2, 3, 4});
  for (int n = 1; n <= 4; ++n) window.says(n, 45, Resource::process, "", seconds(60));
  window.seen[0].first = noon;  // it wrote one a minute before as well
  window.seen[0].run_began = noon + seconds(60);
  EXPECT_EQ(brief(window.judge()), "job 17 process job_storm\n");
}

TEST(Storm, after_a_lost_rank_it_is_that_ranks_gpu) {
  Window window(6);
  window.job("17", {1, 2, 3, 4});
  window.says(2, 79, Resource::gpu, "0000:3b:00");
  for (const int n : {1, 2, 3, 4}) window.says(n, 45, Resource::process, "", seconds(1));
  const auto found = window.judge();
  EXPECT_EQ(find(found, Resource::process), nullptr) << brief(found);
}

TEST(Storm, nvlink_faults_of_three_peers_within_seconds_are_the_domain) {
  Window window(18);
  window.domain("nvl1", 1, 18);
  for (const int n : {2, 5, 9}) {
    window.says(n, 149, Resource::nvlink, "", milliseconds(n * 100)).level = Level::fail;
  }
  const auto found = window.judge();
  ASSERT_EQ(brief(found), "domain nvl1 nvswitch burst\n");
  EXPECT_EQ(found[0].affected.size(), 3u);
}

TEST(Storm, an_nvlink_fault_of_one_tray_is_the_tray) {
  Window window(18);
  window.domain("nvl1", 1, 18);
  window.says(5, 149, Resource::nvlink, "0009:01:00").level = Level::fail;
  const auto early = window.judge_after(seconds(3));
  ASSERT_EQ(early.size(), 1u);
  EXPECT_FALSE(early[0].settled);
  EXPECT_FALSE(early[0].claims);
  EXPECT_EQ(brief(window.judge_after(seconds(6))), "node n5 nvlink alone claims\n");
}

// marin #8934: the switch side fails, GPU counters stand still, seven peers fail within 0.5 s.
TEST(Storm, peers_of_two_jobs_that_end_together_point_at_the_domain) {
  Window window(18);
  window.domain("nvl1", 1, 18);
  window.job("17", {1, 2, 3, 4, 5, 6, 7, 8});
  window.job("18", {9, 10});
  for (const int n : {1, 2, 3, 4, 9}) {
    window.says(n, 45, Resource::process, "", milliseconds(n * 50));
  }
  EXPECT_EQ(brief(window.judge()), "domain nvl1 nvswitch burst\n");
}

TEST(Storm, a_job_that_fills_a_domain_and_ends_is_the_job) {
  Window window(4);
  window.domain("nvl1", 1, 4);
  window.job("17", {1, 2, 3, 4});
  for (int n = 1; n <= 4; ++n) window.says(n, 45, Resource::process);
  EXPECT_EQ(brief(window.judge()), "job 17 process job_storm\n");
}

TEST(Storm, with_nvlink_faults_among_them_it_is_the_domain) {
  Window window(4);
  window.domain("nvl1", 1, 4);
  window.job("17", {1, 2, 3, 4});
  for (int n = 1; n <= 4; ++n) {
    window.says(n, 149, Resource::nvlink).level = Level::fail;
    window.says(n, 45, Resource::process, "", seconds(1));
  }
  EXPECT_EQ(brief(window.judge()), "domain nvl1 nvswitch burst\n");
}

TEST(Storm, a_line_that_means_the_domain_is_enough_alone) {
  Window window(4);
  window.domain("nvl1", 1, 4);
  Sighting& imex = window.says(2, 154, Resource::nvlink);
  imex.of_switch_domain = true;
  imex.says = "recovery action 5: recover the IMEX domain";
  EXPECT_EQ(brief(window.judge()), "domain nvl1 nvswitch own_word\n");
}

TEST(Storm, three_trays_out_are_the_rack_and_two_are_not) {
  Window window(18);
  window.domain("nvl1", 1, 18);
  for (const int n : {1, 3}) window.topology.nodes[Window::id(n)].out = true;
  EXPECT_EQ(brief(window.judge()), "");
  window.topology.nodes[Window::id(5)].out = true;
  EXPECT_EQ(brief(window.judge()), "rack r1 nvswitch trays\n");
}

TEST(Storm, a_wet_tray_is_claimed_and_told_of_its_domain) {
  Window window(18);
  window.domain("nvl1", 1, 18);
  Shared liquid = window.domain("nvl1", 1, 18);
  liquid.part = Resource::cooling;
  window.topology.shared.push_back(liquid);
  window.fails(5, Resource::cooling, "1/ColdPlate").locality = Locality::device_local;
  EXPECT_EQ(brief(window.judge()),
            "node n5 cooling only_part claims\ndomain nvl1 cooling own_word\n");
  window.seen.back().level = Level::warn;
  EXPECT_EQ(brief(window.judge()), "node n5 cooling only_part\ndomain nvl1 cooling own_word\n");
  // Without a domain it is the node's alone.
  window.topology.shared.clear();
  window.seen.back().level = Level::fail;
  EXPECT_EQ(brief(window.judge()), "node n5 cooling only_part claims\n");
}

TEST(Storm, what_stops_in_a_wet_tray_came_after_the_water) {
  Window window(4);
  window.fails(2, Resource::cooling, "1/ColdPlate").locality = Locality::device_local;
  window.fails(2, Resource::thermal, "", seconds(20));
  const auto found = window.judge();
  ASSERT_EQ(brief(found), "node n2 cooling came_first claims\n");
}

// Codes that belong together are one sighting. [NVSentinel #1252, #1415]
TEST(Storm, paired_codes_are_one_sighting) {
  Window window(2);
  const std::string gpu = "0000:3b:00";
  window.says(1, 48, Resource::gpu_memory, gpu).level = Level::fail;
  window.says(1, 171, Resource::gpu_memory, gpu, seconds(1)).level = Level::fail;
  auto found = window.judge();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].blame.evidence.size(), 1u);
  window.seen.clear();
  window.says(1, 171, Resource::gpu_memory, gpu).level = Level::fail;
  EXPECT_EQ(window.judge().size(), 1u) << "alone it stands for itself";
  window.seen.clear();
  window.says(1, 163, Resource::power, gpu).level = Level::fail;
  window.says(1, 162, Resource::power, gpu, seconds(2));
  EXPECT_EQ(brief(window.judge()), "") << "162 ends what 163 began";
  window.seen.clear();
  window.says(1, 162, Resource::power, gpu);
  window.says(1, 163, Resource::power, gpu, seconds(2)).level = Level::fail;
  EXPECT_EQ(window.judge().size(), 1u) << "begun again after it ended";
}

TEST(Storm, a_switch_line_beside_the_gpus_own_is_one_sighting) {
  Window window(2);
  window.domain("nvl1", 1, 2);
  Sighting& sxid = window.says(1, 0, Resource::nvswitch);
  sxid.sxid = 20034;
  sxid.what = "sxid 20034";
  window.says(1, 79, Resource::gpu, "0000:3b:00").level = Level::fail;
  const auto found = window.judge();
  EXPECT_EQ(find(found, Resource::nvswitch), nullptr) << brief(found);
  window.seen.pop_back();
  EXPECT_NE(find(window.judge(), Resource::nvswitch), nullptr) << "alone it is the switch's";
}

// Shape 19: what a tenant's root can write accuses nobody and excuses nobody.
TEST(Storm, lines_that_anybody_can_write_are_not_believed) {
  Window window(4);
  window.domain("nvl1", 1, 4);
  for (int n = 1; n <= 4; ++n) {
    Sighting& s = window.says(n, 149, Resource::nvlink);
    s.level = Level::fail;
    s.trust = Trust::forgeable;
  }
  EXPECT_EQ(brief(window.judge()), "");
  window.seen.clear();
  window.says(3, 79, Resource::gpu).trust = Trust::forgeable;
  window.fails(3, Resource::nic, "eth0", seconds(5));
  EXPECT_EQ(brief(window.judge()), "node n3 nic alone claims\n") << "a forged line excuses nothing";
}

// [NVSentinel #1120]: a storm is told in a few lines.
TEST(Storm, evidence_of_a_thousand_nodes_is_short) {
  Window window(1000);
  for (int n = 1; n <= 1000; ++n) window.hangs(n);
  const auto found = window.judge();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_LE(found[0].blame.evidence.size(), 12u);
  EXPECT_NE(found[0].blame.evidence.back().says.find("more"), std::string::npos);
  EXPECT_EQ(found[0].affected.size(), 1000u);
}

std::string everything(const std::vector<Finding>& all) {
  std::vector<std::string> lines;
  for (const auto& one : all) {
    std::string line = brief({one}) + std::to_string(one.blame.confidence);
    for (const auto& e : one.blame.evidence) {
      line += "|" + e.node + e.what + e.says + std::to_string(e.weight);
    }
    for (const auto& c : one.blame.cleared) line += "|" + c.object + c.why;
    for (const auto& id : one.affected) line += "|" + id.str();
    lines.push_back(line);
  }
  std::sort(lines.begin(), lines.end());
  std::string out;
  for (const auto& line : lines) out += line + "\n";
  return out;
}

Window random_window(std::mt19937& random) {
  const auto draw = [&random](int n) {
    return static_cast<int>(random() % static_cast<unsigned>(n));
  };
  Window window(8);
  window.domain("nvl1", 1, 4);
  window.job("17", {1, 2, 3, 4, 5});
  const int many = 1 + draw(14);
  for (int i = 0; i < many; ++i) {
    const int node = 1 + draw(8);
    const Duration at = seconds(draw(20));
    switch (draw(8)) {
      case 0: window.hangs(node, at); break;
      case 1: window.starves(node, at); break;
      case 2: window.fails(node, Resource::link, "eth0", at); break;
      case 3: window.fails(node, Resource::nic, "eth0", at); break;
      case 4: window.says(node, 45, Resource::process, "", at); break;
      case 5: window.says(node, 79, Resource::gpu, "0000:3b:00", at); break;
      case 6: window.says(node, 149, Resource::nvlink, "0000:3b:00", at).level = Level::fail; break;
      default: window.fails(node, Resource::service, "slurmd", at); break;
    }
  }
  return window;
}

TEST(Storm, the_order_of_arrival_changes_nothing) {
  std::mt19937 random(20261130);
  for (int round = 0; round < 400; ++round) {
    Window window = random_window(random);
    const std::string before = everything(window.judge());
    for (int i = 0; i < 5; ++i) {
      std::shuffle(window.seen.begin(), window.seen.end(), random);
      std::shuffle(window.topology.shared.begin(), window.topology.shared.end(), random);
      ASSERT_EQ(everything(window.judge()), before) << "round " << round;
    }
  }
}

TEST(Storm, a_witness_that_is_unrelated_changes_nothing) {
  std::mt19937 random(77);
  for (int round = 0; round < 400; ++round) {
    Window window = random_window(random);
    Place far;
    far.name = "far";
    far.heard = true;
    window.topology.nodes[NodeId("node-far")] = far;
    const std::string before = everything(window.judge());
    Sighting other;
    other.node = NodeId("node-far");
    other.part = Resource::disk;
    other.what = "disk";
    other.first = noon + seconds(3);
    other.last = window.now;
    other.level = Level::note;
    window.seen.push_back(other);
    other.part = Resource::cpu;
    other.level = Level::fail;
    window.seen.push_back(other);
    ASSERT_EQ(everything(window.judge()), before) << "round " << round;
  }
}

TEST(Storm, nothing_shared_takes_a_node_out) {
  std::mt19937 random(5);
  for (int round = 0; round < 400; ++round) {
    const Window window = random_window(random);
    for (const auto& one : window.judge()) {
      if (one.blame.subject_kind != SubjectKind::node && one.blame.part != Resource::link) {
        EXPECT_FALSE(one.claims);
      }
      if (one.claims) {
        EXPECT_GE(one.blame.confidence, least_confidence);
      }
      EXPECT_FALSE(one.blame.would_change.empty());
      EXPECT_FALSE(one.blame.evidence.empty());
    }
  }
}

}  // namespace
}  // namespace tundish::control::health
