// A lab whose switches run FRR. What tenants see of it is tests/netns/frr_fabric.sh. Needs root.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <thread>

#include "base/text.hpp"
#include "codec/json.hpp"
#include "lab/lab.hpp"
#include "lab/namespaces.hpp"
#include "runtime/process/process.hpp"

namespace tundish::lab {
namespace {
namespace fs = std::filesystem;

bool eventually(const std::function<bool()>& holds, int limit_ms = 15000) {
  for (int waited = 0; waited < limit_ms; waited += 50) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return false;
}

/// lab_test.cpp makes this test program act as `tundish`.
class FrrLab : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!can_run()) return;
    const std::string base = "/tmp/tundish-frr-test-" + std::to_string(::getpid());
    spec.name = "frr" + std::to_string(::getpid());
    spec.root = base + "/lab";
    spec.bin_dir = base + "/bin";
    spec.nodes = 2;
    spec.service_nodes = 0;
    spec.login_nodes = 0;
    spec.spines = 1;
    spec.post_delay_ms = 50;
    spec.fabric = FabricKind::frr;
    ASSERT_TRUE(make_folder(spec.bin_dir));
    fs::create_symlink(fs::read_symlink("/proc/self/exe"), spec.bin_dir + "/tundish");
    for (const char* const name : {"/tundishd", "/tundish-agent"}) {
      ASSERT_TRUE(
          process::write_file_atomic(spec.bin_dir + name, "#!/bin/sh\nexec sleep 100000\n", 0755));
    }
    const auto done = lab_up(spec, {});
    ASSERT_TRUE(done) << done.error().message();
  }

  static void TearDownTestSuite() {
    if (!can_run()) return;
    const auto done = lab_down(spec, KeepLogs::no);
    EXPECT_TRUE(done) << done.error().message();
    fs::remove_all(fs::path(spec.root).parent_path());
  }

  static bool can_run() { return ::geteuid() == 0 && fs::exists("/usr/lib/frr/bgpd"); }

  void SetUp() override {
    if (!can_run()) GTEST_SKIP() << "needs root and FRR";
  }

  static std::string call(const std::string& path, const std::string& body) {
    const auto done = call_lab(paths_of(spec), {body.empty() ? "GET" : "POST", path, body});
    return done ? *done : "error: " + done.error().message();
  }

  static LabSwitchStatus status(const std::string& name) {
    LabSwitchStatus found;
    EXPECT_TRUE(parse_json(call("/switches/" + name, ""), found));
    return found;
  }

  /// On a node or a switch, by its console.
  static RunResponse in(const std::string& name, const std::string& script) {
    RunRequest request{name, {"sh", "-c", script}, 20};
    RunResponse response;
    const auto body = call("/run", render_json(request));
    EXPECT_TRUE(parse_json(body, response)) << body;
    return response;
  }

  /// As tundishd would: by ssh from the lab's root network, with the lab's key.
  static std::string ssh(const std::string& address, const std::string& script) {
    const LabPaths paths = paths_of(spec);
    process::Command command;
    command.argv = {"nsenter",
                    "-t",
                    std::to_string(find_supervisor(paths)),
                    "-n",
                    "ssh",
                    "-i",
                    paths.switch_key(),
                    "-o",
                    "BatchMode=yes",
                    "-o",
                    "ConnectTimeout=5",
                    "-o",
                    "UserKnownHostsFile=" + paths.switch_known_hosts(),
                    "-o",
                    "StrictHostKeyChecking=yes",
                    "root@" + address,
                    script};
    const auto output = process::run(command);
    return output ? output->out + output->err : output.error().message();
  }

  static bool has_neighbors(const std::string& name, const std::string& count) {
    const auto shown = in(name,
                          "vtysh -c 'show bgp l2vpn evpn summary json' | "
                          "jq '[.peers[] | select(.state == \"Established\")] | length'");
    return shown.out == count + "\n";
  }

  static std::string carrier(const std::string& node) {
    return in(node, "cat /sys/class/net/eth0/carrier").out;
  }

  static inline LabSpec spec;
};

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
