// Active checks as an operator meets them: who may run them where, what a run tells, and that what
// fails is a fault of the node.
#include <gmock/gmock.h>

#include <set>

#include "edge/api/api_fixture_test.hpp"
#include "model/ops/active_ops.hpp"

namespace tundish::edge {
namespace {

using testing::HasSubstr;

class ActiveChecksApi : public ApiTest {
 protected:
  ActiveChecksApi() {
    ApiParts parts = make_parts();
    parts.checks = {make_check("ecc", CheckKind::passive, Tier::light, {}),
                    make_check("gpu_work", CheckKind::active, Tier::light, {}),
                    make_check("ib_write_bw", CheckKind::active, Tier::light, {}),
                    make_check("gpu_burn", CheckKind::active, Tier::heavy, {}),
                    make_check("nccl_pair", CheckKind::active, Tier::heavy, {"pair"})};
    api_ = std::make_unique<Api>(std::move(parts));
  }
  static CheckInfo make_check(const std::string& name, CheckKind kind, Tier tier,
                              std::vector<std::string> needs) {
    CheckInfo out;
    out.name = name;
    out.kind = kind;
    out.tier = tier;
    out.needs = std::move(needs);
    out.watches = Resource::gpu;
    return out;
  }
  HttpResponse begin(const std::string& body, const std::string& token = "oncall") {
    return call({"POST", "/v1/checks/runs", body, token});
  }
  HttpResponse look(const std::string& run) { return call({"GET", "/v1/checks/runs/" + run}); }
  /// Begins gpu_work on a node; the id of the run.
  std::string begin_work(const std::string& node) {
    const auto answer = begin(R"({"node":")" + node + R"(","checks":["gpu_work"]})");
    EXPECT_EQ(answer.status, 200) << answer.body;
    return field(answer.body, "id");
  }
  static Verdict make_verdict(const std::string& check, VerdictState state, std::string reason) {
    Verdict out;
    out.check = check;
    out.state = state;
    out.reason = std::move(reason);
    out.locality = Locality::device_local;
    return out;
  }
  /// The leased runs that wait for an answer.
  std::vector<SilentAgents::Started*> waiting() {
    std::vector<SilentAgents::Started*> out;
    for (auto& one : agents_.started) {
      if (one.done && one.call.run_checks && one.call.run_checks->is_leased()) out.push_back(&one);
    }
    return out;
  }
  void answer(SilentAgents::Started& run, Verdict verdict) {
    VerbResult result;
    result.key = run.call.key;
    result.verdicts = {std::move(verdict)};
    std::exchange(run.done, nullptr)(std::move(result));
    settle();
  }
  void answer_only(VerdictState state, const std::string& reason) {
    const auto runs = waiting();
    ASSERT_EQ(runs.size(), 1U);
    answer(*runs[0], make_verdict(runs[0]->call.run_checks->active.at(0), state, reason));
  }
  const Node& node(const std::string& name) { return *ledger_.view().find_named<Node>(name); }
  std::vector<IncidentId> incidents(const std::string& name) {
    const auto open = ledger_.view().incidents_on(node(name).id);
    return {open.begin(), open.end()};
  }
};

TEST_F(ActiveChecksApi, a_run_is_told_at_its_end_and_kept) {
  const std::string run = begin_work("gpu1");
  EXPECT_EQ(field(look(run).body, "ended_at"), "");
  EXPECT_EQ(field(look(run).body, "asked_by"), "oncall");
  ASSERT_EQ(waiting().size(), 1U);
  const RunChecks& asked = *waiting()[0]->call.run_checks;
  EXPECT_TRUE(asked.only_active);
  EXPECT_EQ(asked.active, std::vector<std::string>{"gpu_work"});
  answer_only(VerdictState::ok, "right and fast");
  const std::string body = look(run).body;
  EXPECT_NE(field(body, "ended_at"), "");
  EXPECT_THAT(body, HasSubstr("right and fast"));
  EXPECT_THAT(body, HasSubstr(R"("next":[])"));
  ASSERT_EQ(node("gpu1").status.active_verdicts.size(), 1U);
  EXPECT_TRUE(incidents("gpu1").empty());
  const auto list = call({"GET", "/v1/checks/runs", "", "auditor"});
  EXPECT_EQ(list.status, 200);
  EXPECT_THAT(list.body, HasSubstr(run));
}

TEST_F(ActiveChecksApi, without_names_a_tier_is_run_without_what_needs_a_pair) {
  ASSERT_EQ(begin(R"({"node":"gpu1","tier":"heavy"})").status, 200);
  ASSERT_EQ(waiting().size(), 1U);
  EXPECT_EQ(waiting()[0]->call.run_checks->active, std::vector<std::string>{"gpu_burn"});
}

TEST_F(ActiveChecksApi, what_a_person_finds_broken_is_an_incident_of_the_node) {
  const std::string run = begin_work("gpu1");
  answer_only(VerdictState::fail, "sums of matrix products are wrong");
  const auto open = incidents("gpu1");
  ASSERT_EQ(open.size(), 1U);
  EXPECT_EQ(ledger_.view().claims_on(node("gpu1").id).size(), 1U);
  EXPECT_THAT(look(run).body, HasSubstr(open[0].str() + " is open on gpu1"));
  EXPECT_TRUE(incidents("gpu2").empty());
}

TEST_F(ActiveChecksApi, what_is_unknown_or_anothers_fault_opens_none) {
  std::string run = begin_work("gpu1");
  answer_only(VerdictState::unknown,
              "gpu_burn is not installed; it comes with gpu-burn (github.com/wilicc/gpu-burn)");
  EXPECT_THAT(look(run).body, HasSubstr("it comes with gpu-burn"));
  EXPECT_THAT(look(run).body, HasSubstr(R"("next":[])"));
  run = begin_work("gpu2");
  Verdict symptom = make_verdict("gpu_work", VerdictState::fail, "rail 180 of 400 Gb/s");
  symptom.locality = Locality::symptom;
  answer(*waiting().at(0), symptom);
  EXPECT_THAT(look(run).body, HasSubstr("may be another part's fault"));
  EXPECT_TRUE(incidents("gpu1").empty() && incidents("gpu2").empty());
}

TEST_F(ActiveChecksApi, an_agent_that_does_not_answer_is_unknown) {
  const std::string run = begin_work("gpu1");
  std::exchange(waiting().at(0)->done, nullptr)(make_error(Code::timeout, "no answer in time"));
  settle();
  EXPECT_THAT(look(run).body, HasSubstr(R"("state":"unknown")"));
  EXPECT_THAT(look(run).body, HasSubstr("no answer in time"));
  EXPECT_TRUE(incidents("gpu1").empty());
}

TEST_F(ActiveChecksApi, bad_orders_are_refused_by_name) {
  EXPECT_EQ(begin(R"({"node":"gpu1","checks":["gpu_wrk"]})").status, 404);
  EXPECT_THAT(begin(R"({"node":"gpu1","checks":["gpu_wrk"]})").body,
              HasSubstr("tundish check list --active"));
  EXPECT_EQ(begin(R"({"node":"gpu1","checks":["ecc"]})").status, 404) << "a passive one";
  EXPECT_EQ(begin(R"({"node":"gpu9"})").status, 404);
  EXPECT_EQ(begin(R"({"node":"gpu1","tier":"middle"})").status, 422);
  EXPECT_EQ(begin(R"({"node":"gpu1","colour":"red"})").status, 422);
  EXPECT_EQ(status({"GET", "/v1/checks/runs/run-1"}), 404);
  EXPECT_EQ(status({"POST", "/v1/checks/runs/run-1/stop", "{}"}), 404);
  EXPECT_TRUE(waiting().empty());
}

TEST_F(ActiveChecksApi, a_node_of_a_tenant_is_left_alone) {
  ASSERT_EQ(order("train", 3).status, 201);
  for (const char* name : {"gpu1", "gpu2", "gpu3"}) {
    const auto answer = begin(std::string(R"({"node":")") + name + "\"}");
    EXPECT_EQ(answer.status, 403) << answer.body;
    EXPECT_THAT(answer.body, HasSubstr("allocation train"));
  }
  EXPECT_EQ(status({"POST", "/v1/checks/pairs", R"({"nodes":["gpu1","gpu2"]})"}), 403);
  EXPECT_TRUE(waiting().empty());
}

TEST_F(ActiveChecksApi, tenants_neither_run_nor_see_nor_end_them) {
  const std::string run = begin_work("gpu1");
  for (const char* token : {"a-admin", "a-member", "a-viewer", "b-admin"}) {
    EXPECT_EQ(begin(R"({"node":"gpu2"})", token).status, 403) << token;
    EXPECT_EQ(status({"POST", "/v1/checks/pairs", R"({"nodes":["gpu1","gpu2"]})", token}), 403);
    EXPECT_EQ(status({"GET", "/v1/checks/runs", "", token}), 403) << token;
    EXPECT_EQ(status({"GET", "/v1/checks/runs/" + run, "", token}), 403) << token;
    EXPECT_EQ(status({"POST", "/v1/checks/runs/" + run + "/stop", "{}", token}), 403) << token;
  }
  EXPECT_EQ(begin(R"({"node":"gpu2"})", "auditor").status, 403) << "whoever reads only";
  EXPECT_EQ(begin(R"({"node":"gpu2"})", "").status, 401);
  EXPECT_EQ(waiting().size(), 1U);
}

TEST_F(ActiveChecksApi, two_runs_on_one_node_do_not_measure_each_other) {
  const std::string run = begin_work("gpu1");
  const auto second = begin(R"({"node":"gpu1","checks":["gpu_burn"]})", "root");
  EXPECT_EQ(second.status, 409);
  EXPECT_THAT(second.body, HasSubstr("run of oncall"));
  EXPECT_THAT(second.body, HasSubstr("tundish check stop " + run));
  EXPECT_EQ(status({"POST", "/v1/checks/pairs", R"({"nodes":["gpu1","gpu2"]})"}), 409);
  EXPECT_EQ(waiting().size(), 1U);
  EXPECT_NE(begin_work("gpu2"), run) << "another node's goes on beside it";
  for (auto* one : waiting()) answer(*one, make_verdict("gpu_work", VerdictState::ok, "good"));
  EXPECT_NE(begin_work("gpu1"), run) << "after the first has ended";
}

TEST_F(ActiveChecksApi, a_run_that_is_stopped_is_unknown_and_says_by_whom) {
  const std::string run = begin_work("gpu1");
  const std::string key = waiting().at(0)->call.key;
  EXPECT_EQ(status({"POST", "/v1/checks/runs/" + run + "/stop", "{}", "root",
                    {}, {{"dry_run", "true"}}}), 200);
  EXPECT_TRUE(agents_.stopped.empty()) << "a dry run stops nothing";
  const auto stopped = call({"POST", "/v1/checks/runs/" + run + "/stop", "{}"});
  EXPECT_EQ(stopped.status, 200);
  EXPECT_EQ(agents_.stopped, std::vector<std::string>{key});
  EXPECT_THAT(look(run).body, HasSubstr("stopped by root"));
  EXPECT_THAT(look(run).body, HasSubstr(R"("state":"unknown")"));
  EXPECT_TRUE(node("gpu1").status.active_verdicts.empty()) << "it says nothing of the node";
  EXPECT_TRUE(incidents("gpu1").empty());
  EXPECT_EQ(status({"POST", "/v1/checks/runs/" + run + "/stop", "{}"}), 200) << "again: the same";
}

TEST_F(ActiveChecksApi, placement_ends_a_run) {
  const std::string run = begin_work("gpu1");
  ASSERT_EQ(order("train", 3).status, 201);
  settle();
  EXPECT_EQ(agents_.stopped.size(), 1U);
  EXPECT_THAT(look(run).body, HasSubstr("preempted: gpu1 belongs to allocation train"));
}

TEST_F(ActiveChecksApi, a_dry_run_checks_everything_and_begins_nothing) {
  const auto dry = [&](const std::string& path, const std::string& body) {
    return status({"POST", path, body, "root", {}, {{"dry_run", "true"}}});
  };
  EXPECT_EQ(dry("/v1/checks/runs", R"({"node":"gpu1"})"), 200);
  EXPECT_EQ(dry("/v1/checks/runs", R"({"node":"gpu1","checks":["gpu_wrk"]})"), 404);
  EXPECT_EQ(dry("/v1/checks/pairs", R"({"nodes":["gpu1","gpu2"]})"), 200);
  EXPECT_EQ(dry("/v1/checks/pairs", R"({"nodes":["gpu1"]})"), 422);
  EXPECT_EQ(dry("/v1/checks/pairs", R"({"nodes":["gpu1","gpu2"],"check":"gpu_burn"})"), 422);
  EXPECT_TRUE(waiting().empty());
  EXPECT_EQ(call({"GET", "/v1/checks/runs"}).body, "[]");
}

TEST_F(ActiveChecksApi, a_pair_is_made_of_gpu_nodes) {
  put_node("ctl1", NodeRole::service, "");
  const auto answer = call({"POST", "/v1/checks/pairs",
                            R"({"nodes":["gpu1","ctl1"],"check":"ib_write_bw"})"});
  EXPECT_EQ(answer.status, 422) << answer.body;
  EXPECT_THAT(answer.body, HasSubstr("node/ctl1"));
  EXPECT_TRUE(waiting().empty());
}

/// A simulated fabric: whoever runs with the culprit is slow.
TEST_F(ActiveChecksApi, of_pairs_that_fail_the_culprit_is_named_and_taken_out) {
  put_node("gpu4", NodeRole::gpu, "h100");
  const NodeId culprit = node("gpu3").id;
  const auto begun = call({"POST", "/v1/checks/pairs",
                           R"({"nodes":["gpu1","gpu2","gpu3","gpu4"],"check":"ib_write_bw"})"});
  ASSERT_EQ(begun.status, 200) << begun.body;
  EXPECT_EQ(waiting().size(), 4U) << "two disjoint pairs, both sides of each";
  std::set<NodeId> used;
  for (const auto* one : waiting()) EXPECT_TRUE(used.insert(one->node).second);
  for (int turn = 0; turn < 20 && !waiting().empty(); ++turn) {
    for (auto* one : waiting()) {
      const PairSide& pair = one->call.run_checks->pair;
      if (!one->done || pair.role != PairRole::client) continue;
      const bool bad = one->node == culprit || pair.peer == "gpu3";
      Verdict verdict = make_verdict("ib_write_bw", bad ? VerdictState::fail : VerdictState::ok,
                                     bad ? "rail 95 Gb/s" : "good");
      verdict.locality = Locality::symptom;
      answer(*one, verdict);
      break;
    }
  }
  const std::string run = field(begun.body, "id");
  const std::string body = look(run).body;
  EXPECT_NE(field(body, "ended_at"), "") << body;
  ASSERT_EQ(incidents("gpu3").size(), 1U);
  for (const char* name : {"gpu1", "gpu2", "gpu4"}) EXPECT_TRUE(incidents(name).empty()) << name;
  EXPECT_THAT(body, HasSubstr(incidents("gpu3")[0].str() + " is open on gpu3"));
  const auto info = JsonValue::parse(body);
  const JsonValue verdicts = info->at("verdicts");
  int failed = 0;
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    const std::string text = verdicts.at(i).render();
    EXPECT_EQ(text.find("node-"), std::string::npos) << "people know names: " << text;
    if (text.find(R"("state":"fail")") == std::string::npos) continue;
    ++failed;
    EXPECT_THAT(text, HasSubstr(R"("device":"gpu3")"));
    EXPECT_THAT(text, HasSubstr("rail 95 Gb/s"));
  }
  EXPECT_EQ(failed, 1) << body;
}

}  // namespace
}  // namespace tundish::edge
