// A gateway on the wire: people on one side, a login node on the other, each a namespace. Needs
// root to make them, as the agent does.
#include "runtime/agent/access_gateway.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/agent/cluster_network.hpp"
#include "runtime/agent/net_reach.hpp"
#include "runtime/agent/stages.hpp"
#include "runtime/agent/teardown.hpp"
#include "runtime/process/fd.hpp"

namespace tundish::agent {
namespace {
using testing::HasSubstr;

constexpr int inner_port = 6817;

class Gateway : public testing::Test {
 protected:
  Gateway() {
    const std::string pid = std::to_string(::getpid());
    cluster_ = "t-" + pid;
    people_ = "tp-" + pid;
    login_ = "tl-" + pid;
    segment_ = "ts" + pid;
    uplink_ = "tu" + pid;
    ready_ = can_make_networks() && make_world().has_value();
  }
  ~Gateway() override {
    (void)release_port(cluster_, seconds(5));
    for (const auto& network : {people_, login_})
      (void)run_ip({"netns", "del", network}, seconds(5));
    for (const auto& link : {segment_, uplink_}) (void)run_ip({"link", "del", link}, seconds(5));
  }
  void SetUp() override {
    if (!ready_) GTEST_SKIP() << "needs root to make networks";
    for (const int port : {22, 8080}) listeners_.push_back(listen_in(file_of(login_), port));
    listeners_.push_back(listen_in(cluster_network_file(cluster_), inner_port));
    listeners_.push_back(listen_in(file_of(people_), 80));
  }
  Result<> make_side(const std::string& network, const std::string& port,
                     const std::string& address) {
    TRY(run_ip({"netns", "add", network}, seconds(5)));
    TRY(run_ip({"link", "add", port, "type", "veth", "peer", "name", "x0", "netns", network},
               seconds(5)));
    TRY(run_ip({"link", "set", port, "up"}, seconds(5)));
    TRY(run_ip({"-n", network, "addr", "add", address, "dev", "x0"}, seconds(5)));
    TRY(run_ip({"-n", network, "link", "set", "x0", "up"}, seconds(5)));
    return {};
  }
  /// 10.70.0.0/24 is the cluster's, 10.89.0.0/16 the people's.
  Result<> make_world() {
    TRY_VOID(make_side(people_, uplink_, "10.89.0.1/16"));
    TRY_VOID(make_side(login_, segment_, "10.70.0.3/24"));
    TRY_VOID(place_port({cluster_, segment_}, seconds(5)));
    return apply_address({segment_, "10.70.0.2", 24, Others::flush, cluster_network(cluster_)},
                         seconds(5));
  }
  static std::string file_of(const std::string& network) { return "/run/netns/" + network; }
  static process::Fd listen_in(const std::string& file, int port) {
    process::Fd fd;
    const auto done = run_in_network(file, [&]() -> Result<> {
      fd = process::Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      sockaddr_in here{};
      here.sin_family = AF_INET;
      here.sin_port = htons(static_cast<std::uint16_t>(port));
      EXPECT_EQ(::bind(fd.get(), reinterpret_cast<sockaddr*>(&here), sizeof here), 0);
      EXPECT_EQ(::listen(fd.get(), 8), 0);
      return {};
    });
    EXPECT_TRUE(done);
    return fd;
  }
  static ProbeReach reach(const std::string& network, const std::string& address, int port) {
    std::vector<ProbeServiceSeen> seen;
    const auto done = run_in_network(file_of(network), [&]() -> Result<> {
      seen = reach_services({{"x", address, port}}, {"x0", milliseconds(700)});
      return {};
    });
    EXPECT_TRUE(done);
    return seen.at(0).reach;
  }
  static AccessGateway ssh_from(const std::string& source) {
    AccessGateway gateway;
    gateway.address = "10.89.0.16";
    gateway.prefix_length = 16;
    gateway.target = "10.70.0.3";
    gateway.rules.push_back({"tcp", source, 22, 0});
    return gateway;
  }
  Result<> open(const AccessGateway& gateway) {
    return open_gateway({cluster_, uplink_, segment_}, gateway, seconds(5));
  }

  std::string cluster_, people_, login_, segment_, uplink_;
  std::vector<process::Fd> listeners_;
  bool ready_ = false;
};

TEST_F(Gateway, LetsInWhatIsAllowedAndNothingElse) {
  const auto opened = open(ssh_from(""));
  ASSERT_TRUE(opened) << opened.error().message();
  EXPECT_EQ(reach(login_, "10.70.0.2", inner_port), ProbeReach::reached) << "its own controller";
  EXPECT_EQ(reach(people_, "10.89.0.16", 22), ProbeReach::reached);
  EXPECT_EQ(reach(people_, "10.89.0.16", 8080), ProbeReach::silent);
  EXPECT_EQ(reach(people_, "10.89.0.16", inner_port), ProbeReach::silent) << "the controller";
  EXPECT_TRUE(open(ssh_from(""))) << "a repeat changes nothing";
  EXPECT_EQ(reach(people_, "10.89.0.16", 22), ProbeReach::reached);
}

TEST_F(Gateway, AsksWhereACallComesFrom) {
  ASSERT_TRUE(open(ssh_from("10.89.7.0/24")));
  EXPECT_EQ(reach(people_, "10.89.0.16", 22), ProbeReach::silent);
  ASSERT_TRUE(open(ssh_from("10.89.0.0/24")));
  EXPECT_EQ(reach(people_, "10.89.0.16", 22), ProbeReach::reached);
}

TEST_F(Gateway, IsNoWayIntoTheSegmentByItsOwnAddressesNorOutOfIt) {
  ASSERT_TRUE(open(ssh_from("")));
  ASSERT_TRUE(
      run_ip({"-n", people_, "route", "add", "10.70.0.0/24", "via", "10.89.0.16"}, seconds(5)));
  EXPECT_EQ(reach(people_, "10.70.0.3", 22), ProbeReach::silent);
  EXPECT_EQ(reach(people_, "10.70.0.2", inner_port), ProbeReach::silent);
  ASSERT_TRUE(
      run_ip({"-n", login_, "route", "add", "10.89.0.0/16", "via", "10.70.0.2"}, seconds(5)));
  EXPECT_EQ(reach(login_, "10.89.0.1", 80), ProbeReach::silent);
}

TEST_F(Gateway, GoesWithoutATraceAndAlsoWithItsCluster) {
  ASSERT_TRUE(open(ssh_from("")));
  ASSERT_TRUE(close_gateway(cluster_, seconds(5)));
  EXPECT_EQ(reach(people_, "10.89.0.16", 22), ProbeReach::silent);
  EXPECT_TRUE(close_gateway(cluster_, seconds(5))) << "a repeat is done";
  ASSERT_TRUE(open(ssh_from("")));
  ASSERT_TRUE(release_port(cluster_, seconds(5)));
  EXPECT_EQ(reach(people_, "10.89.0.16", 22), ProbeReach::silent);
  EXPECT_TRUE(run_ip({"link", "show", "dev", segment_}, seconds(5))) << "the port is back";
  EXPECT_FALSE(run_ip({"link", "show", "dev", std::string(gateway_interface)}, seconds(5)));
}

TEST(GatewayText, NamesNoRuleThatWasNotOrdered) {
  AccessGateway gateway;
  gateway.address = "10.89.0.16";
  gateway.target = "10.70.0.3";
  gateway.rules = {{"udp", "192.0.2.0/24", 1000, 2000}};
  EXPECT_THAT(render_gateway(gateway, "eth3"),
              HasSubstr("ip daddr 10.89.0.16 ip saddr 192.0.2.0/24 udp dport 1000-2000 dnat to "
                        "10.70.0.3\n"));
}

}  // namespace
}  // namespace tundish::agent
