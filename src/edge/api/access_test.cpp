// Who gets in, who may do what, and what a tenant never learns.
#include <set>

#include "edge/api/api_fixture_test.hpp"
#include "edge/api/routes.hpp"

namespace tundish::edge {
namespace {

TEST_F(ApiTest, needs_a_valid_token) {
  EXPECT_EQ(status({"GET", "/healthz", "", ""}), 200);
  const auto none = call({"GET", "/v1/nodes", "", ""});
  EXPECT_EQ(none.status, 401);
  EXPECT_EQ(none.headers.at("www-authenticate"), "Bearer realm=\"tundish\"");
  const auto wrong = call({"GET", "/v1/nodes", "", "guess"});
  EXPECT_EQ(wrong.status, 401);
  EXPECT_NE(wrong.headers.at("www-authenticate").find("invalid_token"), std::string::npos);
  EXPECT_EQ(status({"GET", "/v1/nodes", "", "agent1"}), 403) << "known, and of no use here";
  const auto scope = call({"POST", "/v1/tenants", "{}", "looker"});
  EXPECT_EQ(scope.status, 403);
  EXPECT_FALSE(scope.headers.contains("www-authenticate"));
  EXPECT_EQ(status({"GET", "/v1/nodes", "", "root"}), 200);
}

TEST_F(ApiTest, a_token_ends_when_it_expires_or_is_deleted) {
  const auto made =
      call({"POST", "/v1/tokens", R"({"name":"short","role":"viewer","valid_s":60})"});
  ASSERT_EQ(made.status, 201) << made.body;
  const std::string clear = field(made.body, "token");
  EXPECT_EQ(status({"GET", "/v1/nodes", "", clear}), 200);
  scheduler_.advance(seconds(61));
  EXPECT_EQ(status({"GET", "/v1/nodes", "", clear}), 401);
  EXPECT_EQ(status({"DELETE", "/v1/tokens/looker"}), 200);
  EXPECT_EQ(status({"GET", "/v1/nodes", "", "looker"}), 401);
}

TEST_F(ApiTest, refused_logins_are_recorded_once_per_second_and_peer) {
  for (int i = 0; i < 50; ++i) (void)call({"GET", "/v1/nodes", "", "guess"});
  EXPECT_EQ(count_history("GET /v1/nodes", "refused: denied"), 1);
  scheduler_.advance(seconds(2));
  (void)call({"GET", "/v1/nodes", "", "guess"});
  EXPECT_EQ(count_history("GET /v1/nodes", "refused: denied"), 2);
}

TEST_F(ApiTest, tells_a_wrong_path_from_a_wrong_method) {
  EXPECT_EQ(status({"GET", "/v1/nothing"}), 404);
  EXPECT_EQ(status({"GET", "/v1/nodes/"}), 404);
  const auto wrong = call({"PATCH", "/v1/clusters"});
  EXPECT_EQ(wrong.status, 405);
  EXPECT_EQ(wrong.headers.at("allow"), "GET, POST");
}

/// Per role the routes that it may call, counted by right: a change of the table shows here.
TEST_F(ApiTest, roles_may_what_the_table_says) {
  struct Row {
    std::string method, path, body;
    std::set<std::string> may;
  };
  const std::set<std::string> operators = {"root"};
  const std::set<std::string> duty = {"root", "oncall"};
  const std::set<std::string> admins = {"root", "a-admin"};
  const Row rows[] = {
      {"GET",
       "/v1/nodes",
       "",
       {"root", "oncall", "auditor", "looker", "a-admin", "a-member", "a-viewer"}},
      {"GET", "/v1/capacity", "", {"root", "oncall", "auditor", "looker"}},
      {"GET", "/v1/history", "", {"root", "oncall", "auditor"}},
      {"GET",
       "/v1/networks/zz/report",
       "",
       {"root", "oncall", "auditor", "looker", "a-admin", "a-member", "a-viewer"}},
      {"GET", "/v1/network-plan", "", {"root", "oncall", "auditor", "looker"}},
      {"POST", "/v1/network-probe", "{", operators},
      {"POST", "/v1/nodes/zz/drain", "", duty},
      {"POST", "/v1/incidents/zz/ack", "", duty},
      {"POST", "/v1/claims/zz/release", "", duty},
      {"POST", "/v1/proposals/zz/approve", "", duty},
      {"DELETE", "/v1/holds/zz", "", duty},
      {"DELETE", "/v1/clusters/zz", "", admins},
      {"POST", "/v1/clusters/zz/firewall", "", admins},
      {"DELETE", "/v1/users/zz", "", admins},
      {"DELETE", "/v1/tokens/zz", "", admins},
      {"POST", "/v1/clusters/zz/scale", "", {"root", "a-admin", "a-member"}},
      {"POST", "/v1/tenants", "{", operators},
      {"DELETE", "/v1/secrets/zz", "", operators},
      {"PUT", "/v1/authorities", "{", operators},
      {"POST", "/v1/faults", "{", operators},
      {"POST", "/v1/inventory/import", "{", operators},
      {"POST", "/v1/backup", "{", operators},
      {"POST", "/v1/maintenances", "{", duty},
      {"POST", "/v1/maintenances/zz/end", "", duty},
      {"POST", "/v1/notices/zz/ack", "", duty},
      {"POST", "/v1/incidents/zz/bundle", "", duty},
      {"POST", "/v1/node_reports", "{", {"root", "oncall", "a-admin", "b-admin", "a-member"}},
      {"GET", "/v1/lemons", "", {"root", "oncall", "auditor", "looker"}},
      {"GET", "/v1/shift-report", "", {"root", "oncall", "auditor"}},
  };
  for (const auto& row : rows) {
    for (const char* token :
         {"root", "oncall", "auditor", "looker", "a-admin", "a-member", "a-viewer"}) {
      const int got = status({row.method, row.path, row.body, token});
      EXPECT_EQ(got != 403, row.may.contains(token))
          << token << " " << row.method << " " << row.path << ": " << got;
    }
  }
}

TEST_F(ApiTest, another_tenants_objects_look_missing) {
  ASSERT_EQ(order("train", 1).status, 201);
  const std::string id = field(call({"GET", "/v1/clusters/train"}).body, "id");
  for (const std::string& name : {std::string("train"), id}) {
    for (const Ask& ask :
         {Ask{"GET", "/v1/clusters/" + name, "", "b-admin"},
          Ask{"DELETE", "/v1/clusters/" + name, "", "b-admin"},
          Ask{"POST", "/v1/clusters/" + name + "/scale", "{\"nodes\":2}", "b-admin"}}) {
      const auto hidden = call(ask);
      EXPECT_EQ(hidden.status, 404);
      EXPECT_EQ(field(hidden.body, "message"), "cluster " + name + " does not exist");
      EXPECT_EQ(field(hidden.body, "remedy"), "");
    }
  }
  const auto missing = call({"GET", "/v1/clusters/nix", "", "b-admin"});
  EXPECT_EQ(field(missing.body, "message"), "cluster nix does not exist");
  EXPECT_EQ(call({"GET", "/v1/clusters", "", "b-admin"}).body, "[]");
  EXPECT_EQ(length(call({"GET", "/v1/clusters", "", "a-viewer"}).body), 1u);
  EXPECT_EQ(call({"GET", "/v1/nodes", "", "b-admin"}).body, "[]");
  EXPECT_EQ(status({"GET", "/v1/tenants/a", "", "b-admin"}), 404);
  EXPECT_EQ(length(call({"GET", "/v1/tenants", "", "b-admin"}).body), 1u);
  EXPECT_EQ(status({"POST", "/v1/users", R"({"tenant":"a","name":"eve"})", "b-admin"}), 404);
  EXPECT_EQ(status({"GET", "/v1/tokens/a-admin", "", "b-admin"}), 404);
}

TEST_F(ApiTest, both_tenants_may_use_one_name) {
  ASSERT_EQ(order("train", 1, "a-admin").status, 201);
  ASSERT_EQ(order("train", 1, "b-admin").status, 201);
  const auto of_a = call({"GET", "/v1/clusters/train", "", "a-viewer"});
  const auto of_b = call({"GET", "/v1/clusters/train", "", "b-admin"});
  EXPECT_EQ(field(of_a.body, "meta.tenant"), a_.str());
  EXPECT_EQ(field(of_b.body, "meta.tenant"), b_.str());
  EXPECT_EQ(status({"GET", "/v1/clusters/train"}), 409) << "the operator must name the id";
}

TEST_F(ApiTest, a_tenant_sees_neither_serials_nor_racks_nor_other_tenants) {
  ASSERT_EQ(order("train", 1).status, 201);
  const auto nodes = call({"GET", "/v1/nodes", "", "a-viewer"}).body;
  ASSERT_EQ(length(nodes), 1u);
  Incident incident;
  incident.meta.name = "inc";
  incident.node = NodeId(JsonValue::parse(nodes)->at(std::size_t{0}).at("id").as_text().value());
  incident.allocation = ledger_.view().all<Allocation>().begin()->first;
  incident.blame = "GPU in rack1";
  incident.witnesses.emplace_back().reason = "SERIAL-gpu1";
  incident.timeline.emplace_back().what = "rma";
  incident.timeline.back().detail = "serial SERIAL-gpu1";
  incident.timeline.emplace_back().what = "detected";
  incident.timeline.back().detail = "Xid 79";
  incident.state = IncidentState::closed;
  put(incident);
  settle();
  const auto seen = call({"GET", "/v1/incidents/inc", "", "a-viewer"});
  ASSERT_EQ(seen.status, 200);
  EXPECT_NE(seen.body.find("Xid 79"), std::string::npos) << "the timeline stays";
  for (const std::string& body : {nodes, seen.body}) {
    EXPECT_EQ(body.find("SERIAL"), std::string::npos) << body;
    EXPECT_EQ(body.find("rack1"), std::string::npos) << body;
  }
  EXPECT_NE(call({"GET", "/v1/incidents/inc"}).body.find("SERIAL"), std::string::npos);
  EXPECT_EQ(status({"GET", "/v1/incidents/inc", "", "b-admin"}), 404);
  const auto metrics = call({"GET", "/metrics", "", "b-admin"}).body;
  EXPECT_NE(metrics.find("tundish_clusters 0"), std::string::npos) << metrics;
  EXPECT_EQ(metrics.find("tundish_agents_heard"), std::string::npos);
}

TEST_F(ApiTest, a_tenant_keeps_the_incidents_of_a_cluster_that_is_gone) {
  Incident incident;
  incident.meta.name = "old";
  incident.meta.tenant = a_;
  incident.allocation = AllocationId("allocation-gone");
  incident.blame = "GPU in rack1";
  incident.witnesses.emplace_back().reason = "SERIAL-gpu1";
  incident.state = IncidentState::closed;
  put(incident);
  settle();
  const auto seen = call({"GET", "/v1/incidents/old", "", "a-viewer"});
  EXPECT_EQ(seen.status, 200) << seen.body;
  EXPECT_EQ(seen.body.find("SERIAL"), std::string::npos) << seen.body;
  EXPECT_EQ(seen.body.find("rack1"), std::string::npos) << seen.body;
  EXPECT_EQ(length(call({"GET", "/v1/incidents", "", "a-viewer"}).body), 1u);
  EXPECT_EQ(status({"GET", "/v1/incidents/old", "", "b-admin"}), 404);
  EXPECT_EQ(call({"GET", "/v1/incidents", "", "b-admin"}).body, "[]");
}

TEST_F(ApiTest, a_tenant_admin_cannot_raise_itself) {
  const auto make = [&](const std::string& body) {
    return call({"POST", "/v1/tokens", body, "a-admin"});
  };
  EXPECT_EQ(make(R"({"name":"x","role":"operator"})").status, 422);
  EXPECT_EQ(make(R"({"name":"x","role":"viewer","tenant":"b"})").status, 404);
  EXPECT_EQ(make(R"({"name":"x","role":"","node":"02:00:00:00:00:gpu1"})").status, 403);
  const auto made = make(R"({"name":"x","role":"member"})");
  ASSERT_EQ(made.status, 201);
  EXPECT_EQ(field(made.body, "object.meta.tenant"), a_.str());
  const auto enrol = call({"POST", "/v1/tokens", R"({"node":"02:00:00:00:00:gpu1"})"});
  ASSERT_EQ(enrol.status, 201) << enrol.body;
  EXPECT_EQ(field(enrol.body, "object.one_time"), "true");
  EXPECT_EQ(status({"GET", "/v1/nodes", "", field(enrol.body, "token")}), 403);
}

TEST_F(ApiTest, hashes_and_secrets_are_in_no_answer) {
  ASSERT_EQ(order("train", 1).status, 201);
  const auto watch = send({"GET", "/v1/watch", "", "root"});
  const std::string value = "hunter2-in-clear";
  const auto stored =
      call({"POST", "/v1/secrets",
            "{\"name\":\"bmc\",\"purpose\":\"bmc_password\",\"value\":\"" + value + "\"}"});
  ASSERT_EQ(stored.status, 201) << stored.body;
  EXPECT_EQ(status({"POST", "/v1/secrets", "{\"name\":\"bad\",\"value\":[\"" + value + "\"]}"}),
            422);
  const auto made = call({"POST", "/v1/tokens", R"({"name":"fresh","role":"viewer"})"});
  const std::string clear = field(made.body, "token");
  for (const auto& route : api::all_routes()) {
    if (route.method != "GET" || route.pattern == "/v1/watch") continue;
    std::string path = route.pattern;
    if (path.find('*') != std::string::npos) path.replace(path.find('*'), 1, "bmc");
    (void)call({"GET", path});
  }
  for (const char* path : {"/v1/tokens/fresh", "/v1/tokens/root"}) {
    EXPECT_EQ(status({"GET", path}), 200);
  }
  EXPECT_EQ(status({"DELETE", "/v1/secrets/bmc"}), 200);
  std::string all;
  for (const auto& outlet : sent_) {
    all += outlet->text + (outlet->answer ? outlet->answer->body : "");
  }
  for (const auto& entry : store_.entries) all += render_json(entry);
  EXPECT_NE(watch->text.find("\"kind\":\"secret\""), std::string::npos);
  EXPECT_NE(watch->text.find("\"kind\":\"token\""), std::string::npos);
  EXPECT_EQ(all.find(value), std::string::npos);
  EXPECT_EQ(all.find("sealed" + std::to_string(value.size())), std::string::npos);
  // The content of the loaded policy, which is told by a hash, is no secret.
  for (auto at = all.find("hash-of-"); at != std::string::npos; at = all.find("hash-of-", at + 1)) {
    EXPECT_EQ(all.substr(at, 9), "hash-of-{") << all.substr(at > 200 ? at - 200 : 0, 400);
  }
  EXPECT_EQ(all.find(clear), all.rfind(clear)) << "shown once";
  EXPECT_NE(all.find(clear), std::string::npos);
}

TEST_F(ApiTest, openapi_names_every_route) {
  const auto answer = call({"GET", "/v1/openapi.json", "", ""});
  const auto document = JsonValue::parse(answer.body);
  ASSERT_TRUE(document) << document.error().message();
  EXPECT_EQ(document->at("openapi").as_text(), "3.1.0");
  for (const auto& route : api::all_routes()) {
    std::string path = route.pattern;
    if (path.find('*') != std::string::npos) path.replace(path.find('*'), 1, "{name}");
    std::string method(route.method);
    for (char& c : method) c = static_cast<char>(c - 'A' + 'a');
    EXPECT_FALSE(document->at("paths").at(path).at(method).is_absent()) << route.pattern;
  }
  EXPECT_EQ(document->at("components")
                .at("schemas")
                .at("cluster_request")
                .at("properties")
                .at("nodes")
                .at("type")
                .as_text(),
            "integer");
}

}  // namespace
}  // namespace tundish::edge
