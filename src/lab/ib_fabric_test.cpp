// InfiniBand of an frr lab: ibsim, a manager that is reached by ssh, and what nodes see of it.
#include "lab/frr_lab_for_test.hpp"
#include "lab/ib_plan.hpp"

namespace tundish::lab {
namespace {

class IbLab : public FrrLab {
 protected:
  static bool can_run() { return FrrLab::can_run() && std::filesystem::exists("/usr/sbin/opensm"); }
  void SetUp() override {
    if (!can_run()) GTEST_SKIP() << "needs root, FRR and opensm";
    ASSERT_TRUE(eventually([] { return port("n01", "state") + port("n02", "state") == both_up; }));
  }

  static std::string port(const std::string& node, const std::string& file) {
    return in(node, "cat /sys/class/infiniband/mlx5_0/ports/1/" + file).out;
  }
  static bool carries(const std::string& node, const std::string& pkey) {
    return in(node, "grep -q " + pkey + " /sys/class/infiniband/mlx5_0/ports/1/pkeys/*")
               .exit_code == 0;
  }
  /// As a driver does it, without its care.
  static void set_partitions(const std::string& lines) {
    ssh(manager, "cp -n /etc/opensm/partitions.conf /tmp/first; { cat /tmp/first; echo '" + lines +
                     "'; } >/etc/opensm/partitions.conf; pkill -HUP opensm");
  }
  static std::string guid(int index) { return make_hca(index, 0).guid; }
  /// CAs that the manager sees.
  static std::string seen() { return ssh(manager, "ibnetdiscover -p | grep -c ^CA"); }

  static inline const std::string manager = "10.88.4.1";
  static inline const std::string both_up = "4: ACTIVE\n4: ACTIVE\n";
};

TEST_F(IbLab, ManagerIsReachedAsASwitchIs) {
  EXPECT_EQ(status("sm1").role, "manager");
  EXPECT_EQ(status("sm1").management_address, manager);
  const auto said = ssh(manager, "hostname; sminfo; pgrep -c opensm");
  for (const std::string part : {"sm1\n", "SMINFO_MASTER", "\n1\n"}) {
    EXPECT_NE(said.find(part), std::string::npos) << part << " in " << said;
  }
  EXPECT_NE(in("n01", "timeout 1 bash -c ': </dev/tcp/" + manager + "/22'").exit_code, 0);
}

TEST_F(IbLab, NodeSeesItsHca) {
  EXPECT_EQ(in("n01", "cat /sys/class/infiniband/mlx5_0/node_guid").out, "0002:c903:0100:0100\n");
  EXPECT_EQ(port("n01", "gids/0"), "fe80:0000:0000:0000:0002:c903:0100:0101\n");
  EXPECT_EQ(port("n01", "phys_state"), "5: LinkUp\n");
  EXPECT_NE(port("n01", "lid"), "0x0\n");
  EXPECT_TRUE(eventually([] { return port("n01", "pkeys/0") == "0x7fff\n"; }));
  EXPECT_EQ(in("n01", "ls /sys/class/infiniband").out, "mlx5_0\n");
  EXPECT_NE(in("n01", "echo 1 >/sys/class/infiniband/mlx5_0/ports/1/state").exit_code, 0);
}

TEST_F(IbLab, PartitionsReachThePortsAndLeaveThem) {
  set_partitions("t00010=0x0110 : " + guid(1) + "=full, " + guid(2) + "=full ;");
  EXPECT_TRUE(eventually([] { return carries("n01", "0x8110") && carries("n02", "0x8110"); }));
  set_partitions("t00010=0x0110 : " + guid(1) + "=full ;");
  EXPECT_TRUE(eventually([] { return !carries("n02", "0x8110"); }));
  EXPECT_TRUE(carries("n01", "0x8110"));
  set_partitions("");
  EXPECT_TRUE(eventually([] { return !carries("n01", "0x8110"); }));
}

TEST_F(IbLab, CableAndPowerTakeThePortDown) {
  set_partitions("t00010=0x0110 : " + guid(1) + "=full ;");
  EXPECT_TRUE(eventually([] { return carries("n01", "0x8110"); }));
  EXPECT_EQ(call("/cable", R"({"port":"n01/mlx5_0","action":"cut"})"), "{}");
  EXPECT_TRUE(eventually([] { return port("n01", "state") == "1: DOWN\n"; }));
  EXPECT_TRUE(carries("n01", "0x8110")) << "the table is the port's own";
  EXPECT_TRUE(eventually([] { return seen() == "2\n"; })) << seen();
  LabStatus told;
  EXPECT_TRUE(parse_json(call("/status", ""), told));
  ASSERT_EQ(told.hcas.size(), 2U);
  EXPECT_TRUE(told.hcas[0].cut);
  EXPECT_EQ(told.hcas[0].link, "down");
  EXPECT_EQ(call("/cable", R"({"port":"ibleaf1/1","action":"mend"})"), "{}");
  EXPECT_TRUE(eventually([] { return port("n01", "state") == "4: ACTIVE\n"; }));

  call("/power", R"({"node":"n01","action":"off"})");
  EXPECT_TRUE(eventually([] { return seen() == "2\n"; }));
  set_partitions("");
  call("/power", R"({"node":"n01","action":"on"})");
  EXPECT_TRUE(eventually([] {
    LabNodeStatus node;
    return parse_json(call("/nodes/n01", ""), node) && node.phase == "running";
  }));
  EXPECT_TRUE(eventually([] { return port("n01", "state") == "4: ACTIVE\n"; }));
  EXPECT_FALSE(carries("n01", "0x8110"));
  EXPECT_EQ(seen(), "3\n");
}

TEST_F(IbLab, OneOfTwoTrunksIsEnough) {
  call("/cable", R"({"port":"ibspine1/1","action":"cut"})");
  EXPECT_TRUE(eventually([] { return seen() == "3\n"; }));
  call("/cable", R"({"port":"ibleaf1/4","action":"cut"})");
  EXPECT_TRUE(eventually([] { return seen() == "2\n"; })) << seen();
  call("/cable", R"({"port":"ibleaf1/3","action":"mend"})");
  EXPECT_TRUE(eventually([] { return seen() == "3\n"; }));
  call("/cable", R"({"port":"ibleaf1/4","action":"mend"})");
}

TEST_F(IbLab, PortsKeepWhatTheyHaveWithoutAManager) {
  set_partitions("t00010=0x0110 : " + guid(2) + "=full ;");
  EXPECT_TRUE(eventually([] { return carries("n02", "0x8110"); }));
  // ibsim does not survive a client that dies while it is greeted: wait until the lab has looked.
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  call("/switch", R"({"name":"sm1","action":"off"})");
  EXPECT_TRUE(eventually([] { return status("sm1").phase == "off"; }));
  EXPECT_EQ(port("n02", "state"), "4: ACTIVE\n");
  EXPECT_TRUE(carries("n02", "0x8110"));
  call("/switch", R"({"name":"sm1","action":"on"})");
  EXPECT_TRUE(
      eventually([] { return ssh(manager, "sminfo").find("MASTER") != std::string::npos; }));
  EXPECT_NE(ssh(manager, "cat /etc/opensm/partitions.conf").find("t00010"), std::string::npos);
}

TEST_F(IbLab, SimulatorThatDiedComesBackWithItsCables) {
  set_partitions("t00010=0x0110 : " + guid(2) + "=full ;");
  call("/cable", R"({"port":"n01/mlx5_0","action":"cut"})");
  process::Command command;
  command.argv = {"pkill", "-KILL", "-xf", "/usr/bin/ibsim -s " + paths_of(spec).ib_net()};
  ASSERT_TRUE(process::run(command)->ok());
  EXPECT_TRUE(eventually([] { return seen() == "2\n"; })) << seen();
  EXPECT_TRUE(eventually([] { return carries("n02", "0x8110"); })) << port("n02", "pkeys/1");
  EXPECT_TRUE(eventually([] { return port("n01", "state") == "1: DOWN\n"; }));
  call("/cable", R"({"port":"n01/mlx5_0","action":"mend"})");
  EXPECT_TRUE(eventually([] { return port("n01", "state") == "4: ACTIVE\n"; }));
}

}  // namespace
}  // namespace tundish::lab
