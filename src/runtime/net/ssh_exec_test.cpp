#include "runtime/net/ssh_exec.hpp"

#include <gmock/gmock.h>

namespace tundish::net {
namespace {

TEST(SshTarget, TakesUserAddressAndPort) {
  const auto plain = parse_ssh_target("ssh://root@10.88.2.1");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->user, "root");
  EXPECT_EQ(plain->address, "10.88.2.1");
  EXPECT_EQ(plain->port, 22);
  EXPECT_EQ(parse_ssh_target("ssh://admin@leaf-1.example:2222")->port, 2222);
}

TEST(SshTarget, RefusesWhatSshWouldTakeForAnOption) {
  for (const char* bad : {"", "http://a@b", "ssh://b", "ssh://@b", "ssh://a@", "ssh://a@b:0",
                          "ssh://a@b:70000", "ssh://a@-oProxyCommand=x", "ssh://-l@b",
                          "ssh://a@b c", "ssh://a@b;reboot", "ssh://a@b:22x"}) {
    EXPECT_FALSE(parse_ssh_target(bad)) << bad;
  }
}

TEST(SshExec, QuotesForTheFarShell) {
  EXPECT_EQ(quote_for_shell("show running-config"), "'show running-config'");
  EXPECT_EQ(quote_for_shell("it's $HOME; `x`"), "'it'\\''s $HOME; `x`'");
}

TEST(SshExec, AnUnreachableTargetIsUnavailable) {
  Loop loop;
  SshExec exec(loop, {"", "/dev/null", "/tmp"});
  Result<ExecOutput> seen = make_error(Code::internal, "none");
  // Port 1 of the loopback: nobody listens there.
  exec.start({"ssh://nobody@127.0.0.1:1", {"true"}, ""}, seconds(10),
             [&](Result<ExecOutput> result) {
               seen = std::move(result);
               loop.stop();
             });
  loop.run();
  ASSERT_FALSE(seen);
  EXPECT_EQ(seen.error().code, Code::unavailable) << seen.error().message();
  EXPECT_EQ(seen.error().what, "ssh://nobody@127.0.0.1:1: it refuses the connection");
}

}  // namespace
}  // namespace tundish::net
