// A lab whose switches run FRR. What tenants see of it is tests/netns/frr_fabric.sh. Needs root.
#include <signal.h>

#include "lab/frr_lab_for_test.hpp"

namespace tundish::lab {
namespace {

TEST_F(FrrLab, SwitchesAreRoutersWithAnUnderlay) {
  EXPECT_TRUE(eventually([] { return has_neighbors("spine1", "2"); }));
  EXPECT_TRUE(eventually([] {
    return in("leaf1", "ip route show 10.255.0.2").out.find("proto bgp") != std::string::npos;
  }));
  EXPECT_EQ(ssh("10.88.2.1", "hostname; id -u; ls /run/netns"), "leaf1\n0\n");
  EXPECT_NE(in("leaf1", "cat /sys/class/net/up1/mtu").out.find("9216"), std::string::npos);
}

TEST_F(FrrLab, NodesDoNotReachSwitches) {
  for (const std::string address : {"10.88.2.1", "10.88.3.1"}) {
    EXPECT_NE(in("n01", "timeout 1 bash -c ': </dev/tcp/" + address + "/22'").exit_code, 0);
  }
  EXPECT_EQ(carrier("n01"), "0\n") << "ports start in quarantine";
}

TEST_F(FrrLab, DaemonsComeBackWithTheirConfiguration) {
  ASSERT_TRUE(eventually([] { return has_neighbors("leaf2", "1"); }));
  in("leaf2", "kill -9 $(pgrep bgpd)");
  EXPECT_TRUE(eventually([] { return !has_neighbors("leaf2", "1"); }));
  EXPECT_TRUE(eventually([] { return has_neighbors("leaf2", "1"); }));
  in("leaf2", "kill -9 $(pgrep zebra)");
  EXPECT_TRUE(eventually([] { return !has_neighbors("leaf2", "1"); }));
  EXPECT_TRUE(eventually([] { return has_neighbors("leaf2", "1"); }, 25000));
}

TEST_F(FrrLab, PortOfAVanishedNamespaceComesBackDown) {
  in("leaf1",
     "ip netns add Vrf00010; ip link set swp1 netns Vrf00010; "
     "ip -n Vrf00010 link set swp1 up");
  EXPECT_TRUE(eventually([] { return carrier("n01") == "1\n"; }));
  EXPECT_TRUE(
      eventually([] { return in("leaf1", "test -S /run/lldpd.Vrf00010.socket").exit_code == 0; }));
  in("leaf1", "ip netns del Vrf00010");
  EXPECT_TRUE(eventually([] { return in("leaf1", "ip link show swp1").exit_code == 0; }));
  EXPECT_EQ(carrier("n01"), "0\n");
}

TEST_F(FrrLab, CrashOfASwitchTakesNoPortFromItsNodes) {
  in("leaf1",
     "ip netns add Vrf00010; ip link set swp1 netns Vrf00010; "
     "ip -n Vrf00010 link set swp1 up");
  in("n01", "ip addr add 10.9.0.1/24 dev eth0");
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const auto before = status("leaf1");
  ASSERT_GT(before.host_pid, 1);
  ASSERT_EQ(::kill(before.host_pid, SIGKILL), 0);
  EXPECT_TRUE(eventually([&] {
    const auto now = status("leaf1");
    return now.phase == "running" && now.starts == before.starts + 1;
  }));
  EXPECT_EQ(in("leaf1", "ls /run/netns; ip link show swp1 | grep -c 'state DOWN'").out, "1\n");
  EXPECT_NE(in("n01", "ip addr show dev eth0").out.find("10.9.0.1"), std::string::npos);
}

TEST_F(FrrLab, CablesAreCutMendedAndSwapped) {
  for (const std::string leaf : {"leaf1", "leaf2"}) in(leaf, "ip link set swp1 up");
  EXPECT_TRUE(eventually([] { return carrier("n01") == "1\n" && carrier("n02") == "1\n"; }));
  call("/cable", R"({"port":"leaf1/swp1","action":"cut"})");
  EXPECT_EQ(carrier("n01"), "0\n");
  EXPECT_EQ(status("leaf1").cut, std::vector<std::string>{"swp1"});
  call("/cable", R"({"port":"n01/eth0","action":"mend"})");
  EXPECT_TRUE(eventually([] { return carrier("n01") == "1\n"; }));
  call("/cable", R"({"port":"leaf2/up1","action":"cut"})");
  EXPECT_TRUE(eventually([] { return has_neighbors("spine1", "1"); }));
  call("/cable", R"({"port":"leaf2/up1","action":"mend"})");
  EXPECT_TRUE(eventually([] { return has_neighbors("spine1", "2"); }));
  const auto neighbor = [](const std::string& leaf) {
    return in(leaf, "lldpcli show neighbors ports swp1 summary | grep SysName").out;
  };
  EXPECT_TRUE(eventually([&] { return neighbor("leaf1").find("n01") != std::string::npos; }));
  EXPECT_EQ(call("/swap", R"({"port":"n01/eth0","other":"n02/eth0"})"), "{}");
  EXPECT_TRUE(eventually([&] { return neighbor("leaf1").find("n02") != std::string::npos; }));
  EXPECT_TRUE(eventually([&] { return neighbor("leaf2").find("n01") != std::string::npos; }));
  EXPECT_EQ(call("/swap", R"({"port":"n01/eth0","other":"n02/eth0"})"), "{}");
  EXPECT_NE(call("/cable", R"({"port":"leaf9/swp1","action":"cut"})").find("error"),
            std::string::npos);
  for (const std::string leaf : {"leaf1", "leaf2"}) in(leaf, "ip link set swp1 down");
}

TEST_F(FrrLab, FrozenSwitchForwardsAndAnOffOneDoesNot) {
  ASSERT_TRUE(eventually([] { return has_neighbors("spine1", "2"); }));
  call("/switch", R"({"name":"leaf2","action":"freeze"})");
  EXPECT_EQ(status("leaf2").phase, "frozen");
  EXPECT_TRUE(eventually([] { return has_neighbors("spine1", "1"); }));
  EXPECT_EQ(in("leaf2", "cat /sys/class/net/up1/carrier").out, "1\n");
  call("/switch", R"({"name":"leaf2","action":"thaw"})");
  EXPECT_TRUE(eventually([] { return has_neighbors("spine1", "2"); }));
  call("/switch", R"({"name":"leaf2","action":"off"})");
  EXPECT_TRUE(eventually([] { return status("leaf2").phase == "off"; }));
  EXPECT_EQ(in("spine1", "cat /sys/class/net/swp2/carrier").out, "0\n");
  call("/switch", R"({"name":"leaf2","action":"on"})");
  EXPECT_TRUE(eventually([] { return has_neighbors("spine1", "2"); }));
}

TEST_F(FrrLab, ANodeCannotHarmItsCable) {
  in("n02", "ip link del eth0");
  EXPECT_EQ(in("leaf2", "ip link show swp1").exit_code, 0);
  call("/power", R"({"node":"n02","action":"cycle"})");
  EXPECT_TRUE(eventually([] {
    LabNodeStatus node;
    EXPECT_TRUE(parse_json(call("/nodes/n02", ""), node));
    return node.boots == 2 && node.phase == "running";
  }));
  EXPECT_EQ(in("n02", "cat /sys/class/net/eth0/address").out, "02:4c:e0:00:00:02\n");
}

}  // namespace
}  // namespace tundish::lab
