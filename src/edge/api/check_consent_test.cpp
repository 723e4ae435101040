// A tenant's word on active checks of its nodes, and what it sees of them.
#include "edge/api/api_fixture_test.hpp"
#include "model/ops/active_ops.hpp"

namespace tundish::edge {
namespace {

TEST_F(ApiTest, checks_are_not_allowed_unless_the_tenant_says_so) {
  const auto ordered = order("train", 1);
  ASSERT_EQ(ordered.status, 201) << ordered.body;
  EXPECT_EQ(field(ordered.body, "spec.allow_checks"), "false");
  EXPECT_EQ(field(ordered.body, "status.checks_by"), "");
  const auto with = call({"POST", "/v1/clusters",
                          R"({"name":"open","nodes":1,"login":false,"allow_checks":true})",
                          "a-admin"});
  ASSERT_EQ(with.status, 201) << with.body;
  EXPECT_EQ(field(with.body, "spec.allow_checks"), "true");
  EXPECT_NE(field(with.body, "status.checks_by").find("a-admin"), std::string::npos) << with.body;
}

TEST_F(ApiTest, consent_is_given_and_taken_by_who_may_and_says_by_whom) {
  ASSERT_EQ(order("train", 1).status, 201);
  const auto say = [&](const std::string& consent, const std::string& token) {
    return call({"POST", "/v1/clusters/train/checks", "{\"consent\":\"" + consent + "\"}", token});
  };
  EXPECT_EQ(say("allow", "a-member").status, 403);
  EXPECT_EQ(say("allow", "b-admin").status, 404) << "another tenant's";
  EXPECT_EQ(say("perhaps", "a-admin").status, 422);
  const auto allowed = say("allow", "a-admin");
  ASSERT_EQ(allowed.status, 200) << allowed.body;
  EXPECT_EQ(field(allowed.body, "spec.allow_checks"), "true");
  EXPECT_NE(field(allowed.body, "status.checks_by").find("a-admin"), std::string::npos);
  const auto denied = say("deny", "root");
  EXPECT_EQ(field(denied.body, "spec.allow_checks"), "false");
  EXPECT_NE(field(denied.body, "status.checks_by").find("root"), std::string::npos)
      << "the operator for it, and it shows";
  EXPECT_EQ(count_history("set_checks_consent", "done"), 2);
}

TEST_F(ApiTest, a_tenant_sees_results_of_its_own_time_and_nothing_that_names_hardware) {
  ASSERT_EQ(order("train", 1).status, 201);
  const Allocation& held = ledger_.view().all<Allocation>().begin()->second;
  NodeId member;
  for (const auto& node : held.status.nodes) {
    if (node.role == MemberRole::member) member = node.node;
  }
  Verdict found;
  found.check = "gpu_work";
  found.state = VerdictState::fail;
  found.reason = "GPU with serial 1650000123 is slow";
  found.evidence = "rack1 u7";
  found.device = "0000:1b:00";
  found.at = scheduler_.now();
  Verdict before = found;
  before.check = "fio";
  Node node = *ledger_.view().find(member);
  node.status.phase_since = found.at - seconds(10);
  before.at = found.at - seconds(20);
  put(node);
  ASSERT_TRUE(ledger_.perform(*record_active_run(member, {found, before}), "system", "test"));
  const std::string mine = call({"GET", "/v1/nodes/" + member.str(), "", "a-viewer"}).body;
  EXPECT_NE(mine.find("gpu_work"), std::string::npos) << mine;
  EXPECT_NE(mine.find("0000:1b:00"), std::string::npos);
  for (const char* hidden : {"1650000123", "rack1", "fio", "SERIAL"}) {
    EXPECT_EQ(mine.find(hidden), std::string::npos) << hidden << " in " << mine;
  }
  const std::string ours = call({"GET", "/v1/nodes/" + member.str()}).body;
  EXPECT_NE(ours.find("1650000123"), std::string::npos);
  EXPECT_NE(ours.find("fio"), std::string::npos);
}

TEST_F(ApiTest, an_active_run_on_a_tenants_node_is_refused_with_what_is_missing) {
  ApiParts parts = make_parts();
  CheckInfo work;
  work.name = "gpu_work";
  work.kind = CheckKind::active;
  work.tier = Tier::light;
  parts.checks = {work};
  api_ = std::make_unique<Api>(std::move(parts));
  ASSERT_EQ(order("train", 1).status, 201);
  Cluster cluster = ledger_.view().all<Cluster>().begin()->second;
  Allocation held = *ledger_.view().find(cluster.status.allocation);
  std::string name;
  for (auto& member : held.status.nodes) {
    if (member.role != MemberRole::member) continue;
    member.attached = member.joined = true;
    Node node = *ledger_.view().find(member.node);
    node.status.phase = NodePhase::assigned;
    name = node.meta.name;
    put(node);
  }
  put(held);
  const auto refused = call(
      {"POST", "/v1/checks/runs", "{\"node\":\"" + name + "\",\"checks\":[],\"tier\":\"\"}"});
  EXPECT_EQ(refused.status, 403) << refused.body;
  EXPECT_NE(refused.body.find("allows no active checks"), std::string::npos) << refused.body;
  EXPECT_NE(refused.body.find("tundish cluster checks train --allow"), std::string::npos)
      << refused.body;
  // The tenant has just allowed it, and its engine has no queue yet: that command is no remedy.
  cluster = *ledger_.view().find(cluster.id);
  cluster.spec.allow_checks = true;
  put(cluster);
  EngineObserved engine;
  engine.reachable = engine.can_preempt = true;
  engine.at = scheduler_.now();
  manager_.on_engine(cluster.id, std::move(engine));
  const auto early = call(
      {"POST", "/v1/checks/runs", "{\"node\":\"" + name + "\",\"checks\":[],\"tier\":\"\"}"});
  EXPECT_EQ(early.status, 409) << early.body;
  EXPECT_NE(early.body.find("it is being set up"), std::string::npos) << early.body;
  EXPECT_EQ(field(early.body, "remedy"), "try again in some seconds");
}

}  // namespace
}  // namespace tundish::edge
