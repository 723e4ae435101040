// policy: verify and show work on files without a tundishd.
#include "edge/cli/cli_fixture_test.hpp"

namespace tundish::edge::cli {
namespace {

const std::string policies = std::string(TUNDISH_SOURCE_DIR) + "/catalog/policies/";

struct Ran {
  int code = 0;
  std::string out, err;
};

Ran run(std::vector<std::string> args) {
  std::ostringstream out, err;
  std::istringstream in;
  Context context({out, err, in}, {});
  const int code = run_program(args, context, {});
  return {code, out.str(), err.str()};
}

TEST(policy_command, verify_proves_the_default_policy) {
  const Ran ran = run({"policy", "verify", policies + "default.yaml"});
  EXPECT_EQ(ran.code, exit_done) << ran.err;
  EXPECT_NE(ran.out.find("proved: 11 properties"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("under these assumptions"), std::string::npos);
}

TEST(policy_command, verify_tells_the_story_of_a_bad_one_and_exits_3) {
  const Ran ran = run({"policy", "verify", policies + "known-bad/soperator-a.yaml"});
  EXPECT_EQ(ran.code, exit_refused);
  EXPECT_NE(ran.out.find("stuck: the check that would let it out of drained never runs there"),
            std::string::npos)
      << ran.out;
  const Ran json = run({"-o", "json", "policy", "verify", policies + "known-bad/soperator-a.yaml"});
  EXPECT_EQ(json.code, exit_refused);
  EXPECT_NE(json.out.find("\"sticks_in\": \"drained\""), std::string::npos) << json.out;
}

TEST(policy_command, an_unknown_key_is_refused_by_its_line) {
  const Folder folder;
  const std::string file =
      folder.write("p.yaml", "name: x\ninitial: a\nstates:\n  a:\n    nxet: []\n");
  const Ran ran = run({"policy", "verify", file, "--catalog", policies + ".."});
  EXPECT_EQ(ran.code, exit_refused);
  EXPECT_NE(ran.err.find("p.yaml:5"), std::string::npos) << ran.err;
  EXPECT_EQ(run({"policy", "verify"}).code, exit_bad_flag);
}

TEST(policy_command, show_draws_states_edges_budgets_and_deadlines) {
  const Ran ran = run({"policy", "show", policies + "default.yaml"});
  EXPECT_EQ(ran.code, exit_done) << ran.err;
  for (const char* part : {"[permit]", "begins here", "[reboot]", "at most 2 times", "after 15 min",
                           "(page)", "time of the vendor", "1 tray of an NVLink"}) {
    EXPECT_NE(ran.out.find(part), std::string::npos) << part << "\n" << ran.out;
  }
}

}  // namespace
}  // namespace tundish::edge::cli
