// A port of a veth pair stands in for a service node's; to make networks needs root, as the agent
// does.
#include "runtime/agent/cluster_network.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "runtime/agent/gather.hpp"
#include "runtime/agent/stages.hpp"
#include "runtime/agent/teardown.hpp"

namespace tundish::agent {
namespace {
namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class NetworkOfACluster : public testing::Test {
 protected:
  NetworkOfACluster() {
    const std::string pid = std::to_string(::getpid());
    a_ = "ta" + pid;
    b_ = "tb" + pid;
    first_ = "t-" + pid + "-1";
    second_ = "t-" + pid + "-2";
    ready_ =
        can_make_networks() &&
        run_ip({"link", "add", a_, "type", "veth", "peer", "name", b_}, seconds(5)).has_value();
  }
  ~NetworkOfACluster() override {
    if (!ready_) return;
    (void)release_port(first_, seconds(5));
    (void)release_port(second_, seconds(5));
    (void)run_ip({"link", "del", a_}, seconds(5));
  }
  void SetUp() override {
    if (!ready_) GTEST_SKIP() << "needs root to make a network";
  }
  Result<> place(const std::string& cluster, const std::string& port) {
    return place_port({cluster, port}, seconds(5));
  }
  std::string shown(const std::string& cluster, const std::string& port) {
    return run_ip({"-n", cluster_network(cluster), "-4", "addr", "show", "dev", port}, seconds(5))
        .value_or("none");
  }

  std::string a_, b_, first_, second_;
  bool ready_ = false;
};

TEST_F(NetworkOfACluster, HoldsThePortAndTwoMayHaveTheSameAddress) {
  // 192.0.2.0/24 is for examples. Source: RFC 5737, section 3; checked 2026-11.
  for (const auto& [cluster, port] : {std::pair(first_, a_), std::pair(second_, b_)}) {
    ASSERT_TRUE(place(cluster, port));
    const AddressPlan plan{port, "192.0.2.2", 24, Others::flush, cluster_network(cluster)};
    ASSERT_TRUE(apply_address(plan, seconds(5)));
    ASSERT_TRUE(place(cluster, port)) << "a repeat changes nothing";
    EXPECT_THAT(shown(cluster, port), HasSubstr("192.0.2.2/24"));
    EXPECT_EQ(network_of_interface(port), cluster_network_file(cluster));
  }
  EXPECT_FALSE(run_ip({"link", "show", "dev", a_}, seconds(5))) << "the node itself has it no more";
}

TEST_F(NetworkOfACluster, GivesThePortBackDownAndWithoutAddresses) {
  ASSERT_TRUE(place(first_, a_));
  const AddressPlan plan{a_, "192.0.2.2", 24, Others::flush, cluster_network(first_)};
  ASSERT_TRUE(apply_address(plan, seconds(5)));
  ASSERT_TRUE(release_port(first_, seconds(5)));
  EXPECT_FALSE(has_cluster_network(first_));
  const auto back = run_ip({"addr", "show", "dev", a_}, seconds(5));
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_THAT(*back, AllOf(HasSubstr("state DOWN"), Not(HasSubstr("inet"))));
  EXPECT_TRUE(release_port(first_, seconds(5))) << "a repeat is done";
  EXPECT_TRUE(place(second_, a_)) << "and another cluster may have it";
}

TEST_F(NetworkOfACluster, NeverTakesAPortFromAnother) {
  ASSERT_TRUE(place(first_, a_));
  const auto taken = place(second_, a_);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, Code::conflict);
  EXPECT_THAT(taken.error().message(), HasSubstr(first_));
  const auto none = place(first_, "no-such-port");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Code::not_found);
}

TEST_F(NetworkOfACluster, ComesToLifeAfterACrashBetweenTheStepsThatMakeIt) {
  // `ip netns add` makes a file, then mounts the namespace on it.
  fs::create_directories("/run/netns");
  std::ofstream(cluster_network_file(first_)).flush();
  ASSERT_TRUE(has_cluster_network(first_));
  ASSERT_TRUE(place(first_, a_));
  EXPECT_EQ(network_of_interface(a_), cluster_network_file(first_));
  // And one that never got a port.
  ASSERT_TRUE(release_port(first_, seconds(5)));
  std::ofstream(cluster_network_file(second_)).flush();
  EXPECT_TRUE(release_port(second_, seconds(5)));
  EXPECT_FALSE(has_cluster_network(second_));
}

TEST_F(NetworkOfACluster, ItsMacsAreTheNodes) {
  ASSERT_TRUE(run_ip({"link", "set", a_, "address", "02:00:5e:10:00:01"}, seconds(5)));
  ASSERT_TRUE(place(first_, a_));
  const auto hardware = read_hardware("/nowhere", nullptr, {});
  EXPECT_TRUE(hardware.network_namespaces);
  EXPECT_THAT(hardware.nic_macs, Contains("02:00:5e:10:00:01"));
}

}  // namespace
}  // namespace tundish::agent
