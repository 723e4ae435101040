// Exports of the lab's storage, used by nodes as tenants will: with sshfs, over a leaf that routes
// the addresses which nodes have towards the storage.
#include <cstdlib>

#include "base/text.hpp"
#include "lab/frr_lab_for_test.hpp"
#include "lab/switch_plan.hpp"

namespace tundish::lab {
namespace {

const std::string address_a = "100.64.0.5";
const std::string address_b = "100.64.0.6";
/// As the waits of the lab's scripts: what a machine of its own takes at most, times patience.
const int busy_ms = [] {
  const char* patience = std::getenv("TUNDISH_PATIENCE");
  return 1000 * (patience != nullptr ? std::atoi(patience) : 3);
}();

class StorageLab : public FrrLab {
 protected:
  static bool can_run() { return FrrLab::can_run() && std::filesystem::exists("/usr/bin/sshfs"); }
  static void SetUpTestSuite() {
    if (!can_run()) return;
    start(1);
    const std::string router = "ip -n Vrf60001 ";
    in("leaf1",
       "ip netns add Vrf60001; for p in swp1 swp2 swp3; do ip link set $p netns Vrf60001; " +
           router + "link set $p up; done; " + router + "addr add " + storage_gateway +
           "/24 dev swp3; " + router + "addr add 10.9.1.1/30 dev swp1; " + router +
           "addr add 10.9.2.1/30 dev swp2; " + router + "route add " + address_a +
           " via 10.9.1.2; " + router + "route add " + address_b +
           " via 10.9.2.2; ip netns exec Vrf60001 sysctl -qw net.ipv4.ip_forward=1");
    plug("n01", "10.9.1", address_a);
    plug("n02", "10.9.2", address_b);
    for (const std::string name : {"a", "b"}) {
      for (const std::string node : {"n01", "n02"}) {
        if (name == "a" && node == "n01") {
          in(node,
             "ssh-keygen -qt ed25519 -N '' -f /srv/a; ssh-keygen -qt ed25519 -N '' -f /srv/b");
          continue;
        }
        in(node, "echo '" + in("n01", "cat /srv/" + name).out + "' >/srv/" + name +
                     "; chmod 600 /srv/" + name);
      }
      EXPECT_EQ(act("echo '" + trim_line(in("n01", "cat /srv/" + name + ".pub").out) +
                    "' | storage-export create " + name),
                "");
    }
  }
  void SetUp() override {
    if (!can_run()) GTEST_SKIP() << "needs root, FRR and sshfs";
  }
  void TearDown() override {
    if (!can_run()) return;
    for (const std::string node : {"n01", "n02"}) in(node, "pkill -9 sshfs; umount -l /mnt/x");
    for (const std::string name : {"a", "b"}) {
      for (const auto& address : {address_a, address_b})
        act("storage-export revoke " + name + " " + address);
    }
  }

  static std::string trim_line(const std::string& text) { return std::string(trim(text)); }
  static void plug(const std::string& node, const std::string& net, const std::string& address) {
    in(node, "ip addr add " + net + ".2/30 dev eth0; ip addr add " + address +
                 "/32 dev eth0; ip route add 10.200.0.0/24 via " + net + ".1 src " + address);
  }
  /// On the storage, as its driver will.
  static std::string act(const std::string& script) { return ssh("10.88.5.1", script); }
  static int mount(const std::string& node, const std::string& name) {
    return in(node, "mkdir -p /mnt/x; timeout 8 sshfs " + name + "@" + storage_address +
                        ":/data /mnt/x -o IdentityFile=/srv/" + name +
                        ",StrictHostKeyChecking=no,UserKnownHostsFile=/dev/null,BatchMode=yes,"
                        "ConnectTimeout=2,ConnectionAttempts=1 </dev/null >/dev/null 2>&1")
        .exit_code;
  }
};

TEST_F(StorageLab, AGrantedSourceMountsAndWrites) {
  EXPECT_NE(mount("n01", "a"), 0) << "nothing is granted yet";
  EXPECT_EQ(in("n01", "timeout 1 bash -c ': </dev/tcp/" + storage_address + "/22'").exit_code, 124)
      << "who was not granted anything hears nothing";
  EXPECT_EQ(act("storage-export grant a " + address_a), "");
  ASSERT_EQ(mount("n01", "a"), 0);
  EXPECT_EQ(in("n01",
               "cd /mnt/x && echo one >f && chown 1234:1234 f && mv f file && cat file && "
               "stat -c %u file")
                .out,
            "one\n1234\n");
  EXPECT_EQ(act("cat /srv/exports/a/data/file"), "one\n");
  EXPECT_EQ(act("storage-export list"), "export a " + address_a + "\nexport b\n");
  EXPECT_EQ(act("storage-export sessions").rfind("session a " + address_a + " ", 0), 0U);
}

/// Within a second on a machine of its own; the bound is what a busy one may take.
TEST_F(StorageLab, ARevokedSourceIsGoneAtOnce) {
  act("storage-export grant a " + address_a);
  ASSERT_EQ(mount("n01", "a"), 0);
  // The node writes all the time, and notes the last time that it could. The folder is only in the
  // export: sshfs that lost its server unmounts, and writes would go to the node's own disk.
  in("n01",
     "mkdir -p /mnt/x/there; cat >/srv/write <<'X'\nwhile echo w >/mnt/x/there/busy; do date "
     "+%s%3N >/srv/last; done\n"
     "date +%s%3N >/srv/failed\nX\nrm -f /srv/failed; setsid sh /srv/write >/dev/null 2>&1 &");
  ASSERT_TRUE(eventually([] { return in("n01", "test -s /srv/last").exit_code == 0; }));
  const auto began = *parse_integer(trim_line(in("n01", "date +%s%3N").out));
  EXPECT_EQ(act("storage-export revoke a " + address_a), "gone " + address_a + "\n");
  const auto ended = *parse_integer(trim_line(in("n01", "date +%s%3N").out));
  EXPECT_LT(ended - began, busy_ms);
  EXPECT_EQ(act("storage-export sessions; pgrep -c internal-sftp; pgrep -fc 'sshd: a'"), "0\n0\n");
  ASSERT_TRUE(eventually([] { return in("n01", "test -s /srv/failed").exit_code == 0; }, 3000));
  EXPECT_LT(*parse_integer(trim_line(in("n01", "cat /srv/last").out)), ended);
  EXPECT_LT(*parse_integer(trim_line(in("n01", "cat /srv/failed").out)) - began, busy_ms);
  EXPECT_NE(mount("n02", "a"), 0);
}

TEST_F(StorageLab, AnotherTenantSeesNothingOfIt) {
  act("echo secret >/srv/exports/a/data/secret; echo other >/srv/exports/b/data/other");
  act("storage-export grant a " + address_a);
  act("storage-export grant b " + address_b);
  ASSERT_EQ(mount("n01", "a"), 0);
  ASSERT_EQ(mount("n02", "b"), 0);
  EXPECT_EQ(in("n02", "ls /mnt/x").out, "other\n");
  EXPECT_EQ(in("n02",
               "ln -s / /mnt/x/up; ln -s /data/../../a/data /mnt/x/a; "
               "cat /mnt/x/a/secret /mnt/x/up/srv/exports/a/data/secret 2>/dev/null; "
               "rm /mnt/x/a /mnt/x/up")
                .out,
            "");
  in("n02", "umount -l /mnt/x");
  EXPECT_NE(mount("n02", "a"), 0) << "a's key from b's address";
  EXPECT_NE(in("n02", "ssh -i /srv/b -o BatchMode=yes -o StrictHostKeyChecking=no b@" +
                          storage_address + " id")
                .exit_code,
            0);
}

TEST_F(StorageLab, AReissuedAddressOpensOnlyTheNewExport) {
  act("echo secret >/srv/exports/a/data/secret; echo other >/srv/exports/b/data/other");
  act("storage-export grant a " + address_a);
  ASSERT_EQ(mount("n01", "a"), 0);
  EXPECT_NE(act("storage-export grant b " + address_a).find("granted to a"), std::string::npos);
  EXPECT_EQ(act("storage-export revoke a " + address_a), "gone " + address_a + "\n");
  EXPECT_EQ(act("storage-export grant b " + address_a), "");
  in("n01", "pkill -9 sshfs; umount -l /mnt/x");
  EXPECT_NE(mount("n01", "a"), 0) << "the old tenant's key from an address that was its own";
  ASSERT_EQ(mount("n01", "b"), 0);
  EXPECT_EQ(in("n01", "ls /mnt/x").out, "other\n");
}

TEST_F(StorageLab, ASlowServerAnswersLateAndAHungOneNotAtAll) {
  act("storage-export grant a " + address_a);
  ASSERT_EQ(mount("n01", "a"), 0);
  const auto use = [](const std::string& limit) {
    return in("n01", "b=$(date +%s%3N); timeout " + limit +
                         " sh -c 'echo one >/mnt/x/used && cat /mnt/x/used' >/dev/null && "
                         "echo $(($(date +%s%3N) - b))");
  };
  EXPECT_EQ(call("/storage", R"({"action":"slow","delay_ms":300})"), "{}");
  EXPECT_EQ(status("stor1").phase, "slow");
  const auto late = use("15");
  EXPECT_EQ(late.exit_code, 0);
  EXPECT_GE(parse_integer(trim_line(late.out)).value_or(0), 250) << "opened, written, read";
  EXPECT_EQ(call("/storage", R"({"action":"hang"})"), "{}");
  EXPECT_NE(use("2").exit_code, 0);
  EXPECT_EQ(call("/storage", R"({"action":"mend"})"), "{}");
  EXPECT_EQ(status("stor1").phase, "running");
  EXPECT_TRUE(eventually([&] { return use("5").exit_code == 0; }));
  EXPECT_NE(call("/storage", R"({"action":"slow","delay_ms":1})").find("50 to 60000"),
            std::string::npos);
}

TEST_F(StorageLab, GrantsSurviveARestartAndBadWordsChangeNothing) {
  act("storage-export grant a " + address_a);
  for (const std::string words :
       {"grant a 100.64.0.5/16", "grant a '100.64.0.5 }; flush ruleset'", "grant ../a 1.2.3.4",
        "grant c 1.2.3.4", "create 'a:b' </dev/null", "create c <<<'command=\"sh\" ssh-rsa AAAA'",
        "remove a", "grant a", "nonsense"}) {
    const auto said = act("bash -c \"storage-export " + words + "\"");
    EXPECT_EQ(said.rfind("storage-export: ", 0), 0U) << words << ": " << said;
  }
  EXPECT_EQ(act("storage-export list"), "export a " + address_a + "\nexport b\n");
  call("/switch", R"({"name":"stor1","action":"off"})");
  EXPECT_TRUE(eventually([] { return status("stor1").phase == "off"; }));
  call("/switch", R"({"name":"stor1","action":"on"})");
  EXPECT_TRUE(eventually([] { return status("stor1").phase == "running"; }));
  EXPECT_EQ(act("storage-export list"), "export a " + address_a + "\nexport b\n");
  EXPECT_TRUE(eventually([] { return mount("n01", "a") == 0; }));
}

}  // namespace
}  // namespace tundish::lab
