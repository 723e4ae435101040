// policy: verify and show work on files without a tundishd.
#include <fstream>
#include <sstream>

#include "edge/cli/cli_fixture_test.hpp"
#include "edge/cli/policy_text.hpp"

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
  context.catalog_dir = std::string(TUNDISH_SOURCE_DIR) + "/catalog";
  context.known_checks = {{"gpu_work", CheckKind::active},   {"dcgm_quick", CheckKind::active},
                          {"nvbandwidth", CheckKind::active}, {"ib_write_bw", CheckKind::active},
                          {"dcgm_diag", CheckKind::active},   {"nccl_local", CheckKind::active},
                          {"gpu_burn", CheckKind::active},    {"ecc", CheckKind::passive}};
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

TEST(policy_command, verify_looks_at_the_limits_and_codes_beside_the_policy) {
  const Ran whole = run({"-o", "json", "policy", "verify", policies + "default.yaml"});
  ASSERT_EQ(whole.code, exit_done) << whole.err;
  EXPECT_EQ(whole.out.find("\"limits\": 0"), std::string::npos) << whole.out;
  EXPECT_EQ(whole.out.find("\"codes\": 0"), std::string::npos) << whole.out;
  const Folder folder;
  const auto copy = [&](const std::string& name, const std::string& from, const std::string& to) {
    std::ifstream in(policies + "../" + name);
    std::ostringstream text;
    text << in.rdbuf();
    std::string changed = text.str();
    const auto at = changed.find(from);
    ASSERT_TRUE(from.empty() || at != std::string::npos) << name;
    if (!from.empty()) changed.replace(at, from.size(), to);
    folder.write(name, changed);
  };
  for (const char* name : {"xid.yaml", "sxid.yaml", "nameplates.yaml"}) copy(name, "", "");
  const std::string where = folder.write("here", "");
  const std::string catalog = where.substr(0, where.rfind('/'));
  const auto verify = [&] {
    return run({"policy", "verify", policies + "default.yaml", "--catalog", catalog});
  };
  EXPECT_EQ(verify().code, exit_tool_error) << "a catalogue without limits proves nothing";
  copy("thresholds.yaml", "value: 1905000", "value: 1905");  // a thousandth
  const Ran slip = verify();
  EXPECT_EQ(slip.code, exit_refused);
  EXPECT_NE(slip.out.find("refuted: threshold"), std::string::npos) << slip.out << slip.err;
  EXPECT_NE(slip.out.find(".hbm of h100_sxm passes"), std::string::npos)
      << slip.out;
}

TEST(policy_command, a_name_that_nothing_has_is_refused_by_its_line) {
  const Folder folder;
  std::ifstream in(policies + "default.yaml");
  const std::string good{std::istreambuf_iterator<char>(in), {}};
  const auto verify = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    return run({"policy", "verify", folder.write("mine.yaml", text)});
  };
  EXPECT_EQ(verify("name: default", "name: mine").code, exit_done) << "the shipped codes serve";
  const Ran light = verify("light: [gpu_work", "light: [gpu_wrok");
  EXPECT_EQ(light.code, exit_refused);
  EXPECT_EQ(light.out, "") << "nothing is said to be proved";
  EXPECT_NE(light.err.find("no check is called gpu_wrok"), std::string::npos) << light.err;
  EXPECT_NE(light.err.find("did you mean gpu_work?"), std::string::npos) << light.err;
  EXPECT_NE(light.err.find("mine.yaml:"), std::string::npos) << light.err;
  EXPECT_EQ(verify("active: [gpu_work]", "active: [gpu_wrok]").code, exit_refused);
  const Ran edge = verify("go: reboot}", "go: rebot}");
  EXPECT_EQ(edge.code, exit_refused);
  EXPECT_NE(edge.err.find("unknown state rebot"), std::string::npos) << edge.err;
  EXPECT_NE(edge.err.find("did you mean reboot?"), std::string::npos) << edge.err;
  EXPECT_NE(edge.err.find("mine.yaml:"), std::string::npos) << edge.err;
  const Ran fact = verify("wants_rma]", "wants_rm]");
  EXPECT_NE(fact.err.find("did you mean wants_rma?"), std::string::npos) << fact.err;
  EXPECT_NE(fact.err.find("mine.yaml:"), std::string::npos) << fact.err;
}

TEST(policy_command, another_systems_checks_are_taken_only_when_asked) {
  const std::string repaired = policies + "known-bad/soperator-a.fixed.yaml";
  const Ran ran = run({"policy", "verify", repaired});
  EXPECT_EQ(ran.code, exit_refused) << ran.out;
  EXPECT_NE(ran.err.find("--other-checks"), std::string::npos) << ran.err;
  EXPECT_EQ(run({"policy", "verify", repaired, "--other-checks"}).code, exit_done);
}

TEST(policy_command, what_is_not_there_is_no_refusal) {
  EXPECT_EQ(run({"policy", "verify", "/nowhere/p.yaml"}).code, exit_tool_error);
  EXPECT_EQ(run({"policy", "verify", policies + "default.yaml", "--catalog", "/nowhere"}).code,
            exit_tool_error);
  EXPECT_EQ(run({"policy", "verify", policies}).code, exit_tool_error) << "a folder";
}

TEST(policy_command, people_who_agreed_are_told_even_where_nothing_differs) {
  control::verify::Rehearsal row;
  row.incident = "incident-9";
  row.node = "gpu1";
  row.fault = "xid 79";
  row.did = row.would = {"reboot done"};
  row.ended = "resolved";
  row.would_end = "return";
  EXPECT_EQ(tell_rehearsals({row}).find("incident-9"), std::string::npos);
  row.person = "took the node back into service";
  row.agreement = "agrees";
  const std::string text = tell_rehearsals({row});
  EXPECT_NE(text.find("a person took the node back into service: agrees"), std::string::npos);
  EXPECT_NE(text.find("people agreed with it 1 times"), std::string::npos) << text;
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
