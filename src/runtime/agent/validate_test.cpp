#include "runtime/agent/validate.hpp"

#include <gtest/gtest.h>

#include "runtime/agent/accounts.hpp"
#include "runtime/agent/mounts.hpp"
#include "runtime/agent/ssh_service.hpp"
#include "runtime/agent/text_block.hpp"

namespace tundish::agent {
namespace {

const char* const good_key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ someone@somewhere";

SetupNode good_setup() {
  SetupNode setup;
  setup.cluster = "blue";
  setup.node_name = "node-07";
  setup.interface = "eth0";
  setup.address = "10.1.0.7";
  setup.hosts = {{"node-08", "10.1.0.8"}};
  setup.users = {{"alice", 20001, {good_key}}};
  setup.files = {{"slurm.conf", "ClusterName=blue\n"}};
  setup.munge_key = std::string(64, 'a');
  setup.services = {"slurmd", "sshd"};
  return setup;
}

TEST(Validate, GoodSetupPasses) {
  const auto done = validate(good_setup());
  EXPECT_TRUE(done.has_value()) << done.error().message();
}

SetupNode setup_with_storage() {
  SetupNode setup = good_setup();
  setup.exports = {{"acme@10.200.0.10:/data", "/data", "sshfs"}};
  StorageAccess access;
  access.address = "100.64.0.5";
  access.prefix = "10.200.0.0/24";
  access.gateway = "10.64.1.1";
  access.identity_key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA";
  access.private_key = "-----BEGIN KEY-----\nAAAA\n-----END KEY-----\n";
  setup.storage = access;
  return setup;
}

TEST(Validate, TheWayToAnExportIsJudgedWordByWord) {
  EXPECT_TRUE(validate(setup_with_storage()));
  EXPECT_TRUE(validate_export(setup_with_storage().exports[0], "/run/storage"));
  using Change = void (*)(SetupNode&);
  const Change changes[] = {
      [](SetupNode& s) { s.storage.reset(); },
      [](SetupNode& s) { s.storage->address = "0.0.0.0"; },
      [](SetupNode& s) { s.storage->gateway = "10.64.1.1 dev eth1"; },
      [](SetupNode& s) { s.storage->prefix = "0.0.0.0/0"; },
      [](SetupNode& s) { s.storage->prefix = "10.200.0.0"; },
      [](SetupNode& s) { s.storage->identity_key = "ssh-ed25519 AAAA\n* ssh-rsa AAAA"; },
      [](SetupNode& s) { s.storage->private_key = "/etc/shadow"; },
  };
  for (std::size_t i = 0; i < std::size(changes); ++i) {
    SetupNode bad = setup_with_storage();
    changes[i](bad);
    EXPECT_FALSE(validate(bad)) << i;
  }
  for (const std::string source :
       {"acme@10.200.0.10:/data -o x", "-oProxyCommand=x@10.200.0.10:/data", "acme@name:/data",
        "acme@10.200.0.10", "@10.200.0.10:/data", "acme@10.200.0.10:/../x"}) {
    EXPECT_FALSE(validate_export({source, "/data", "sshfs"}, "/run/storage")) << source;
  }
}

TEST(Validate, HostileSetupsAreRefused) {
  using Change = void (*)(SetupNode&);
  const Change changes[] = {
      [](SetupNode& s) { s.cluster = "../../etc"; },
      [](SetupNode& s) { s.cluster = ""; },
      [](SetupNode& s) { s.cluster = "Blue"; },
      [](SetupNode& s) { s.node_name = "a b"; },
      [](SetupNode& s) { s.node_name = "-oProxyCommand=x"; },
      [](SetupNode& s) { s.interface = "lo"; },
      [](SetupNode& s) { s.interface = "../x"; },
      [](SetupNode& s) { s.interface = "eth0; reboot"; },
      [](SetupNode& s) { s.interface = "-n"; },
      [](SetupNode& s) { s.address = "10.1.0.7/8"; },
      [](SetupNode& s) { s.address = "127.0.0.1"; },
      [](SetupNode& s) { s.address = "224.0.0.1"; },
      [](SetupNode& s) { s.address = "0x7f.1"; },
      [](SetupNode& s) { s.prefix_length = 0; },
      [](SetupNode& s) { s.prefix_length = 33; },
      [](SetupNode& s) { s.hosts[0].name = "localhost"; },
      [](SetupNode& s) { s.hosts[0].name = "a\n10.0.0.1 b"; },
      [](SetupNode& s) { s.hosts[0].address = "10.1.0.8 evil"; },
      [](SetupNode& s) { s.users[0].name = "root:x:0"; },
      [](SetupNode& s) { s.users[0].name = "../root"; },
      [](SetupNode& s) { s.users[0].name = "-rf"; },
      [](SetupNode& s) { s.users[0].name = "7up"; },
      [](SetupNode& s) { s.users[0].uid = 0; },
      [](SetupNode& s) { s.users[0].uid = 1000; },
      [](SetupNode& s) { s.users[0].uid = 65534; },
      [](SetupNode& s) { s.users[0].uid = -1; },
      [](SetupNode& s) { s.users.push_back(s.users[0]); },
      [](SetupNode& s) { s.users.push_back({"bob", 20001, {}}); },
      [](SetupNode& s) { s.users[0].ssh_keys[0] += "\nssh-ed25519 AAAAAAAAAAAAAAAAAAAA"; },
      [](SetupNode& s) { s.users[0].ssh_keys[0] = "command=\"id\" " + s.users[0].ssh_keys[0]; },
      [](SetupNode& s) { s.files[0].name = "../passwd"; },
      [](SetupNode& s) { s.files[0].name = ".hidden"; },
      [](SetupNode& s) { s.files[0].name = "a/b"; },
      [](SetupNode& s) { s.files[0].name = ""; },
      [](SetupNode& s) { s.munge_key = "zz" + s.munge_key; },
      [](SetupNode& s) { s.munge_key = "abcd"; },
      [](SetupNode& s) { s.munge_key = ""; },
      [](SetupNode& s) { s.services = {"sh"}; },
  };
  for (std::size_t i = 0; i < std::size(changes); ++i) {
    SetupNode setup = good_setup();
    changes[i](setup);
    const auto done = validate(setup);
    ASSERT_FALSE(done.has_value()) << "change " << i;
    EXPECT_EQ(done.error().code, Code::invalid);
    EXPECT_EQ(done.error().what.find('\n'), std::string::npos);
    EXPECT_EQ(done.error().what.find("aaaaaaaaaaaa"), std::string::npos) << "a secret was quoted";
  }
}

TEST(Validate, AGatewayHoldsNothingThatIsNoRule) {
  SetupController good;
  good.cluster = "blue-1";
  good.tenant = "acme";
  good.interface = "eth3";
  good.address = "10.70.0.2";
  good.munge_key = std::string(64, 'a');
  good.dbd_password = "abc123";
  good.gateway = AccessGateway{"10.89.0.16", 16, "10.89.0.1", "10.70.0.3", {}};
  good.gateway->rules = {{"tcp", "192.0.2.0/24", 22, 0}};
  const auto done = validate(good);
  ASSERT_TRUE(done) << done.error().message();
  using Change = void (*)(AccessGateway&);
  const Change changes[] = {
      [](AccessGateway& g) { g.address = "10.89.0.16; drop"; },
      [](AccessGateway& g) { g.prefix_length = 0; },
      [](AccessGateway& g) { g.router = "10.89.0.1 metric 1"; },
      [](AccessGateway& g) { g.target = ""; },
      [](AccessGateway& g) { g.rules[0].protocol = "tcp accept"; },
      [](AccessGateway& g) { g.rules[0].source = "192.0.2.1/24"; },
      [](AccessGateway& g) { g.rules[0].source = "0.0.0.0/0 accept"; },
      [](AccessGateway& g) { g.rules[0].port_from = 0; },
      [](AccessGateway& g) { g.rules[0].port_to = 21; },
      [](AccessGateway& g) { g.rules[0].port_to = 65536; },
      [](AccessGateway& g) { g.rules.resize(1000, g.rules[0]); },
  };
  for (std::size_t i = 0; i < std::size(changes); ++i) {
    SetupController setup = good;
    changes[i](*setup.gateway);
    EXPECT_FALSE(validate(setup)) << "change " << i;
  }
}

TEST(Validate, ExportsStayInTheirPlaces) {
  const std::string root = "/run/tundish-hw/storage";
  EXPECT_TRUE(validate_export({root + "/t1/home", "/home", "bind"}, root).has_value());
  EXPECT_TRUE(validate_export({root + "/t1", "/data/sets", "bind"}, root).has_value());
  EXPECT_TRUE(validate_export({"filer-1:/vol/t1", "/data", "nfs"}, root).has_value());
  const ExportMount bad[] = {
      {root + "/t1", "/etc", "bind"},
      {root + "/t1", "/homestead", "bind"},
      {root + "/t1", "/home/../etc", "bind"},
      {root + "/t1", "/home//x", "bind"},
      {root + "/t1", "/data/.ssh", "bind"},
      {root, "/data", "bind"},
      {root + "/../../etc", "/data", "bind"},
      {root + "x/t1", "/data", "bind"},
      {"/etc", "/data", "bind"},
      {"filer:relative", "/data", "nfs"},
      {"-o evil:/x", "/data", "nfs"},
      {"filer:/a b", "/data", "nfs"},
      {"filer:/x", "/data", "tmpfs"},
  };
  for (const auto& mount : bad) {
    EXPECT_FALSE(validate_export(mount, root).has_value()) << mount.source << " " << mount.target;
  }
}

TEST(Validate, KernelLines) {
  EXPECT_TRUE(validate_line("<4>NVRM: Xid (PCI:0000:3b:00): 79, x").has_value());
  EXPECT_TRUE(validate_line("one\ntwo").has_value());
  EXPECT_FALSE(validate_line("").has_value());
  EXPECT_FALSE(validate_line("x\n").has_value());
  EXPECT_FALSE(validate_line("a\tb").has_value());
  EXPECT_FALSE(validate_line(std::string(1024, 'x')).has_value());
}

TEST(Validate, TenantUids) {
  for (const long uid : {20000L, 59999L, 100000L, 231072L}) EXPECT_TRUE(is_tenant_uid(uid)) << uid;
  for (const long uid : {-1L, 0L, 1000L, 19999L, 60000L, 61184L, 65534L, 65535L, 4294967294L}) {
    EXPECT_FALSE(is_tenant_uid(uid)) << uid;
  }
}

TEST(Accounts, OnlyTenantsLinesChange) {
  const AccountTexts before{
      "root:x:0:0::/root:/bin/sh\nold:x:20009:20009::/home/old:/bin/sh\n"
      "nobody:x:65534:65534::/:/\n",
      "root:x:0:\nold:x:20009:\nnogroup:x:65534:\n", "root:*:1::::::\nold:*:1::::::\n"};
  const auto after = plan_accounts(before, {{"alice", 20001, {}}});
  ASSERT_TRUE(after.has_value());
  EXPECT_EQ(after->passwd,
            "root:x:0:0::/root:/bin/sh\nnobody:x:65534:65534::/:/\n"
            "alice:x:20001:20001:tundish tenant:/home/alice:/bin/bash\n");
  EXPECT_EQ(after->group, "root:x:0:\nnogroup:x:65534:\nalice:x:20001:\n");
  EXPECT_EQ(after->shadow, "root:*:1::::::\nalice:*:19000:0:99999:7:::\n");
  const auto again = plan_accounts(*after, {{"alice", 20001, {}}});
  EXPECT_EQ(again->passwd, after->passwd);
  EXPECT_EQ(again->shadow, after->shadow);
  EXPECT_FALSE(plan_accounts(before, {{"root", 20001, {}}}).has_value());
  EXPECT_FALSE(plan_accounts(before, {{"nogroup", 20001, {}}}).has_value());
}

TEST(TextBlock, ReplacesItsOwnPartOnly) {
  const std::string system = "127.0.0.1 localhost\n";
  const std::string once = replace_block(system, {"blue", "10.1.0.8 a\n"});
  EXPECT_EQ(once, system + "# BEGIN tundish blue\n10.1.0.8 a\n# END tundish blue\n");
  EXPECT_EQ(replace_block(once, {"blue", "10.1.0.8 a\n"}), once);
  const std::string two = replace_block(once, {"blues", "10.2.0.8 b\n"});
  EXPECT_EQ(replace_block(two, {"blues", ""}), once);
  EXPECT_EQ(replace_block(once, {"blue", ""}), system);
}

TEST(Mounts, Mountinfo) {
  const auto mounts = parse_mounts(
      "36 35 98:0 /a\\040b /data/x\\040y rw,noatime master:1 - ext3 /dev/root rw,errors=continue\n"
      "37 36 0:40 / /home rw - nfs4 filer:/vol ro\nbroken line\n");
  ASSERT_EQ(mounts.size(), 2U);
  EXPECT_EQ(mounts[0].target, "/data/x y");
  EXPECT_EQ(mounts[0].root, "/a b");
  EXPECT_EQ(mounts[0].type, "ext3");
  EXPECT_EQ(find_mount(mounts, "/home")->options, "rw,ro");
  EXPECT_EQ(find_mount(mounts, "/data"), nullptr);
}

TEST(SshService, ConfigurationAdmitsKeysOfTheListedOnly) {
  SetupNode setup = good_setup();
  const std::string text = render_sshd_config(setup, {});
  for (const char* const line : {"ListenAddress 10.1.0.7\n", "PasswordAuthentication no\n",
                                 "PermitRootLogin no\n", "AllowUsers alice\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line;
  }
  setup.users.clear();
  EXPECT_NE(render_sshd_config(setup, {}).find("DenyUsers *\n"), std::string::npos);
}

}  // namespace
}  // namespace tundish::agent
