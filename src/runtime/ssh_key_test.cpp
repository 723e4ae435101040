#include "runtime/ssh_key.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "runtime/process/process.hpp"

namespace tundish {
namespace {

TEST(SshKey, IsWhatSshKeygenReads) {
  if (!std::filesystem::exists("/usr/bin/ssh-keygen")) GTEST_SKIP() << "needs ssh-keygen";
  const auto pair = make_ssh_key("0123456789abcdef0123456789abcdef");
  ASSERT_TRUE(pair);
  const std::string path = ::testing::TempDir() + "tundish_ssh_key_test";
  ASSERT_TRUE(process::write_file_atomic(path, pair->private_key, 0600));
  process::Command command;
  command.argv = {"ssh-keygen", "-y", "-P", "", "-f", path};
  const auto shown = process::run(command);
  std::filesystem::remove(path);
  ASSERT_TRUE(shown);
  ASSERT_TRUE(shown->ok()) << shown->summary();
  EXPECT_EQ(shown->out, pair->public_key + " tundish\n");
}

TEST(SshKey, FollowsFromItsSeed) {
  const std::string one(32, 'a'), other(32, 'b');
  EXPECT_EQ(make_ssh_key(one)->private_key, make_ssh_key(one)->private_key);
  EXPECT_NE(make_ssh_key(one)->public_key, make_ssh_key(other)->public_key);
  EXPECT_FALSE(make_ssh_key("short"));
}

}  // namespace
}  // namespace tundish
