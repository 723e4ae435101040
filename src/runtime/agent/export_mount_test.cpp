#include "runtime/agent/export_mount.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/agent/export_probe.hpp"

namespace tundish::agent {
namespace {

TEST(ExportMount, NoStorageIsTrustedThatDoesNotShowItsKey) {
  const auto words = sshfs_words({"acme@10.200.0.10:/data", "/data", "sshfs"}, {});
  const std::string options = words.back();
  for (const std::string part :
       {"StrictHostKeyChecking=yes", "UserKnownHostsFile=/var/lib/tundish/",
        "GlobalKnownHostsFile=/dev/null", "BatchMode=yes", "nosuid", "nodev", "reconnect"}) {
    EXPECT_NE(options.find(part), std::string::npos) << part;
  }
  EXPECT_NE(std::find(words.begin(), words.end(), "acme@10.200.0.10:/data"), words.end());
}

TEST(ExportMount, NewFilesBelongToWhoMadeThem) {
  const auto words = bindfs_words({"acme@10.200.0.10:/data", "/data", "sshfs"}, {});
  EXPECT_NE(std::find(words.begin(), words.end(), "--create-as-user"), words.end());
  EXPECT_EQ(words.back(), "/data");
}

TEST(ExportProbe, OnlyTheServersNoIsARefusal) {
  EXPECT_EQ(reach_of_login(0, false, ""), ProbeReach::reached);
  EXPECT_EQ(reach_of_login(255, false, "acme@10.200.0.10: Permission denied (publickey)."),
            ProbeReach::refused);
  EXPECT_EQ(reach_of_login(255, false,
                           "ssh: connect to host 10.200.0.10 port 22: Connection timed "
                           "out"),
            ProbeReach::silent);
  EXPECT_EQ(reach_of_login(-1, true, ""), ProbeReach::silent);
  EXPECT_EQ(reach_of_login(255, false, "Load key \"x\": No such file or directory"),
            ProbeReach::failed)
      << "a probe that has no key proves nothing";
}

}  // namespace
}  // namespace tundish::agent
