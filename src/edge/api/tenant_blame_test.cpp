// A tenant's view of generated incidents names nobody and nothing that is not his.
#include <gtest/gtest.h>

#include <random>

#include "codec/json.hpp"
#include "edge/api/visible.hpp"
#include "model/ops/allocation_ops.hpp"
#include "model/ops/node_ops.hpp"
#include "model/ops/tenancy_ops.hpp"

namespace tundish::edge::api {
namespace {

class TenantBlame : public testing::Test {
 protected:
  void run(const OperationPtr& operation) {
    Txn txn(reg_, Instant{1'700'000'000'000'000}, "test");
    const auto done = operation->perform(txn);
    ASSERT_TRUE(done) << done.error().message();
  }
  void SetUp() override {
    run(put_sku("gpu", {"GPU", "gpu", 8, 0, 8, 1, 2000}));
    for (int i = 1; i <= 6; ++i) {
      NodeSpec spec;
      spec.sku = "gpu";
      spec.rack = "SECRET-rack";
      spec.serial = "SECRET-serial-" + std::to_string(i);
      spec.bmc_address = "SECRET-bmc-" + std::to_string(i);
      spec.bmc_mac = "02:00:00:00:00:0" + std::to_string(i);
      spec.ports.push_back({"eth0", PortRole::access, "", "SECRET-leaf", "swp1", -1});
      run(admit_node(name_of(i), spec));
      run(set_node_phase(node(i), NodePhase::expected, NodePhase::ready));
    }
    NodeSpec service;
    service.role = NodeRole::service;
    for (int i = 0; i < 2; ++i) {
      service.ports.push_back({"eth" + std::to_string(i), PortRole::access, "", "x", "x", -1});
    }
    run(admit_node("svc", service));
    order("acme", {1, 2});
    order("SECRET-bolt", {3, 4});
  }
  /// Nodes of others and free ones carry the mark in their names.
  static std::string name_of(int i) { return (i <= 2 ? "n" : "SECRET-n") + std::to_string(i); }
  NodeId node(int i) { return reg_.find_named<Node>(name_of(i))->id; }
  void order(const std::string& tenant, std::initializer_list<int> members) {
    run(create_tenant(tenant, {64}));
    ClusterOrder order;
    order.tenant = reg_.find_named<Tenant>(tenant)->id;
    order.name = "train";
    order.spec.sku = "gpu";
    order.spec.nodes = static_cast<int>(members.size());
    for (const int i : members) order.members.push_back(node(i));
    order.controller = reg_.find_named<Node>("svc")->id;
    run(create_cluster(order));
  }
  AllocationId allocation_of(int i) { return reg_.find(node(i))->status.allocation; }
  Identity acme() {
    Identity who;
    who.tenant = reg_.find_named<Tenant>("acme")->id;
    return who;
  }

  Registry reg_;
};

struct Draw {
  std::mt19937 random{4};
  int below(int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); }
  /// Free text as it could come: every one holds what a tenant must not read.
  std::string text() {
    static const char* const all[] = {"SECRET-leaf/swp3",     "storage SECRET-nas",
                                      "rack SECRET-rack",     "serial SECRET-serial-3 of SECRET-n3",
                                      "SECRET-bolt's job 12", "SECRET-bmc-1 answers"};
    return all[below(6)];
  }
};

Incident generate(Draw& draw, const std::vector<std::string>& names) {
  Incident incident;
  incident.id = IncidentId("incident-" + std::to_string(draw.below(1000)));
  incident.fault = "link";
  incident.device = draw.below(2) == 0 ? "0000:3b:00" : draw.text();
  incident.blame = draw.text();
  incident.subject_kind = static_cast<SubjectKind>(draw.below(8));
  incident.subject = draw.text();
  Blame blame;
  blame.part = static_cast<Resource>(draw.below(20));
  blame.subject_kind = incident.subject_kind;
  blame.object = incident.subject;
  blame.rule = draw.below(4) == 0 ? draw.text() : "shared_fate";
  for (int i = draw.below(6); i > 0; --i) {
    BlameEvidence line;
    line.node = names[static_cast<std::size_t>(draw.below(static_cast<int>(names.size())))];
    line.what = draw.below(2) == 0 ? "xid 45" : draw.text();
    line.says = draw.text();
    blame.evidence.push_back(line);
  }
  for (int i = draw.below(4); i > 0; --i) {
    blame.cleared.push_back({static_cast<Resource>(draw.below(20)), draw.text(), draw.text()});
  }
  for (int i = draw.below(4); i > 0; --i) blame.would_change.push_back(draw.text());
  incident.blamed = blame;
  for (int i = draw.below(3); i > 0; --i) {
    TimelineEntry entry;
    entry.what = draw.below(2) == 0 ? "blamed" : "over";
    entry.detail = draw.text();
    incident.timeline.push_back(entry);
  }
  return incident;
}

TEST_F(TenantBlame, names_no_other_tenant_serial_rack_switch_or_bmc) {
  Draw draw;
  std::vector<std::string> names;
  for (int i = 1; i <= 6; ++i) names.push_back(name_of(i));
  int seen = 0;
  for (int round = 0; round < 2000; ++round) {
    Incident incident = generate(draw, names);
    for (int i = 1; i <= 6; ++i) {
      if (draw.below(2) == 0) incident.affected.push_back(node(i));
    }
    if (draw.below(3) > 0) incident.allocations.push_back(allocation_of(1));
    incident.allocations.push_back(allocation_of(3));
    const auto shown = shape(reg_, acme(), incident);
    if (!shown) continue;
    ++seen;
    const std::string body = render_json(*shown);
    ASSERT_EQ(body.find("SECRET"), std::string::npos) << body;
    for (int i = 3; i <= 6; ++i) {
      ASSERT_EQ(body.find("\"" + node(i).str() + "\""), std::string::npos) << body;
    }
    ASSERT_EQ(body.find("\"" + allocation_of(3).str() + "\""), std::string::npos) << body;
  }
  EXPECT_GT(seen, 1000);
}

TEST_F(TenantBlame, one_that_hits_only_others_is_not_there) {
  Incident incident;
  incident.allocations = {allocation_of(3)};
  EXPECT_FALSE(shape(reg_, acme(), incident));
  incident.allocations.clear();
  EXPECT_FALSE(shape(reg_, acme(), incident));
}

TEST_F(TenantBlame, a_tenant_learns_what_is_his) {
  Incident incident;
  incident.allocations = {allocation_of(1)};
  incident.affected = {node(1), node(2)};
  incident.subject_kind = SubjectKind::job;
  incident.subject = "17 of train";
  Blame blame;
  blame.part = Resource::process;
  blame.subject_kind = SubjectKind::job;
  blame.object = incident.subject;
  BlameEvidence line;
  line.node = "n1";
  line.what = "xid 45";
  blame.evidence = {line};
  blame.cleared = {{Resource::nvswitch, "nvl1", "fine"}};
  incident.blamed = blame;
  const auto shown = shape(reg_, acme(), incident);
  ASSERT_TRUE(shown);
  EXPECT_EQ(shown->subject, "17 of train");
  EXPECT_EQ(shown->blamed->object, "17 of train");
  ASSERT_EQ(shown->blamed->evidence.size(), 1u);
  EXPECT_EQ(shown->blamed->evidence[0].node, "n1");
  ASSERT_EQ(shown->blamed->cleared.size(), 1u);
  EXPECT_EQ(shown->blamed->cleared[0].part, Resource::nvswitch);
  EXPECT_EQ(shown->affected.size(), 2u);
}

TEST_F(TenantBlame, the_own_node_of_a_tenant_is_named_as_what_is_blamed) {
  Incident incident;
  incident.node = node(1);
  incident.allocation = allocation_of(1);
  incident.device = "0000:1b:00";
  incident.subject_kind = SubjectKind::node;
  Blame blame;
  blame.part = Resource::gpu;
  blame.subject_kind = SubjectKind::node;
  blame.object = name_of(1);
  incident.blamed = blame;
  const auto shown = shape(reg_, acme(), incident);
  ASSERT_TRUE(shown);
  EXPECT_EQ(shown->blamed->object, "n1");
  // It was replaced: it serves nobody by now, and served him.
  incident.node = node(5);
  incident.replacement = node(2);
  incident.blamed->object = name_of(5);
  EXPECT_EQ(shape(reg_, acme(), incident)->blamed->object, name_of(5));
  incident.replacement = {};
  EXPECT_EQ(shape(reg_, acme(), incident)->blamed->object, "") << "a spare that served nobody";
}

TEST_F(TenantBlame, an_incident_older_than_blame_still_reads) {
  Incident incident;
  const auto read = parse_json(R"({"id":"incident-1","node":"node-1","blame":"GPU of node"})",
                               incident, Unknown::keep_out);
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_FALSE(incident.blamed);
  EXPECT_EQ(incident.subject_kind, SubjectKind::node);
  EXPECT_TRUE(incident.affected.empty());
}

}  // namespace
}  // namespace tundish::edge::api
