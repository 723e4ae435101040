// network over the API: what is in step and why not, the difference, a probe that is only planned.
#include "model/network.hpp"

#include "control/network/intent.hpp"
#include "edge/api/api_fixture_test.hpp"

namespace tundish::edge {
namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// The site with one leaf that shows what is wanted of it, and a cluster of tenant a on it.
class NetworkApi : public ApiTest {
 protected:
  NetworkApi() {
    Fabric fabric;
    fabric.meta.name = "access";
    fabric.spec.underlay = {"10.255.0.0/16"};
    put(fabric);
    Fabric infiniband;
    infiniband.meta.name = "ib0";
    infiniband.spec.technology = FabricTechnology::infiniband;
    infiniband.spec.management_url = "ssh://root@10.88.4.1";
    put(infiniband);
    Switch leaf;
    leaf.meta.name = "leaf1";
    leaf.spec.driver = "frr";
    leaf.spec.management_url = "ssh://root@10.88.2.1";
    leaf.spec.asn = 65001;
    leaf.spec.router_id = leaf.spec.vtep_address = "10.255.0.1";
    put(leaf);
    for (int i = 1; i <= 3; ++i) {
      Node node = *ledger_.view().find_named<Node>("gpu" + std::to_string(i));
      node.spec.ports[0].role = PortRole::access;
      node.spec.ports[0].switch_name = "leaf1";
      node.spec.ports[0].switch_port = "swp" + std::to_string(i);
      put(node);
    }
    switches_.shows = [this](const std::string& name) -> Result<SwitchReading> {
      SwitchReading reading;
      reading.has_config = true;
      reading.seen.own = TRY(control::network::plan_switch(manager_.view(), name));
      for (auto& port : reading.seen.own.ports) port.description += described_;
      reading.seen.unclear = unclear_;
      return reading;
    };
    EXPECT_EQ(order("train", 1).status, 201);
    look();
  }
  void look() {
    scheduler_.advance(seconds(11));
    settle();
  }
  std::string report(const std::string& token) {
    return call({"GET", "/v1/networks/train/report", "", token}).body;
  }
  HttpResponse plan(const std::string& fabric) {
    Ask ask{"GET", "/v1/network-plan"};
    if (!fabric.empty()) ask.query["fabric"] = fabric;
    return call(ask);
  }

  std::vector<std::string> unclear_;
  std::string described_;
};

TEST_F(NetworkApi, a_line_that_nobody_understands_is_not_in_step_although_every_row_is) {
  EXPECT_EQ(field(report("root"), "in_step"), "true") << report("root");
  unclear_ = {"frr.conf: ip route 0.0.0.0/0 Null0"};
  look();
  EXPECT_EQ(field(report("root"), "in_step"), "false");
  EXPECT_TRUE(has(field(report("root"), "reasons"), "leaf1: drifted: not understood: frr.conf"));
  EXPECT_FALSE(has(report("root"), "\"state\":\"differs\"")) << report("root");
  const std::string listed = call({"GET", "/v1/networks/train"}).body;
  EXPECT_TRUE(has(listed, "\"state\":\"drifted\"")) << "list and show say the same: " << listed;
}

TEST_F(NetworkApi, what_was_not_seen_lately_is_unknown_in_every_list) {
  const auto state = [&](const std::string& token) {
    return call({"GET", "/v1/networks", "", token}).body;
  };
  EXPECT_TRUE(has(state("root"), "\"state\":\"synced\"")) << state("root");
  EXPECT_TRUE(has(state("a-viewer"), "\"state\":\"synced\""));
  switches_.shows = nullptr;  // nobody answers any more
  scheduler_.advance(seconds(31));
  EXPECT_FALSE(has(state("root"), "\"state\":\"synced\"")) << state("root");
  EXPECT_TRUE(has(state("root"), "not read since"));
  EXPECT_FALSE(has(state("a-viewer"), "\"state\":\"synced\"")) << state("a-viewer");
  EXPECT_FALSE(has(state("a-viewer"), "not read since")) << "a tenant is not told where";
  EXPECT_TRUE(has(call({"GET", "/v1/switches/leaf1"}).body, "not read since"));
  EXPECT_EQ(field(report("root"), "in_step"), "false");
}

TEST_F(NetworkApi, where_nobody_answers_the_switch_is_told_unreachable) {
  switches_.shows = [](const std::string&) -> Result<SwitchReading> {
    return make_error(Code::unavailable, "connection refused");
  };
  for (int i = 0; i < 6; ++i) look();
  const std::string leaf = call({"GET", "/v1/switches/leaf1"}).body;
  EXPECT_TRUE(has(leaf, "\"unreachable\"")) << leaf;
  EXPECT_TRUE(has(leaf, "connection refused")) << leaf;
}

TEST_F(NetworkApi, a_full_disk_is_said_as_such_and_looks_go_on) {
  const int before = store_.commits;
  store_.full = true;
  described_ = "";
  unclear_ = {"frr.conf: ip route 0.0.0.0/0 Null0"};
  for (int i = 0; i < 30; ++i) {
    scheduler_.advance(seconds(1));
    settle();
  }
  EXPECT_LE(store_.commits - before, 40) << "no storm of tries";
  EXPECT_GE(store_.commits - before, 2);
  const std::string status = call({"GET", "/v1/status"}).body;
  EXPECT_TRUE(has(status, "store: refused every change for ")) << status;
  EXPECT_TRUE(has(status, "the disk is full")) << status;
  const auto& seen = manager_.view().seen.switches.at("leaf1");
  EXPECT_LE(manager_.view().now - seen.at, seconds(11)) << "it is looked at all the same";
  EXPECT_EQ(field(report("root"), "in_step"), "false") << "and what is seen is shown";
  store_.full = false;
  look();
  EXPECT_FALSE(has(call({"GET", "/v1/status"}).body, "store: refused"));
}

TEST_F(NetworkApi, a_tenant_reads_of_its_own_network_and_of_no_switch) {
  unclear_ = {"frr.conf: something of b"};
  look();
  const std::string own = report("a-viewer");
  EXPECT_EQ(field(own, "prefix"), field(report("root"), "prefix"));
  EXPECT_EQ(field(own, "in_step"), "false");
  EXPECT_EQ(field(own, "rows"), "[]");
  for (const char* hidden : {"leaf1", "rack1", "swp1", "something", "SERIAL"}) {
    EXPECT_FALSE(has(own, hidden)) << own;
  }
  EXPECT_EQ(status({"GET", "/v1/networks/train/report", "", "b-admin"}), 404);
  const auto refused = call({"GET", "/v1/network-plan", "", "a-member"});
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(field(refused.body, "remedy"),
            "roles that may: the operator's side's viewer, auditor, on-call, operator");
}

TEST_F(NetworkApi, a_plan_is_of_a_fabric_that_exists) {
  const auto missing = plan("nix");
  EXPECT_EQ(missing.status, 404);
  EXPECT_EQ(field(missing.body, "message"), "fabric nix does not exist");
  EXPECT_EQ(field(missing.body, "remedy"), "there are: access, ib0");
  const auto unread = plan("ib0");
  EXPECT_EQ(unread.status, 200);
  EXPECT_TRUE(has(field(unread.body, "unknown"), "fabric ib0 was not read lately")) << unread.body;
  EXPECT_EQ(plan("").status, 200);
  Fabric second;
  second.meta.name = "second";
  put(second);
  EXPECT_TRUE(has(plan("second").body, "no switch of fabric second is in the inventory"));
}

/// What joins it may be elsewhere: on a leaf where it has no part every row is as wanted.
TEST_F(NetworkApi, a_tenant_whose_network_is_joined_is_told_so) {
  look();
  ASSERT_EQ(field(report("a-admin"), "in_step"), "true");
  Incident joined;
  joined.subject = "leaf9";
  joined.allocations = {ledger_.view().find_named<Cluster>("train")->status.allocation};
  joined.blamed = Blame();
  joined.blamed->rule = "isolation";
  joined = put(joined);
  const auto told = call({"GET", "/v1/networks/train/report", "", "a-admin"});
  EXPECT_EQ(field(told.body, "in_step"), "false") << told.body;
  EXPECT_TRUE(has(told.body, "tundish incident show " + joined.id.str())) << told.body;
  EXPECT_FALSE(has(told.body, "leaf9")) << told.body;
  joined.state = IncidentState::resolved;
  put(joined);
  EXPECT_EQ(field(report("a-admin"), "in_step"), "true");
}

TEST_F(NetworkApi, a_description_that_nobody_writes_is_no_difference) {
  described_ = " by hand";
  look();
  std::optional<SwitchState> asked;
  std::optional<SwitchState> seen;
  ApiParts parts = make_parts();
  parts.plan_switch = [&](const Switch&, const SwitchState& has,
                          const SwitchState& wanted) -> Result<SwitchPlan> {
    seen = has;
    asked = wanted;
    return SwitchPlan{{}, {}, wanted};
  };
  api_ = std::make_unique<Api>(std::move(parts));
  ASSERT_EQ(plan("access").status, 200);
  ASSERT_TRUE(asked && seen);
  EXPECT_EQ(asked->ports, seen->ports);
  EXPECT_TRUE(has(asked->ports.front().description, "by hand"));
}

TEST_F(NetworkApi, a_dry_probe_says_who_would_send_and_orders_nothing) {
  Ask ask{"POST", "/v1/network-probe", "{}"};
  ask.query["dry_run"] = "true";
  const auto told = call(ask);
  ASSERT_EQ(told.status, 200) << told.body;
  EXPECT_EQ(told.headers.at("x-dry-run"), "true");
  EXPECT_EQ(field(told.body, "verdict"), "unproved");
  EXPECT_TRUE(has(told.body, "is not in its network yet")) << told.body;
  ask.body = R"({"services":["web"]})";
  const auto refused = call(ask);
  EXPECT_EQ(refused.status, 422);
  EXPECT_TRUE(has(field(refused.body, "remedy"), "web=203.0.113.10:443"));
  ask.body = R"({"clusters":["nix"]})";
  EXPECT_EQ(call(ask).status, 404);
}

TEST_F(NetworkApi, every_refusal_says_what_would_work) {
  const auto remedy = [&](const Ask& ask) {
    const auto told = call(ask);
    EXPECT_GE(told.status, 400) << told.body;
    return field(told.body, "remedy");
  };
  EXPECT_TRUE(has(remedy({"PUT", "/v1/authorities",
                          R"({"scope":"*","action_class":"nothing","level":"act"})"}),
                  "use *, look, stop_new_work, drain"));
  EXPECT_NE(remedy({"PUT", "/v1/tenants/a/quota", R"({"gpus":-1})"}), "");
  EXPECT_NE(remedy({"POST", "/v1/tenants", R"({"name":"x","gpu_quota":-1})"}), "");
  EXPECT_NE(remedy({"POST", "/v1/clusters", R"({"name":"x","tenant":"a","nodes":0})"}), "");
}

TEST_F(NetworkApi, history_is_found_by_name_and_by_id) {
  const std::string id = field(call({"GET", "/v1/clusters/train"}).body, "id");
  ASSERT_EQ(status({"POST", "/v1/clusters/train/firewall",
                    R"({"firewall":["permit tcp/443@203.0.113.0/24"]})"}),
            200);
  ASSERT_EQ(order("train2", 1).status, 201);
  Ask ask{"GET", "/v1/history"};
  ask.query = {{"object", "cluster/train"}, {"newest_first", "true"}};
  const std::string told = call(ask).body;
  EXPECT_TRUE(has(told, "\"operation\":\"create_cluster\"")) << told;
  EXPECT_TRUE(has(told, "\"operation\":\"set_firewall\"")) << told;
  EXPECT_FALSE(has(told, "train2")) << told;
  EXPECT_LT(told.find("set_firewall"), told.find("create_cluster")) << told;
}

}  // namespace
}  // namespace tundish::edge
