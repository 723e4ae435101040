#include "control/network/audit.hpp"

#include <gtest/gtest.h>

#include "control/network/acl.hpp"
#include "control/network/site_for_test.hpp"

namespace tundish::control::network {
namespace {

class AuditTest : public testing::Test {
 protected:
  void SetUp() override {
    site.fill();
    ASSERT_EQ(site.faults, "");
    intent = site.intent();
    for (const auto& [name, device] : intent.switches) {
      switches[name].own = *plan_switch(intent, name);
    }
    for (const char* name : {"ib0", "nvl0"}) fabrics[name].own = plan_fabric(intent, name);
    a = vrf_name(site.network("a").status.vrf_id);
    b = vrf_name(site.network("b").status.vrf_id);
  }
  std::vector<AuditFinding> look() const { return audit(intent, switches, fabrics); }
  static std::string told(const std::vector<AuditFinding>& findings) {
    std::string out;
    for (const auto& f : findings) {
      out += std::string(enum_names(f.rule)[static_cast<std::size_t>(f.rule)]) + " " +
             f.switch_name + " " + f.object + ": " + f.what + "\n";
    }
    return out;
  }
  bool says(AuditRule rule, const std::string& part) const {
    for (const auto& f : look()) {
      if (f.rule == rule && (f.object + ": " + f.what).find(part) != std::string::npos) return true;
    }
    return false;
  }
  VrfState& vrf(const std::string& leaf, const std::string& name) {
    return *const_cast<VrfState*>(find_vrf(switches[leaf].own, name));
  }
  SwitchPortState& port(const std::string& leaf, const std::string& name) {
    return *const_cast<SwitchPortState*>(find_port(switches[leaf].own, name));
  }

  TestSite site;
  Intent intent;
  SwitchesSeen switches;
  FabricsSeen fabrics;
  std::string a, b;
};

TEST_F(AuditTest, what_is_planned_is_clean) { EXPECT_EQ(told(look()), ""); }

TEST_F(AuditTest, a_vrf_that_imports_another_tenants_target_is_named_with_its_owner) {
  vrf("leaf2", a).import_targets.push_back(vrf("leaf2", b).export_targets[0]);
  EXPECT_TRUE(says(AuditRule::routes, "the VRF of bolt/b")) << told(look());
}

TEST_F(AuditTest, a_target_of_the_storage_is_not_imported_past_its_prefix_list) {
  vrf("leaf2", a).import_targets.push_back("65000:60001");
  EXPECT_TRUE(says(AuditRule::routes, "the storage")) << told(look());
}

TEST_F(AuditTest, storage_never_joins_two_tenants) {
  vrf("leaf1", a).leaks[0].prefixes = {"100.64.0.0/16"};
  EXPECT_TRUE(says(AuditRule::routes, "it reaches nodes of ")) << told(look());
  vrf("leaf1", a).leaks[0] = {b, {"10.200.0.0/24"}};
  EXPECT_TRUE(says(AuditRule::routes, "takes in routes of " + b)) << told(look());
}

TEST_F(AuditTest, the_storage_takes_in_the_nodes_addresses_and_nothing_else_of_a_tenant) {
  auto& leaks = vrf("leaf1", "Vrf60001").leaks;
  leaks[0].prefixes = {"10.10.0.0/24"};
  EXPECT_TRUE(says(AuditRule::routes, "takes in 10.10.0.0/24")) << told(look());
}

TEST_F(AuditTest, a_port_in_another_tenants_vlan_is_named_with_both) {
  port("leaf2", "swp1").vlan = site.network("b").status.switches[1].vlan;
  EXPECT_TRUE(says(AuditRule::ports, "of bolt/b, wanted in acme/a")) << told(look());
  port("leaf2", "swp1").mode = PortMode::quarantine;
  EXPECT_FALSE(is_breach(look().front())) << "quarantine is safe, only missing";
}

TEST_F(AuditTest, a_free_nodes_port_in_any_vlan_is_a_breach) {
  port("leaf2", "swp6") = {
      "swp6", PortMode::access, site.network("a").status.switches[1].vlan, "", "", ""};
  EXPECT_TRUE(says(AuditRule::ports, "wanted in quarantine")) << told(look());
}

TEST_F(AuditTest, a_shared_vni_is_named_on_whatever_leaf_it_is) {
  switches["leaf2"].own.segments[0].l2vni = switches["leaf1"].own.segments[1].l2vni;
  EXPECT_TRUE(says(AuditRule::one_owner, "belongs to")) << told(look());
}

TEST_F(AuditTest, numbers_that_no_field_holds) {
  vrf("leaf1", a).rd = "10.255.0.1:1025186";  // passes vtysh -C, facts/cloud.md 3.2
  EXPECT_TRUE(says(AuditRule::numbering, "rd 10.255.0.1:1025186"));
  vrf("leaf1", b).export_targets = {"4200000101:70000"};
  EXPECT_TRUE(says(AuditRule::numbering, "4200000101:70000"));
  vrf("leaf1", b).l3vni = 16777216;
  EXPECT_TRUE(says(AuditRule::numbering, "24 bits"));
}

TEST_F(AuditTest, gateways_of_one_segment_answer_alike) {
  switches["leaf2"].own.segments[0].gateway = "10.88.0.1/24";
  EXPECT_TRUE(says(AuditRule::gateway, "10.88.0.1/24"));
  EXPECT_TRUE(says(AuditRule::overlap, "management"));
}

TEST_F(AuditTest, a_list_that_lets_more_through_is_told_with_a_packet) {
  auto& rules = switches["leaf1"].own.acls[0].rules;
  rules.erase(rules.begin() + 1);  // deny management
  rules.push_back({990, AclAction::permit, "tcp", "", "10.88.0.0/16", 22, 22});
  EXPECT_TRUE(says(AuditRule::firewall, "tcp")) << told(look());
  rules = {};
  EXPECT_FALSE(is_breach(look().front())) << "an empty list denies all";
  switches["leaf1"].own.segments[0].acl_in = "";
  EXPECT_TRUE(says(AuditRule::firewall, "applies no list"));
}

TEST_F(AuditTest, identity_and_foreign_use) {
  switches["leaf1"].own.asn = 65999;
  EXPECT_TRUE(says(AuditRule::untouchable, "65999"));
  switches["leaf1"].foreign.vnis = {site.network("a").status.segments[0].vni};
  EXPECT_TRUE(says(AuditRule::one_owner, "somebody else's lines"));
  switches["leaf2"].unclear = {"vni 10010 strange"};
  EXPECT_TRUE(says(AuditRule::unclear, "strange"));
}

TEST_F(AuditTest, partitions_that_are_full_by_default_or_hold_strangers) {
  fabrics["ib0"].default_is_full = true;
  EXPECT_TRUE(says(AuditRule::default_limited, "full"));
  auto& members = fabrics["ib0"].own.partitions[0].members;
  members[0].guid = "0x0002c90000009999";
  EXPECT_TRUE(says(AuditRule::ports, "not in the inventory"));
  members[0].guid = fabrics["ib0"].own.partitions[1].members[0].guid;
  EXPECT_TRUE(says(AuditRule::ports, "belongs to bolt/b"));
  fabrics["nvl0"].own.nvlink[0].gpus[0] = "GPU-n0102";
  EXPECT_TRUE(says(AuditRule::ports, "GPU-n0102"));
}

TEST_F(AuditTest, two_networks_with_one_number_in_the_registry) {
  intent.networks[1].l2vni = intent.networks[0].l2vni;
  EXPECT_TRUE(says(AuditRule::one_owner, "belongs to " + intent.networks[0].label + " and to " +
                                             intent.networks[1].label))
      << told(look());
  intent.networks[2].prefixes = {"10.200.0.0/25"};
  EXPECT_TRUE(says(AuditRule::overlap, "storage"));
}

TEST(acl, compared_by_effect) {
  const AclRule any_to_web{10, AclAction::permit, "tcp", "", "192.0.2.0/24", 443, 0};
  const AclRule low{10, AclAction::permit, "tcp", "", "192.0.2.0/25", 443, 443};
  const AclRule high{20, AclAction::permit, "tcp", "", "192.0.2.128/25", 443, 443};
  EXPECT_EQ(compare_acls({any_to_web}, {low, high}).verdict, AclVerdict::same_effect);
  EXPECT_EQ(compare_acls({any_to_web}, {low}).verdict, AclVerdict::stronger);
  AclRule wider = any_to_web;
  wider.port_to = 444;
  const auto found = compare_acls({any_to_web}, {wider});
  EXPECT_EQ(found.verdict, AclVerdict::weaker);
  EXPECT_EQ(found.example, "tcp 0.0.0.0 to 192.0.2.0 port 444");
  AclRule unread = any_to_web;
  unread.destination = "nonsense";
  EXPECT_EQ(compare_acls({any_to_web}, {unread}).verdict, AclVerdict::weaker);
  AclRule deny = any_to_web;
  deny.action = AclAction::deny;
  deny.sequence = 5;
  EXPECT_EQ(compare_acls({any_to_web}, {deny, any_to_web}).verdict, AclVerdict::stronger);
}

}  // namespace
}  // namespace tundish::control::network
