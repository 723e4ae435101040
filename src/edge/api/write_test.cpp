// Writes: durable before they are answered, together, once, whole or not at all.
#include "edge/api/api_fixture_test.hpp"
#include "edge/api/idempotency.hpp"
#include "model/ops/governance_ops.hpp"
#include "model/ops/incident_ops.hpp"

namespace tundish::edge {
namespace {

TEST_F(ApiTest, orders_a_cluster_and_takes_its_nodes) {
  const auto made =
      call({"POST", "/v1/clusters", R"({"name":"train","nodes":2,"spares":1})", "a-admin"});
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(field(made.body, "spec.sku"), "h100");
  EXPECT_EQ(field(made.body, "meta.tenant"), a_.str());
  const auto& held = ledger_.view().all<Allocation>().begin()->second;
  ASSERT_EQ(held.status.nodes.size(), 5u);  // 2 members, 1 spare, login, controller
  EXPECT_EQ(count_history("create_cluster", "done"), 1);
  for (const auto& entry : store_.entries) {
    if (entry.operation == "create_cluster") {
      EXPECT_EQ(entry.actor, "user:a/a-admin");
    }
  }
}

TEST_F(ApiTest, says_what_an_order_lacks) {
  EXPECT_EQ(order("x", 0).status, 422);
  EXPECT_EQ(order("9x", 1).status, 422);
  EXPECT_EQ(status({"POST", "/v1/clusters", R"({"name":"x","nodez":1})"}), 422);
  EXPECT_EQ(status({"POST", "/v1/clusters", R"({"name":"x","nodes":1})"}), 422);  // no tenant
  EXPECT_EQ(
      status({"POST", "/v1/clusters", R"({"name":"x","nodes":1,"requeue":"maybe"})", "a-admin"}),
      422);
  EXPECT_EQ(status({"POST", "/v1/clusters", R"({"name":"x","nodes":1,"sku":"b300"})", "a-admin"}),
            404);
  const auto many = order("x", 4);
  EXPECT_EQ(many.status, 409);
  EXPECT_EQ(field(many.body, "code"), "exhausted");
  Sku other;
  other.meta.name = "b200";
  other.spec.gpus = 8;
  put(other);
  const auto which = order("x", 1);
  EXPECT_EQ(which.status, 422);
  EXPECT_NE(which.body.find("b200"), std::string::npos);
  EXPECT_NE(which.body.find("h100"), std::string::npos);
}

TEST_F(ApiTest, a_login_node_that_is_missing_can_be_left_out) {
  ASSERT_EQ(status({"POST", "/v1/clusters", R"({"name":"one","nodes":1})", "a-admin"}), 201);
  const auto second = call({"POST", "/v1/clusters", R"({"name":"two","nodes":1})", "a-admin"});
  EXPECT_EQ(second.status, 409);
  EXPECT_NE(field(second.body, "remedy").find("--no-login"), std::string::npos);
  EXPECT_EQ(order("two", 1).status, 201);
}

TEST_F(ApiTest, who_is_over_quota_is_told_of_the_quota) {
  const auto refused = order("big", 4, "b-admin");  // neither quota nor nodes are there
  EXPECT_EQ(refused.status, 409);
  EXPECT_NE(field(refused.body, "message").find("quota"), std::string::npos) << refused.body;
  EXPECT_NE(field(refused.body, "message").find("has 8 left of 8"), std::string::npos);
  EXPECT_EQ(order("fits", 1, "b-admin").status, 201);
  EXPECT_EQ(order("more", 1, "b-admin").status, 409);
  EXPECT_EQ(status({"POST", "/v1/clusters/fits/scale", "{\"nodes\":2}", "b-admin"}), 409);
}

TEST_F(ApiTest, of_two_orders_for_the_last_node_one_wins) {
  ASSERT_EQ(order("first", 2).status, 201);
  const Ask ask{"POST", "/v1/clusters", R"({"name":"last","nodes":1,"login":false})", "a-admin"};
  Ask rival = ask;
  rival.token = "b-admin";
  const auto one = send(ask);
  const auto two = send(rival);
  EXPECT_FALSE(one->answer) << "not before it is durable";
  settle();
  EXPECT_EQ(one->answer->status, 201);
  EXPECT_EQ(two->answer->status, 409);
  EXPECT_EQ(ledger_.view().all<Cluster>().size(), 2u);
}

TEST_F(ApiTest, a_turn_of_writes_is_one_commit) {
  const int before = store_.commits;
  std::vector<std::shared_ptr<NotingOutlet>> all;
  for (int i = 0; i < 64; ++i) {
    all.push_back(send({"POST", "/v1/tenants", "{\"name\":\"t" + std::to_string(i) + "\"}"}));
  }
  settle();
  for (const auto& outlet : all) EXPECT_EQ(outlet->answer->status, 201);
  EXPECT_EQ(store_.commits - before, 1);
}

TEST_F(ApiTest, a_full_disk_changes_nothing_and_says_so) {
  store_.full = true;
  const auto refused = order("train", 1);
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(field(refused.body, "code"), "exhausted");
  EXPECT_NE(field(refused.body, "message").find("nothing was changed"), std::string::npos);
  const auto late = send({"POST", "/v1/tenants", R"({"name":"c"})"});
  const auto twin = send({"POST", "/v1/tenants", R"({"name":"c"})"});
  settle();
  EXPECT_EQ(field(late->answer->body, "code"), "exhausted");
  EXPECT_EQ(field(twin->answer->body, "code"), "exhausted") << "rests on what never came to be";
  EXPECT_TRUE(ledger_.view().all<Cluster>().empty());
  EXPECT_FALSE(ledger_.view().find_named<Tenant>("c"));
  store_.full = false;
  EXPECT_EQ(order("train", 1).status, 201);
}

TEST_F(ApiTest, a_repeat_with_the_same_key_gets_the_first_answer) {
  Ask ask{"POST", "/v1/tokens", R"({"name":"x","role":"viewer"})"};
  ask.headers["idempotency-key"] = "k1";
  const auto first = call(ask);
  ASSERT_EQ(first.status, 201);
  EXPECT_EQ(call(ask).body, first.body);
  Ask other = ask;
  other.body = R"({"name":"y","role":"viewer"})";
  EXPECT_EQ(status(other), 409);
  Ask elsewhere = ask;
  elsewhere.token = "a-admin";  // keys belong to the caller
  elsewhere.body = other.body;
  EXPECT_EQ(status(elsewhere), 201);
  scheduler_.advance(hours(25));
  EXPECT_EQ(status(ask), 409) << "forgotten by now: the name exists";
}

TEST_F(ApiTest, two_at_once_with_the_same_key_are_one) {
  Ask ask{"POST", "/v1/tenants", R"({"name":"c"})"};
  ask.headers["idempotency-key"] = "k1";
  const auto one = send(ask);
  const auto two = send(ask);
  settle();
  EXPECT_EQ(one->answer->status, 201);
  EXPECT_EQ(two->answer->body, one->answer->body);
  EXPECT_EQ(count_history("create_tenant", "done"), 1);
}

TEST_F(ApiTest, a_refused_call_may_be_repeated_with_its_key) {
  Ask ask{"POST", "/v1/tenants", R"({"name":"c"})"};
  ask.headers["idempotency-key"] = "k1";
  store_.full = true;
  EXPECT_EQ(status(ask), 409);
  store_.full = false;
  EXPECT_EQ(status(ask), 201);
}

TEST(Idempotency, forgets_the_oldest_first) {
  api::Idempotency memory;
  const auto ignore = [](const HttpResponse&) {};
  const auto most = api::Idempotency::most_answers;
  for (std::size_t i = 0; i <= most; ++i) {
    const std::string key = "k" + std::to_string(i);
    ASSERT_EQ(memory.begin(key, "f", Instant{1}, ignore), api::Idempotency::Begin::run);
    memory.finish(key, {200, {}, "done"});
  }
  EXPECT_EQ(memory.begin("k1", "f", Instant{1}, ignore), api::Idempotency::Begin::repeated);
  EXPECT_EQ(memory.begin("k0", "f", Instant{1}, ignore), api::Idempotency::Begin::run);
}

TEST_F(ApiTest, a_stale_revision_is_refused) {
  const std::string revision = field(call({"GET", "/v1/tenants/a"}).body, "meta.revision");
  Ask ask{"PUT", "/v1/tenants/a/quota", R"({"gpus":64})"};
  ask.headers["if-match"] = revision;
  const auto first = call(ask);
  ASSERT_EQ(first.status, 200) << first.body;
  EXPECT_EQ(field(first.body, "spec.gpu_quota"), "64");
  const auto stale = call(ask);
  EXPECT_EQ(stale.status, 409);
  EXPECT_EQ(field(stale.body, "code"), "conflict");
  ask.headers["if-match"] = field(first.body, "meta.revision");
  EXPECT_EQ(status(ask), 200);
}

TEST_F(ApiTest, rules_of_a_cluster_change_and_a_list_that_is_left_out_stays) {
  ASSERT_EQ(order("train", 1).status, 201);
  const auto change = [&](const std::string& body) {
    return call({"POST", "/v1/clusters/train/firewall", body, "a-admin"});
  };
  const auto set = change(R"({"firewall":["permit tcp/443@192.0.2.0/24"]})");
  ASSERT_EQ(set.status, 200) << set.body;
  EXPECT_EQ(field(set.body, "spec.firewall"), R"(["permit tcp/443@192.0.2.0/24"])") << set.body;
  ASSERT_EQ(change(R"({})").status, 200);
  EXPECT_EQ(ledger_.view().all<Network>().begin()->second.spec.firewall.size(), 1U);
  EXPECT_EQ(change(R"({"firewall":["permit sctp@192.0.2.0/24"]})").status, 422);
  EXPECT_EQ(change(R"({"firewal":[]})").status, 422) << "unknown fields are refused";
  EXPECT_EQ(ledger_.view().all<Network>().begin()->second.spec.firewall.size(), 1U);
  ASSERT_EQ(change(R"({"firewall":[]})").status, 200);
  EXPECT_TRUE(ledger_.view().all<Network>().begin()->second.spec.firewall.empty());
}

TEST_F(ApiTest, scales_up_and_down) {
  ASSERT_EQ(order("train", 1).status, 201);
  const auto bigger = call({"POST", "/v1/clusters/train/scale", R"({"nodes":3})", "a-member"});
  ASSERT_EQ(bigger.status, 200) << bigger.body;
  EXPECT_EQ(field(bigger.body, "spec.nodes"), "3");
  EXPECT_EQ(field(bigger.body, "spec.spares"), "0");
  ASSERT_EQ(status({"POST", "/v1/clusters/train/scale", R"({"nodes":2})", "a-member"}), 200);
  const auto& held = ledger_.view().all<Allocation>().begin()->second;
  std::string leaving;
  for (const auto& member : held.status.nodes) {
    if (member.role == MemberRole::leaving) {
      leaving += ledger_.view().find(member.node)->meta.name;
    }
  }
  EXPECT_EQ(leaving, "gpu3") << "joined last, highest name";
  EXPECT_EQ(status({"POST", "/v1/clusters/train/scale", R"({"nodes":9})", "a-member"}), 409);
  EXPECT_EQ(status({"DELETE", "/v1/clusters/train", "", "a-admin"}), 200);
  EXPECT_EQ(status({"POST", "/v1/clusters/train/scale", R"({"nodes":1})", "a-member"}), 409);
}

TEST_F(ApiTest, people_drain_and_return_their_own_claims) {
  ASSERT_EQ(status({"POST", "/v1/nodes/gpu1/drain", R"({"reason":"fan"})", "oncall"}), 200);
  const auto why = call({"GET", "/v1/nodes/gpu1/explain"}).body;
  EXPECT_EQ(field(why, "placeable"), "no: it is claimed");
  EXPECT_NE(field(why, "why").find("person:oncall"), std::string::npos) << why;
  EXPECT_NE(field(why, "how_to_stop").find("--scope node:gpu1"), std::string::npos);
  const auto foreign = call({"POST", "/v1/nodes/gpu1/return", ""});
  EXPECT_EQ(foreign.status, 409);
  EXPECT_NE(field(foreign.body, "message").find("person:oncall"), std::string::npos);
  const std::string claim = ledger_.view().all<Claim>().begin()->first.str();
  const std::string release = "/v1/claims/" + claim + "/release";
  EXPECT_EQ(status({"POST", release, ""}), 409);
  EXPECT_EQ(status({"POST", release, R"({"force":true})"}), 422) << "needs a reason";
  ASSERT_EQ(status({"POST", "/v1/nodes/gpu1/return", "", "oncall"}), 200);
  EXPECT_EQ(field(call({"GET", "/v1/nodes/gpu1/explain"}).body, "placeable"), "yes");
  ASSERT_EQ(status({"POST", "/v1/nodes/gpu2/drain", "", "root"}), 200);
  const auto& table = ledger_.view().all<Claim>();
  const std::string second = table.rbegin()->first.str() == claim ? table.begin()->first.str()
                                                                  : table.rbegin()->first.str();
  EXPECT_EQ(status({"POST", "/v1/claims/" + second + "/release", R"({"force":true,"reason":"now"})",
                    "oncall"}),
            403);
}

TEST_F(ApiTest, a_hold_needs_something_to_hold) {
  EXPECT_EQ(status({"POST", "/v1/holds", R"({"scope":"node:nix","reason":"r"})"}), 404);
  EXPECT_EQ(status({"POST", "/v1/holds", R"({"scope":"planet:x","reason":"r"})"}), 422);
  EXPECT_EQ(status({"POST", "/v1/holds", R"({"scope":"*"})"}), 422);
  const std::string node = ledger_.view().find_named<Node>("gpu1")->id.str();
  const auto made = call(
      {"POST", "/v1/holds", "{\"scope\":\"node:" + node + "\",\"reason\":\"r\",\"for_s\":60}"});
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(field(made.body, "scope"), "node:gpu1") << "permits compare names";
  EXPECT_EQ(field(call({"GET", "/v1/status"}).body, "holds").find("node:gpu1"), 2u);
  EXPECT_EQ(status({"DELETE", "/v1/holds/" + field(made.body, "id"), "", "oncall"}), 200);
  EXPECT_TRUE(ledger_.view().all<Hold>().empty());
}

TEST_F(ApiTest, a_drill_is_in_the_history_before_it_happens) {
  const auto bad = call({"POST", "/v1/faults", R"({"node":"gpu1","xid":79,"gpu":8})"});
  EXPECT_EQ(bad.status, 422);
  EXPECT_TRUE(injector_.seen.empty());
  const auto sent = send({"POST", "/v1/faults", R"({"node":"gpu1","xid":79,"gpu":3})"});
  EXPECT_TRUE(injector_.seen.empty()) << "not before it is durable";
  settle();
  ASSERT_EQ(injector_.seen.size(), 1u);
  EXPECT_EQ(sent->answer->status, 200);
  EXPECT_EQ(field(sent->answer->body, "line"), "NVRM: Xid 79");
  EXPECT_EQ(count_history("inject_fault", "done"), 1);
  store_.full = true;
  EXPECT_EQ(status({"POST", "/v1/faults", R"({"node":"gpu1","xid":79,"gpu":2})"}), 409);
  EXPECT_EQ(injector_.seen.size(), 1u) << "what is not recorded does not happen";
  store_.full = false;
  injector_.refuse = true;
  EXPECT_EQ(status({"POST", "/v1/faults", R"({"node":"gpu1","xid":79,"gpu":1})"}), 503);
}

TEST_F(ApiTest, lists_go_page_by_page) {
  Ask ask{"GET", "/v1/nodes"};
  ask.query["limit"] = "2";
  std::size_t seen = 0;
  for (int pages = 0; pages < 4; ++pages) {
    const auto page = call(ask);
    seen += length(page.body);
    if (!page.headers.contains("x-next-page")) break;
    EXPECT_EQ(length(page.body), 2u);
    ask.query["page"] = page.headers.at("x-next-page");
  }
  EXPECT_EQ(seen, 5u);
  ask.query["limit"] = "0";
  EXPECT_EQ(status(ask), 422);
}

TEST_F(ApiTest, capacity_counts_each_node_once) {
  ASSERT_EQ(status({"POST", "/v1/nodes/gpu1/drain", "", "oncall"}), 200);
  ASSERT_EQ(order("train", 1).status, 201);
  const auto rows = JsonValue::parse(call({"GET", "/v1/capacity"}).body);
  ASSERT_TRUE(rows);
  bool found = false;
  for (const auto& row : rows->items()) {
    if (row.at("sku").as_text() != "h100") continue;
    found = true;
    EXPECT_EQ(row.at("nodes").as_integer(), 3);
    EXPECT_EQ(row.at("claimed").as_integer(), 1);
    EXPECT_EQ(row.at("assigned").as_integer(), 1);
    EXPECT_EQ(row.at("free").as_integer(), 1);
    EXPECT_EQ(row.at("largest_gang").as_integer(), 1);
  }
  EXPECT_TRUE(found);
}

TEST_F(ApiTest, proposals_are_decided_once) {
  Proposal proposal;
  proposal.group = "g";
  proposal.expires_at = scheduler_.now() + hours(1);
  ASSERT_TRUE(ledger_.perform(*open_proposal(proposal), "system", ""));
  settle();
  const std::string id = ledger_.view().all<Proposal>().begin()->first.str();
  const auto done = call({"POST", "/v1/proposals/" + id + "/approve", "", "oncall"});
  ASSERT_EQ(done.status, 200) << done.body;
  EXPECT_EQ(field(done.body, "decided_by"), "user:oncall");
  EXPECT_EQ(status({"POST", "/v1/proposals/" + id + "/deny", ""}), 409);
}

TEST_F(ApiTest, a_person_may_change_the_mind_about_a_denial_and_not_about_an_approval) {
  const auto open = [&](const std::string& group) {
    Proposal proposal;
    proposal.group = group;
    proposal.expires_at = scheduler_.now() + hours(1);
    EXPECT_TRUE(ledger_.perform(*open_proposal(proposal), "system", ""));
    settle();
    for (const auto& [id, one] : ledger_.view().all<Proposal>()) {
      if (one.group == group) return id.str();
    }
    return std::string();
  };
  const auto decide = [&](const std::string& id, const std::string& verb) {
    return call({"POST", "/v1/proposals/" + id + "/" + verb, "", "oncall"});
  };
  const std::string id = open("g");
  ASSERT_EQ(decide(id, "deny").status, 200);
  const auto again = decide(id, "deny");
  EXPECT_EQ(again.status, 409);
  EXPECT_NE(field(again.body, "remedy").find("tundish proposal approve " + id), std::string::npos);
  scheduler_.advance(hours(2));  // what nobody asks again does not run out
  const auto after_all = decide(id, "approve");
  ASSERT_EQ(after_all.status, 200) << after_all.body;
  EXPECT_EQ(field(after_all.body, "state"), "approved");
  const auto back = decide(id, "deny");
  EXPECT_EQ(back.status, 409) << "what it lets through may be under way";
  EXPECT_NE(field(back.body, "remedy").find("tundish hold set"), std::string::npos) << back.body;
  Incident over;
  over.state = IncidentState::closed;
  over = put(over);
  const std::string moot = open(over.id.str());
  ASSERT_EQ(decide(moot, "deny").status, 200);
  EXPECT_EQ(decide(moot, "approve").status, 409) << "nothing is left to do";
}

TEST_F(ApiTest, an_import_is_whole_or_nothing) {
  const auto import = [&](const std::string& devices) {
    return call(
        {"POST", "/v1/inventory/import",
         "{\"scope\":\"lab\",\"files\":[{\"name\":\"d.csv\",\"content\":\"" + devices + "\"}]}"});
  };
  const int before = static_cast<int>(ledger_.view().all<Node>().size());
  const auto bad = import("name,role,mystery\\nn9,gpu,1\\n");
  EXPECT_EQ(bad.status, 422);
  EXPECT_GT(length(field(bad.body, "problems")), 0u) << bad.body;
  EXPECT_EQ(static_cast<int>(ledger_.view().all<Node>().size()), before);
  const std::string racks = R"({"scope":"lab","files":[{"name":"racks.csv","content":)"
                            "\"site,name,u_height\\nlab,r1,48\\nlab,r2,48\\n\"}],";
  const auto planned = call({"POST", "/v1/inventory/import", racks + "\"dry_run\":true}"});
  EXPECT_EQ(planned.status, 200) << planned.body;
  EXPECT_FALSE(ledger_.view().find_named<Rack>("r1"));
  const auto done = call({"POST", "/v1/inventory/import", racks + "\"dry_run\":false}"});
  EXPECT_EQ(field(done.body, "applied"), "true") << done.body;
  EXPECT_EQ(field(done.body, "changes"), field(planned.body, "changes"));
  EXPECT_TRUE(ledger_.view().find_named<Rack>("r2"));
  EXPECT_EQ(count_history("import_inventory", "done"), 1);
  EXPECT_NE(call({"GET", "/v1/inventory/export"}).body.find("r2"), std::string::npos);
}

}  // namespace
}  // namespace tundish::edge
