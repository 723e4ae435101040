// A dry run is checked like the real call, says what would come of it, and leaves no trace.
#include "edge/api/api_fixture_test.hpp"
#include "model/ops/incident_ops.hpp"

namespace tundish::edge {
namespace {

class DryRun : public ApiTest {
 protected:
  static Ask dry(Ask ask) {
    ask.query["dry_run"] = "true";
    return ask;
  }
  /// Everything that a list shows, but for revisions that were used up.
  std::string everything() {
    std::string out;
    for (const char* kind : {"nodes", "tenants", "users", "tokens", "secrets", "clusters",
                             "allocations", "claims", "holds", "authorities", "pool_entries"}) {
      out += call({"GET", std::string("/v1/") + kind}).body + "\n";
    }
    return out;
  }
};

TEST_F(DryRun, each_write_is_answered_and_nothing_is_left) {
  const std::string cluster = R"({"name":"train","nodes":2,"login":false})";
  const std::string user = R"({"name":"ann","tenant":"a","ssh_keys":["ssh-ed25519 AAAA ann"]})";
  ASSERT_EQ(order("held", 1).status, 201);
  ASSERT_EQ(status({"POST", "/v1/nodes/login1/drain", R"({"reason":"fan"})"}), 200);
  const std::string claim = ledger_.view().all<Claim>().begin()->first.str();
  const std::vector<Ask> writes = {
      {"POST", "/v1/tenants", R"({"name":"new","gpu_quota":8})"},
      {"DELETE", "/v1/tenants/b", ""},
      {"PUT", "/v1/tenants/a/quota", R"({"gpus":64})"},
      {"POST", "/v1/users", user},
      {"POST", "/v1/tokens", R"({"name":"t2","role":"viewer"})"},
      {"POST", "/v1/secrets", R"({"name":"s","purpose":"webhook","value":"v"})"},
      {"POST", "/v1/clusters", cluster, "a-admin"},
      {"POST", "/v1/clusters/held/scale", R"({"nodes":2})"},
      {"DELETE", "/v1/clusters/held", ""},
      {"POST", "/v1/nodes/gpu3/drain", R"({"reason":"fan"})"},
      {"POST", "/v1/nodes/login1/return", ""},
      {"POST", "/v1/nodes/gpu3/retire", ""},
      {"POST", "/v1/holds", R"({"scope":"*","reason":"look"})"},
      {"POST", "/v1/claims/" + claim + "/release", ""}};
  settle();
  for (const Ask& write : writes) {
    const std::string before = everything();
    const auto entries = store_.entries.size();
    const int commits = store_.commits;
    const auto told = call(dry(write));
    EXPECT_TRUE(told.status == 200 || told.status == 201) << write.path << told.body;
    EXPECT_EQ(told.headers.at("x-dry-run"), "true");
    EXPECT_EQ(everything(), before) << write.path;
    EXPECT_EQ(store_.entries.size(), entries) << write.path;
    EXPECT_EQ(store_.commits, commits) << write.path;
  }
  const auto told = call(dry({"POST", "/v1/clusters", cluster, "a-admin"}));
  EXPECT_EQ(field(told.body, "spec.nodes"), "2") << "what would come of it";
  EXPECT_EQ(call({"POST", "/v1/clusters", cluster, "a-admin"}).status, 201);
}

TEST_F(DryRun, what_the_real_call_refuses_is_refused_with_the_same_words) {
  ASSERT_EQ(order("held", 1).status, 201);
  const std::vector<Ask> writes = {
      {"POST", "/v1/tenants", R"({"name":"a","gpu_quota":8})"},
      {"POST", "/v1/users", R"({"name":"root","tenant":"a","ssh_keys":["ssh-ed25519 AAAA r"]})"},
      {"PUT", "/v1/tenants/nobody/quota", R"({"gpus":64})"},
      {"POST", "/v1/clusters", R"({"name":"big","nodes":9,"login":false})", "a-admin"},
      {"POST", "/v1/clusters", R"({"name":"held","nodes":1,"login":false})", "a-admin"},
      {"POST", "/v1/clusters/held/scale", R"({"nodes":0})"},
      {"POST", "/v1/nodes/nowhere/drain", ""},
      {"POST", "/v1/holds", R"({"scope":"node:nowhere","reason":"r"})"},
      {"POST", "/v1/tenants", R"({"name":"new","gpu_quota":8})", "looker"}};
  for (const Ask& write : writes) {
    const auto entries = store_.entries.size();
    const auto told = call(dry(write));
    const bool is_role = told.status == 403;  // who may not even ask is recorded as always
    EXPECT_EQ(store_.entries.size(), entries + (is_role ? 1 : 0)) << write.path;
    const auto real = call(write);
    EXPECT_GE(real.status, 400) << write.path;
    EXPECT_EQ(told.status, real.status) << write.path;
    EXPECT_EQ(told.body, real.body) << write.path;
  }
}

TEST_F(DryRun, an_idempotency_key_is_not_used_up) {
  Ask ask{"POST", "/v1/tenants", R"({"name":"new","gpu_quota":8})"};
  ask.headers["idempotency-key"] = "k";
  EXPECT_EQ(status(dry(ask)), 201);
  EXPECT_EQ(length(call({"GET", "/v1/tenants"}).body), 2U);
  EXPECT_EQ(status(ask), 201);
  EXPECT_EQ(length(call({"GET", "/v1/tenants"}).body), 3U);
}

TEST_F(DryRun, no_fault_is_injected) {
  Authority authority;
  authority.scope = "node:gpu1";
  authority.action_class = "drill";
  authority.level = AuthorityLevel::act;
  put(authority);
  const Ask ask{"POST", "/v1/faults", R"({"node":"gpu1","xid":79})"};
  const auto told = call(dry(ask));
  EXPECT_EQ(told.status, 200) << told.body;
  EXPECT_EQ(field(told.body, "line"), "NVRM: Xid 79");
  EXPECT_TRUE(injector_.seen.empty());
  EXPECT_EQ(status(dry({"POST", "/v1/faults", R"({"node":"gpu1","xid":79,"gpu":99})"})), 422);
  EXPECT_EQ(count_history("inject_fault", "done"), 0);
  EXPECT_EQ(status(ask), 200);
  EXPECT_EQ(injector_.seen.size(), 1U);
}

TEST_F(ApiTest, a_node_that_serves_nobody_cannot_be_replaced) {
  const auto told = call({"POST", "/v1/nodes/gpu1/replace", ""});
  EXPECT_EQ(told.status, 409);
  EXPECT_NE(field(told.body, "message").find("gpu1 is in no allocation"), std::string::npos);
  EXPECT_EQ(field(told.body, "remedy"), "to take it out of service: tundish node drain gpu1");
  EXPECT_TRUE(ledger_.view().claims_on(ledger_.view().find_named<Node>("gpu1")->id).empty());
  ASSERT_EQ(order("train", 3).status, 201);
  EXPECT_EQ(status({"POST", "/v1/nodes/gpu1/replace", ""}), 200);
}

TEST_F(ApiTest, a_node_at_the_vendor_says_what_a_person_can_do) {
  const NodeId id = ledger_.view().find_named<Node>("gpu1")->id;
  Node known = *ledger_.view().find(id);
  known.status.accepted_gpus.push_back({3, "GPU-1", "GPUSERIAL-3", "H100", "0000:3b:00"});
  put(known);
  Incident incident;
  incident.node = id;
  incident.fault = "xid-79";
  incident.device = "0000:3b:00";
  incident.state = IncidentState::rma;
  incident.resolved_at = scheduler_.now();
  incident = put(incident);
  const std::string name = incident.id.str();
  const std::string told = call({"GET", "/v1/nodes/gpu1/explain"}).body;
  EXPECT_NE(field(told, "next").find("waits for the vendor since"), std::string::npos) << told;
  EXPECT_NE(field(told, "next").find("a person closes it"), std::string::npos) << told;
  EXPECT_EQ(field(told, "how_to_stop"), "") << "nothing automatic is under way";
  for (const std::string& part :
       {std::string("GPU 0000:3b:00 of serial GPUSERIAL-3 (chassis serial SERIAL-gpu1)"),
        "tundish incident close " + name,
        std::string("tundish node confirm gpu1")}) {
    EXPECT_NE(field(told, "you_can").find(part), std::string::npos) << part << "\n" << told;
  }
}

TEST_F(ApiTest, a_held_incident_says_how_it_goes_on) {
  Incident incident;
  incident.node = ledger_.view().find_named<Node>("gpu1")->id;
  incident.fault = "xid-79";
  incident.held = true;
  incident = put(incident);
  const std::string told = call({"GET", "/v1/nodes/gpu1/explain"}).body;
  EXPECT_NE(field(told, "next").find("that ends when it is resumed"), std::string::npos) << told;
  EXPECT_NE(field(told, "you_can").find("tundish incident resume " + incident.id.str()),
            std::string::npos)
      << told;
}

TEST_F(ApiTest, a_wait_of_the_policy_says_when_it_ends) {
  Incident incident;
  incident.node = ledger_.view().find_named<Node>("gpu1")->id;
  incident.fault = "xid-79";
  incident.policy_state = "wait";
  incident.policy_since = scheduler_.now();
  put(incident);
  const std::string told = call({"GET", "/v1/nodes/gpu1/explain"}).body;
  const std::string end = render_utc(scheduler_.now() + seconds(600));
  EXPECT_NE(field(told, "next").find("at the latest it goes on at " + end), std::string::npos)
      << told;
  EXPECT_NE(field(told, "how_to_stop"), "");
}

}  // namespace
}  // namespace tundish::edge
