#include "control/peers/compare.hpp"

#include <gtest/gtest.h>

namespace tundish::control {
namespace {

NodeLoad busy() {
  NodeLoad load;
  load.clock_mhz = 1980;
  load.power_w = 5200;
  load.utilization_percent = 98;
  load.throttled_gpus = 0;
  load.nic_bytes_per_s = 40'000'000'000;
  load.nic_rate_gbps = 400;
  return load;
}

std::vector<std::string> outliers(const NodeLoad& mine, const std::vector<NodeLoad>& peers) {
  std::vector<std::string> out;
  for (const auto& finding : compare_with_peers(mine, peers)) {
    if (finding.outlier) out.push_back(finding.what);
  }
  return out;
}

TEST(Peers, equals_have_no_outlier) {
  EXPECT_TRUE(outliers(busy(), {busy(), busy(), busy()}).empty());
}

TEST(Peers, a_gpu_held_at_a_low_clock_is_seen) {
  NodeLoad slow = busy();
  slow.clock_mhz = 345;
  slow.power_w = 3000;
  slow.throttled_gpus = 1;
  EXPECT_EQ(outliers(slow, {busy(), busy(), busy()}),
            (std::vector<std::string>{"SM clock of its slowest GPU", "power of its GPUs",
                                      "GPUs slowed down for heat or power"}));
}

TEST(Peers, a_port_at_half_rate_is_seen_on_an_idle_node_too) {
  NodeLoad slow = busy();
  slow.nic_rate_gbps = 200;
  std::vector<NodeLoad> peers(3, busy());
  for (auto& peer : peers) peer.utilization_percent = 0;
  EXPECT_EQ(outliers(slow, peers), (std::vector<std::string>{"rate of its slowest HCA port"}));
}

TEST(Peers, an_idle_job_says_nothing_of_clocks_and_power) {
  NodeLoad slow = busy();
  slow.clock_mhz = 345;
  slow.power_w = 600;
  std::vector<NodeLoad> peers(3, busy());
  for (auto& peer : peers) peer.utilization_percent = 3;
  EXPECT_TRUE(outliers(slow, peers).empty());
}

TEST(Peers, one_peer_is_no_jury_and_silence_no_number) {
  NodeLoad slow = busy();
  slow.clock_mhz = 345;
  EXPECT_TRUE(outliers(slow, {busy()}).empty());
  EXPECT_TRUE(outliers(slow, {busy(), NodeLoad{}, NodeLoad{}}).empty());
  EXPECT_TRUE(outliers(NodeLoad{}, {busy(), busy(), busy()}).empty());
  EXPECT_TRUE(compare_with_peers(NodeLoad{}, {}).size() == 5);
}

TEST(Peers, many_slow_peers_are_not_outvoted_by_one_fast_node) {
  NodeLoad slow = busy();
  slow.clock_mhz = 1200;
  EXPECT_TRUE(outliers(slow, {slow, slow, busy()}).empty()) << "the job runs at that clock";
}

TEST(Peers, of_two_peers_the_slow_one_is_not_the_norm) {
  NodeLoad slow = busy();
  slow.clock_mhz = 345;
  const auto clock = [](const NodeLoad& mine, const std::vector<NodeLoad>& peers) {
    return compare_with_peers(mine, peers).front();
  };
  const PeerFinding sound = clock(busy(), {slow, busy()});
  EXPECT_EQ(sound.peers, "345 to 1980 MHz") << "it is told as it is";
  EXPECT_FALSE(sound.outlier);
  EXPECT_FALSE(is_split(sound)) << "as fast as the better one: nothing is wrong with it";
  const PeerFinding doubtful = clock(slow, {slow, busy()});
  EXPECT_FALSE(doubtful.outlier) << "one against one: nobody is outvoted";
  EXPECT_TRUE(is_split(doubtful)) << "and nobody is cleared";
  slow.clock_mhz = 100;
  NodeLoad half = busy();
  half.clock_mhz = 1000;
  EXPECT_TRUE(clock(slow, {half, busy()}).outlier) << "below both of them";
  std::vector<NodeLoad> idle = {slow, busy()};
  for (auto& peer : idle) peer.utilization_percent = 0;
  EXPECT_FALSE(is_split(clock(slow, idle))) << "an idle job says nothing";
}

TEST(Peers, spread_of_boards_is_none) {
  NodeLoad a = busy();
  a.clock_mhz = 1755;
  a.power_w = 4600;
  EXPECT_TRUE(outliers(a, {busy(), busy(), busy()}).empty());
}

}  // namespace
}  // namespace tundish::control
