// An ssh of our own in PATH plays what the real one does: exit codes, its log, its LocalCommand.
#include "edge/cli/run_ssh.hpp"

#include <gtest/gtest.h>

#include "edge/cli/cli_fixture_test.hpp"

namespace tundish::edge::cli {
namespace {

/// Finds the log after -E, and runs the local command when IN is set, as after a login.
const char* const player = R"(#!/bin/bash
while (($#)); do
  case $1 in
    -E) log=$2; shift ;;
    LocalCommand=*) command=${1#LocalCommand=} ;;
  esac
  shift
done
[[ -z $SAYS ]] || printf '%s\r\n' "$SAYS" >"$log"
[[ -z $IN ]] || sh -c "$command"
[[ -z $DIES ]] || kill -TERM $$
exit "$ENDS"
)";

struct Play {
  std::string ends, says, in, dies;
};

class RunSsh : public testing::Test {
 protected:
  RunSsh() : path_(getenv("PATH")) {
    const std::string file = bin_.write("ssh", player);
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    setenv("PATH", (bin_ / (":" + path_)).c_str(), 1);
  }
  ~RunSsh() override { setenv("PATH", path_.c_str(), 1); }

  static Result<int> play(const Play& play) {
    setenv("ENDS", play.ends.c_str(), 1);
    setenv("SAYS", play.says.c_str(), 1);
    setenv("IN", play.in.c_str(), 1);
    setenv("DIES", play.dies.c_str(), 1);
    return run_ssh({"ann", "172.16.0.5", "", "", {"true"}, "cluster train"});
  }

  Folder bin_;
  std::string path_;
};

TEST_F(RunSsh, TheExitCodeOfTheCommandIsPassedOn) {
  for (const std::string code : {"0", "1", "4", "127", "255"}) {
    const auto ended = play({code, "", "yes", ""});
    ASSERT_TRUE(ended) << ended.error().message();
    EXPECT_EQ(*ended, std::stoi(code));
  }
  EXPECT_EQ(play({"0", "", "yes", "yes"}).value(), 128 + SIGTERM);
}

TEST_F(RunSsh, WithoutAConnectionNothingIsKnown) {
  const auto refused =
      play({"255", "ssh: connect to host 172.16.0.5 port 22: Connection refused", "", ""});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::unavailable);
  EXPECT_EQ(refused.error().what,
            "no login to cluster train as ann: ssh: connect to host 172.16.0.5 port 22: Connection "
            "refused");
  EXPECT_TRUE(has(refused.error().remedy, "is its node up?")) << refused.error().remedy;
  const auto broke = play({"255", "client_loop: send disconnect: Broken pipe", "yes", ""});
  ASSERT_FALSE(broke);
  EXPECT_EQ(broke.error().code, Code::unavailable);
  EXPECT_TRUE(has(broke.error().what, "broke: client_loop")) << broke.error().what;
}

TEST_F(RunSsh, ARefusedLoginSaysWhichKeyIsMeant) {
  const auto denied = play({"255", "ann@172.16.0.5: Permission denied (publickey).", "", ""});
  ASSERT_FALSE(denied);
  EXPECT_EQ(denied.error().code, Code::denied);
  EXPECT_TRUE(has(denied.error().remedy, "tundish user show ann")) << denied.error().remedy;
}

TEST_F(RunSsh, AKeyThatCannotBeReadIsRefusedBefore) {
  const auto ran = run_ssh({"ann", "172.16.0.5", "/nowhere/key", "", {"true"}});
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().code, Code::invalid);
  EXPECT_TRUE(has(ran.error().what, "/nowhere/key")) << ran.error().what;
}

TEST_F(RunSsh, AMissingSshIsNamed) {
  setenv("PATH", "/nowhere", 1);
  const auto ran = run_ssh({"ann", "172.16.0.5", "", "", {"true"}});
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().code, Code::unsupported);
}

TEST_F(CliTest, ClusterExecWithoutAConnectionEndsWith4) {
  Folder bin;
  const std::string path = getenv("PATH");
  std::filesystem::permissions(bin.write("ssh", "#!/bin/sh\nexit 255\n"),
                               std::filesystem::perms::owner_all);
  setenv("PATH", (bin / (":" + path)).c_str(), 1);
  api.on("GET /v1/clusters/train",
         R"({"id":"cluster-9","status":{"phase":"active","login_address":"172.16.0.5"},)"
         R"("meta":{"name":"train"}})");
  const Ran ran = run({"cluster", "exec", "train", "--user", "ann", "--", "true"});
  setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(ran.code, 4) << ran.err;
  EXPECT_TRUE(has(ran.err, "no login to cluster train as ann")) << ran.err;
}

}  // namespace
}  // namespace tundish::edge::cli
