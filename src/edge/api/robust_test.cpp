// Calls that could be misread: each is answered for what it is.
#include "edge/api/api_fixture_test.hpp"
#include "model/ops/incident_ops.hpp"

namespace tundish::edge {
namespace {

std::string heard_of(const std::string& node) {
  const auto conditions = JsonValue::parse(node)->at("status").at("conditions");
  for (const auto& condition : conditions.items()) {
    if (condition.at("type").as_text() != "agent_silent") continue;
    return condition.at("state").as_text().value_or("") + ": " +
           condition.at("reason").as_text().value_or("");
  }
  return "nothing";
}

TEST_F(ApiTest, a_silent_agent_is_told_from_one_that_is_heard) {
  scheduler_.advance(seconds(2));
  EXPECT_EQ(heard_of(call({"GET", "/v1/nodes/gpu1"}).body), "no: heard 2 s ago");
  scheduler_.advance(seconds(32));
  EXPECT_EQ(heard_of(call({"GET", "/v1/nodes/gpu1"}).body), "yes: silent 34 s");
  const auto listed = JsonValue::parse(call({"GET", "/v1/nodes"}).body);
  EXPECT_EQ(heard_of(listed->at(std::size_t{0}).render()), "yes: silent 34 s");
  const Node* stored = ledger_.view().find_named<Node>("gpu1");
  EXPECT_TRUE(stored->status.conditions.empty()) << "heartbeats are not written";
}

TEST_F(ApiTest, a_tenant_sees_that_its_node_is_heard_and_its_name_in_incidents) {
  ASSERT_EQ(order("train", 1).status, 201);
  const auto nodes = JsonValue::parse(call({"GET", "/v1/nodes", "", "a-viewer"}).body);
  ASSERT_EQ(nodes->size(), 1u);
  const JsonValue node = nodes->at(std::size_t{0});
  EXPECT_EQ(node.at("status").at("enrolled").as_flag(), true);
  EXPECT_EQ(heard_of(node.render()), "no: heard 0 s ago");
  Incident incident;
  incident.meta.name = "inc";
  incident.node = NodeId(node.at("id").as_text().value());
  incident.allocation = ledger_.view().all<Allocation>().begin()->first;
  incident.state = IncidentState::closed;
  incident = put(incident);
  settle();
  const std::string name = node.at("meta").at("name").as_text().value();
  EXPECT_EQ(field(call({"GET", "/v1/incidents/inc", "", "a-viewer"}).body, "node_name"), name);
  // A spare that never served it is the operator's.
  incident.meta.name = "other";
  incident.id = {};
  incident.node = ledger_.view().find_named<Node>("svc1")->id;
  put(incident);
  settle();
  EXPECT_EQ(field(call({"GET", "/v1/incidents/other", "", "a-viewer"}).body, "node_name"), "");
  EXPECT_EQ(field(call({"GET", "/v1/incidents/other"}).body, "node_name"), "svc1");
}

TEST_F(ApiTest, if_match_is_compared_or_refused_and_never_left_out) {
  for (const char* path : {"/v1/tenants", "/v1/users", "/v1/tokens", "/v1/clusters", "/v1/holds",
                           "/v1/secrets", "/v1/inventory/import"}) {
    const auto refused = call({"POST", path, "{}", "root", {{"if-match", "7"}}});
    EXPECT_EQ(refused.status, 422) << path;
    EXPECT_NE(field(refused.body, "message").find("If-Match"), std::string::npos) << path;
  }
  const std::string body = R"({"node":"gpu1","xid":79,"gpu":1})";
  EXPECT_EQ(status({"POST", "/v1/faults", body, "root", {{"if-match", "1"}}}), 409);
  EXPECT_EQ(status({"DELETE", "/v1/tenants/b", "", "root", {{"if-match", "1"}}}), 409);
}

TEST_F(ApiTest, a_filter_that_fits_nothing_is_a_mistake) {
  const auto ask = [&](const std::string& path, const std::string& name, const std::string& value) {
    Ask out{"GET", path};
    out.query[name] = value;
    return status(out);
  };
  EXPECT_EQ(ask("/v1/history", "object", "planet/x"), 422);
  EXPECT_EQ(ask("/v1/history", "object", "nodes/gpu1"), 422);
  EXPECT_EQ(ask("/v1/history", "object", "node/"), 200);
  EXPECT_EQ(ask("/v1/history", "object", "nod"), 200);
  EXPECT_EQ(ask("/v1/history", "newest_first", "yes"), 422);
  EXPECT_EQ(ask("/v1/history", "before", "-3"), 422);
  EXPECT_EQ(ask("/v1/inventory/export", "scope", "nowhere"), 404);
  EXPECT_EQ(ask("/v1/inventory/export", "scope", ""), 200);
}

TEST_F(ApiTest, every_answer_says_what_time_it_is_here) {
  scheduler_.advance(seconds(784111777 - 1000));  // from 1,000 s after 1970
  for (const Ask& ask : {Ask{"GET", "/healthz", "", ""}, Ask{"GET", "/v1/nodes", "", ""},
                         Ask{"GET", "/v1/nothing"}, Ask{"POST", "/v1/tenants", "{"}}) {
    const auto answer = call(ask);
    ASSERT_TRUE(answer.headers.contains("date")) << ask.path;
    EXPECT_EQ(answer.headers.at("date"), "Sun, 06 Nov 1994 08:49:37 GMT") << ask.path;
  }
}

TEST_F(ApiTest, a_network_that_cannot_be_is_refused_before_anything_is_touched) {
  const auto before = call({"GET", "/v1/pool_entries"}).body;
  const auto refused = [&](const std::string& network, const std::string& part) {
    const auto told = call({"POST", "/v1/clusters",
                            R"({"name":"x","nodes":1,"login":false,)" + network + "}", "a-admin"});
    EXPECT_TRUE(told.status == 422 || told.status == 409) << network << told.status << told.body;
    EXPECT_NE(field(told.body, "message").find(part), std::string::npos) << network << told.body;
    EXPECT_NE(field(told.body, "object"), "") << network;
    EXPECT_NE(field(told.body, "remedy"), "") << network;
  };
  for (const char* text : {"nonsense", "10.0.0.0", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0/24", "/24",
                           "10.0.0.0/24/24", "::/0", "10.10.0.1/24", "0.0.0.0/0", "224.0.0.0/24",
                           "127.0.0.0/24", "169.254.0.0/24", "10.10.0.0/30"}) {
    refused(R"("prefix":")" + std::string(text) + "\"", "no usable IPv4 prefix");
  }
  refused(R"("prefix":"10.10.0.0/28")", "its length does not fit");
  for (const char* text :
       {"", "permit", "permit tcp/99999@10.0.0.0/8", "permit tcp/22@10.0.0.1/8"}) {
    refused(R"("firewall":["permit icmp@0.0.0.0/0",")" + std::string(text) + "\"]",
            "firewall rule 2");
  }
  for (const char* text : {"", "ssh", "tcp@10.0.0.0/8", "ip/22@10.0.0.0/8"}) {
    refused(R"("access":[")" + std::string(text) + "\"]", "access rule 1");
  }
  refused(R"("access":["tcp/22@10.0.0.0/8"])", "has no access network");
  std::string many;
  for (int i = 0; i < 65; ++i) many += std::string(i ? "," : "") + R"("permit icmp@0.0.0.0/0")";
  refused(R"("firewall":[)" + many + "]", "too long");
  EXPECT_EQ(status({"POST", "/v1/clusters", R"({"name":"x","nodes":1,"prefix":7})", "a-admin"}),
            422);
  EXPECT_EQ(call({"GET", "/v1/pool_entries"}).body, before);
  EXPECT_TRUE(ledger_.view().all<Cluster>().empty());
}

TEST_F(ApiTest, two_tenants_may_have_one_prefix_where_the_service_node_keeps_them_apart) {
  const auto ask = [](const std::string& name, const std::string& token) {
    return Ask{"POST", "/v1/clusters",
               R"({"name":")" + name + R"(","nodes":1,"login":false,"prefix":"10.70.0.0/24",)" +
                   R"("firewall":["permit tcp/443@203.0.113.0/24"]})",
               token};
  };
  const auto made = call(ask("train", "a-admin"));
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(field(made.body, "status.prefix"), "10.70.0.0/24");
  const auto refused = call(ask("tune", "b-admin"));
  EXPECT_EQ(refused.status, 409) << refused.body;
  EXPECT_NE(field(refused.body, "message").find("svc1 has no network namespaces"),
            std::string::npos)
      << refused.body;
  EXPECT_EQ(refused.body.find("train"), std::string::npos) << "whose it is stays hidden";
  Node service = *ledger_.view().find_named<Node>("svc1");
  service.status.hardware.network_namespaces = true;
  put(service);
  EXPECT_EQ(call(ask("tune", "b-admin")).status, 201);
}

TEST_F(ApiTest, a_tokens_use_is_written_once_an_hour) {
  const auto used = [&] { return ledger_.view().find_token(hash("looker"))->last_used_at; };
  EXPECT_FALSE(used().is_set());
  scheduler_.advance(hours(2));
  const Instant first = scheduler_.now();
  for (int i = 0; i < 5; ++i) (void)call({"GET", "/v1/nodes", "", "looker"});
  EXPECT_EQ(used(), first);
  EXPECT_EQ(count_history("touch_token", "done"), 1);
  scheduler_.advance(minutes(59));
  (void)call({"GET", "/v1/nodes", "", "looker"});
  EXPECT_EQ(count_history("touch_token", "done"), 1);
  scheduler_.advance(minutes(2));
  (void)call({"GET", "/v1/nodes", "", "looker"});
  EXPECT_EQ(count_history("touch_token", "done"), 2);
  EXPECT_EQ(used(), scheduler_.now());
}

TEST_F(ApiTest, a_drill_needs_the_scopes_leave_and_is_taken_back_when_it_fails) {
  const std::string body = R"({"node":"gpu1","xid":79,"gpu":3})";
  const auto drilled = [&] {
    return ledger_.view().find_named<Node>("gpu1")->status.conditions.size();
  };
  injector_.refuse = true;
  EXPECT_EQ(status({"POST", "/v1/faults", body}), 503);
  EXPECT_EQ(drilled(), 0u) << "nothing broke, so the next incident is no drill";
  EXPECT_EQ(count_history("withdraw_fault", "done"), 1);
  injector_.refuse = false;
  injector_.seen.clear();
  Authority low = *ledger_.view().find(drill_authority_);
  low.level = AuthorityLevel::observe;
  put(low);
  const auto refused = call({"POST", "/v1/faults", body});
  EXPECT_EQ(refused.status, 403) << refused.body;
  EXPECT_NE(field(refused.body, "message").find("observe"), std::string::npos);
  EXPECT_TRUE(injector_.seen.empty());
  EXPECT_EQ(drilled(), 0u);
  EXPECT_EQ(count_history("POST /v1/faults", "refused: denied"), 1);
  low.level = AuthorityLevel::act;
  put(low);
  ASSERT_EQ(status({"POST", "/v1/holds", R"({"scope":"*","reason":"r"})"}), 201);
  EXPECT_EQ(status({"POST", "/v1/faults", body}), 200) << "a person's order, hold or not";
  EXPECT_EQ(manager_.act_counts().at("inject_fault").started, 2);
}

TEST_F(ApiTest, long_work_is_done_beside_the_loop) {
  auto parts = make_parts();
  std::vector<std::pair<std::function<void()>, std::function<void()>>> jobs;
  parts.offload = [&](std::function<void()> work, std::function<void()> done) {
    jobs.emplace_back(std::move(work), std::move(done));
  };
  api_ = std::make_unique<Api>(std::move(parts));
  const std::string sheet = R"({"files":[{"name":"racks.csv","content":)"
                            "\"site,name,u_height\\nlab,r1,48\\n\"}]}";
  const auto run = [&] {
    auto job = std::move(jobs.front());
    jobs.erase(jobs.begin());
    job.first();
    job.second();
    settle();
  };
  const auto verify = send({"GET", "/v1/history/verify"});
  const auto backup = send({"POST", "/v1/backup", R"({"path":"/b"})"});
  settle();
  EXPECT_FALSE(verify->answer) << "not on the loop";
  EXPECT_TRUE(store_.backups.empty());
  EXPECT_EQ(status({"GET", "/v1/history/verify"}), 503) << "and not without bound";
  run();
  run();
  ASSERT_TRUE(verify->answer && backup->answer);
  EXPECT_EQ(verify->answer->status, 200);
  EXPECT_EQ(backup->answer->status, 200);
  const auto import = send({"POST", "/v1/inventory/import", sheet});
  settle();
  EXPECT_FALSE(import->answer);
  ASSERT_EQ(status({"POST", "/v1/tenants", R"({"name":"meanwhile"})"}), 201);
  run();
  EXPECT_FALSE(import->answer) << "planned on what is no more: once again";
  run();
  ASSERT_TRUE(import->answer);
  EXPECT_EQ(field(import->answer->body, "applied"), "true") << import->answer->body;
}

}  // namespace
}  // namespace tundish::edge
