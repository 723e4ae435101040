// What waits for a person at advise, and what becomes of it when nobody needs it any more.
#include "edge/api/api_fixture_test.hpp"
#include "model/ops/governance_ops.hpp"
#include "model/ops/network_ops.hpp"

namespace tundish::edge {
namespace {

class ProposalTest : public ApiTest {
 protected:
  /// A flat switch for the nodes: nobody writes to it here.
  void SetUp() override {
    Switch device;
    device.meta.name = "leaf1";
    put(device);
    int number = 0;
    std::vector<Node> nodes;
    for (const auto& [id, node] : ledger_.view().all<Node>()) nodes.push_back(node);
    for (auto& node : nodes) {
      for (auto& port : node.spec.ports) {
        port.role = PortRole::access;
        port.switch_name = "leaf1";
        port.switch_port = "swp" + std::to_string(++number);
      }
      put(node);
    }
    set_level(AuthorityLevel::advise);
    ASSERT_EQ(order("train", 2).status, 201);
    settle();
  }
  void set_level(AuthorityLevel level) {
    ASSERT_TRUE(ledger_.perform(*set_authority("*", "*", level), "system", "test"));
    settle();
  }
  int count(ProposalState state) {
    int found = 0;
    for (const auto& [id, proposal] : ledger_.view().all<Proposal>()) {
      found += proposal.state == state ? 1 : 0;
    }
    return found;
  }
  const Cluster& cluster() { return ledger_.view().all<Cluster>().begin()->second; }
};

TEST_F(ProposalTest, each_says_what_would_change_and_the_order_says_that_it_waits) {
  ASSERT_GT(count(ProposalState::waiting), 0);
  for (const auto& [id, proposal] : ledger_.view().all<Proposal>()) {
    EXPECT_NE(proposal.reason.find("wanted in"), std::string::npos) << proposal.reason;
    EXPECT_NE(proposal.reason.find("at advise"), std::string::npos) << proposal.reason;
  }
  EXPECT_NE(cluster().status.reason.find("tundish proposal list"), std::string::npos)
      << cluster().status.reason;
  const auto seen = call({"GET", "/v1/clusters/train", "", "a-admin"});
  EXPECT_EQ(field(seen.body, "status.reason"), "waits for the provider");
}

TEST_F(ProposalTest, at_observe_the_order_names_the_command) {
  set_level(AuthorityLevel::observe);
  EXPECT_NE(cluster().status.reason.find("authority set --scope '*' --level act"),
            std::string::npos)
      << cluster().status.reason;
}

TEST_F(ProposalTest, what_is_moot_expires) {
  ASSERT_GT(count(ProposalState::waiting), 0);
  ASSERT_EQ(call({"DELETE", "/v1/clusters/train", "", "a-admin"}).status, 200);
  settle();
  for (const auto& [id, proposal] : ledger_.view().all<Proposal>()) {
    const bool attaches = proposal.action == "attach_port";
    if (!attaches) continue;
    EXPECT_EQ(proposal.state, ProposalState::expired) << proposal.reason;
    EXPECT_NE(proposal.reason.find("not needed any more"), std::string::npos);
  }
}

/// Somebody left a partition of nobody in a fabric: an hour later it would be taken out at act.
class RestoreProposalTest : public ProposalTest {
 protected:
  void SetUp() override {
    ProposalTest::SetUp();
    FabricSpec spec;
    spec.technology = FabricTechnology::infiniband;
    spec.driver = "opensm";
    spec.management_url = "ssh://root@10.88.4.1";
    ASSERT_TRUE(ledger_.perform(*put_fabric("ib0", spec), "system", "test"));
    orphan_.name = "t00099";
    orphan_.pkey = 0x0123;
    orphan_.members = {{"0x0002c90000000106", IbMembership::full}};
  }
  void look(std::vector<IbPartitionState> shown) {
    FabricReading reading;
    reading.seen.own.partitions = std::move(shown);
    manager_.on_fabric("ib0", std::move(reading), scheduler_.now());
    settle();
  }
  void pass(Duration time) {
    scheduler_.advance(time);
    settle();
  }
  std::vector<Proposal> restores() {
    std::vector<Proposal> out;
    for (const auto& [id, proposal] : ledger_.view().all<Proposal>()) {
      if (proposal.action == "restore_fabric") out.push_back(proposal);
    }
    return out;
  }
  IbPartitionState orphan_;
};

TEST_F(RestoreProposalTest, at_advise_a_drift_is_proposed_after_an_hour_and_is_moot_when_it_goes) {
  look({orphan_});
  EXPECT_TRUE(restores().empty()) << "somebody is at work there";
  pass(minutes(61));
  look({orphan_});
  ASSERT_EQ(restores().size(), 1U);
  EXPECT_EQ(restores()[0].state, ProposalState::waiting);
  EXPECT_EQ(restores()[0].object, "fabric/ib0");
  EXPECT_NE(restores()[0].reason.find("PKey 0x0123"), std::string::npos) << restores()[0].reason;
  look({orphan_});
  EXPECT_EQ(restores().size(), 1U) << "it is asked once";
  pass(minutes(5));
  EXPECT_EQ(restores()[0].state, ProposalState::waiting) << "not read: who knows if it stands";
  look({});
  EXPECT_EQ(restores()[0].state, ProposalState::expired);
  EXPECT_NE(restores()[0].reason.find("not needed any more"), std::string::npos);
}

TEST_F(RestoreProposalTest, what_a_person_approved_is_done) {
  look({orphan_});
  pass(minutes(61));
  look({orphan_});
  ASSERT_EQ(restores().size(), 1U);
  EXPECT_FALSE(manager_.act_counts().contains("restore_fabric"));
  const std::string path = "/v1/proposals/" + restores()[0].id.str() + "/approve";
  ASSERT_EQ(call({"POST", path, "{}", "root"}).status, 200);
  look({orphan_});
  EXPECT_EQ(manager_.act_counts().at("restore_fabric").started, 1);
}

TEST_F(RestoreProposalTest, what_was_denied_is_done_when_a_person_approves_it_after_all) {
  look({orphan_});
  pass(minutes(61));
  look({orphan_});
  ASSERT_EQ(restores().size(), 1U);
  const std::string path = "/v1/proposals/" + restores()[0].id.str();
  ASSERT_EQ(call({"POST", path + "/deny", "{}", "root"}).status, 200);
  set_level(AuthorityLevel::act);
  look({orphan_});
  EXPECT_FALSE(manager_.act_counts().contains("restore_fabric")) << "a denial outlives the level";
  ASSERT_EQ(call({"POST", path + "/approve", "{}", "root"}).status, 200);
  look({orphan_});
  EXPECT_EQ(manager_.act_counts().at("restore_fabric").started, 1);
}

/// An incident whose one act waits for leave.
class DeniedActTest : public ApiTest {
 protected:
  void SetUp() override {
    RemediationPolicy policy;
    policy.initial = "reboot";
    policy.states["reboot"].action = "reboot";
    policy.states["reboot"].next.push_back({{"rebooted"}, 0, "reboot"});
    manager_.set_policy(policy);
    ASSERT_TRUE(ledger_.perform(*set_authority("*", "*", AuthorityLevel::advise), "system", ""));
    Incident incident;
    incident.node = ledger_.view().find_named<Node>("gpu1")->id;
    incident.fault = "xid 79";
    incident.hardware_witness = true;
    id_ = put(incident).id;
    settle();
    ASSERT_EQ(ledger_.view().all<Proposal>().size(), 1U);
    proposal_ = ledger_.view().all<Proposal>().begin()->first.str();
  }
  HttpResponse decide(const std::string& verb) {
    const auto done = call({"POST", "/v1/proposals/" + proposal_ + "/" + verb, "", "oncall"});
    settle();
    return done;
  }
  std::string explained(const std::string& what) {
    return field(call({"GET", "/v1/nodes/gpu1/explain"}).body, what);
  }
  IncidentId id_;
  std::string proposal_;
};

TEST_F(DeniedActTest, explain_names_the_way_out_and_it_is_one) {
  ASSERT_EQ(decide("deny").status, 200);
  const std::string way = "tundish proposal approve " + proposal_;
  EXPECT_NE(explained("next").find("a person denied it"), std::string::npos);
  EXPECT_NE(explained("you_can").find(way), std::string::npos) << explained("you_can");
  const auto resumed = call({"POST", "/v1/incidents/" + id_.str() + "/resume", "", "oncall"});
  EXPECT_EQ(resumed.status, 409) << "it would go on as little as before";
  EXPECT_NE(field(resumed.body, "remedy").find(way), std::string::npos) << resumed.body;
  EXPECT_FALSE(manager_.act_counts().contains("reboot"));
  ASSERT_EQ(decide("approve").status, 200);
  EXPECT_EQ(manager_.act_counts().at("reboot").started, 1);
  EXPECT_EQ(explained("you_can").find(way), std::string::npos);
}

/// What is imported is at observe: an order there would wait without end, and nobody knew.
TEST_F(ProposalTest, an_import_of_a_site_that_nobody_may_act_on_says_so) {
  set_level(AuthorityLevel::observe);
  const auto import = [&](const std::string& name) {
    const auto done = call(
        {"POST", "/v1/inventory/import",
         R"({"scope":"lab","files":[{"name":"s.csv","content":"site,name,u_height\nlab,r1,48\n"},)"
         R"({"name":"d.csv","content":"name,role,site,rack,position,bmc_mac\n)" +
             name + R"(,service,lab,r1,1,02:00:00:00:01:01\n"}]})"});
    EXPECT_EQ(done.status, 200) << done.body;
    return field(done.body, "lines");
  };
  EXPECT_NE(import("n9").find("authority set --scope site:lab --level act"), std::string::npos);
  ASSERT_TRUE(ledger_.perform(*set_authority("site:lab", "*", AuthorityLevel::act), "system", ""));
  EXPECT_EQ(import("n9").find("authority set"), std::string::npos);
}

}  // namespace
}  // namespace tundish::edge
