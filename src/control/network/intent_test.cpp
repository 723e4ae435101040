#include "control/network/intent.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "control/network/site_for_test.hpp"

namespace tundish::control::network {
namespace {

class IntentTest : public testing::Test {
 protected:
  void SetUp() override {
    site.fill();
    ASSERT_EQ(site.faults, "");
  }
  TestSite site;
};

TEST_F(IntentTest, a_leaf_carries_its_tenants_and_quarantines_the_rest) {
  const auto state = *plan_switch(site.intent(), "leaf2");
  const Network& a = site.network("a");
  ASSERT_EQ(state.vrfs.size(), 3u);
  const VrfState* vrf = find_vrf(state, vrf_name(a.status.vrf_id));
  ASSERT_NE(vrf, nullptr);
  EXPECT_EQ(vrf->rd, "10.255.0.2:" + std::to_string(a.status.vrf_id));
  EXPECT_EQ(vrf->import_targets,
            std::vector<std::string>{"65000:" + std::to_string(a.status.l3vni)});
  EXPECT_TRUE(vrf->leaks.empty());
  EXPECT_EQ(find_port(state, "swp1")->mode, PortMode::access);
  EXPECT_EQ(find_port(state, "swp2")->mode, PortMode::quarantine) << "a spare stays outside";
  EXPECT_EQ(find_port(state, "swp6")->mode, PortMode::quarantine);
  EXPECT_EQ(state.segments.size(), 3u);
}

TEST_F(IntentTest, routes_to_the_storage_are_leaked_where_it_is_cabled_to_and_only_ours_go_back) {
  const auto state = *plan_switch(site.intent(), "leaf1");
  const Network& a = site.network("a");
  const VrfState* tenant = find_vrf(state, vrf_name(a.status.vrf_id));
  const VrfState* storage = find_vrf(state, "Vrf60001");
  ASSERT_TRUE(tenant && storage);
  EXPECT_EQ(tenant->leaks, (std::vector<LeakState>{{"Vrf60001", {"10.200.0.0/24"}}}));
  ASSERT_EQ(storage->leaks.size(), 3u);
  EXPECT_EQ(storage->leaks[0].from_vrf, tenant->name);
  EXPECT_EQ(find_port(state, "swp99")->vrf, "Vrf60001");
  // Members and the controller; the spare has an address and does not use it yet.
  EXPECT_EQ(a.status.storage.size(), 4u);
  EXPECT_EQ(site.intent().networks[0].storage_prefixes.size(), 2u);
}

TEST_F(IntentTest, a_patch_is_the_part_of_one_network) {
  const auto patch =
      patch_for(site.view(), site.allocation("a"), site.node("n0201"), "eth0", PatchTarget::attach);
  ASSERT_TRUE(patch) << patch.error().message();
  ASSERT_EQ(patch->vrfs.size(), 1u);
  ASSERT_EQ(patch->segments.size(), 1u);
  ASSERT_EQ(patch->acls.size(), 1u);
  ASSERT_EQ(patch->ports.size(), 1u);
  EXPECT_EQ(patch->ports[0].vlan, patch->segments[0].vlan);
}

TEST_F(IntentTest, nobody_is_attached_where_the_registry_does_not_want_it) {
  for (const char* name : {"n0202", "n0203", "n0206"}) {
    const auto patch =
        patch_for(site.view(), site.allocation("a"), site.node(name), "eth0", PatchTarget::attach);
    ASSERT_FALSE(patch) << name;
    EXPECT_EQ(patch.error().code, Code::conflict);
    EXPECT_FALSE(patch.error().remedy.empty());
  }
}

TEST_F(IntentTest, patches_one_by_one_lead_to_the_plan_and_back_to_nothing) {
  const Intent intent = site.intent();
  SwitchState state;
  const auto wanted = *plan_switch(intent, "leaf2");
  state.asn = wanted.asn;
  state.router_id = wanted.router_id;
  state.vtep_address = wanted.vtep_address;
  for (const auto& port : wanted.ports) {
    state.ports.push_back({port.name, PortMode::quarantine, 0, "", "", port.description});
  }
  const SwitchState empty = state;
  const std::pair<const char*, const char*> members[] = {
      {"a", "n0201"}, {"b", "n0203"}, {"c", "n0204"}};
  for (const auto& [name, node] : members) {
    const auto patch =
        patch_for(site.view(), site.allocation(name), site.node(node), "eth0", PatchTarget::attach);
    state = merge_patch(state, *patch, keep_vrfs(intent, "leaf2"));
  }
  EXPECT_EQ(state, wanted);
  for (const auto& [name, node] : members) {
    site.must(mark_leaving(site.allocation(name).id, site.node(node), {}));
    const auto patch = patch_for(site.view(), site.allocation(name), site.node(node), "eth0",
                                 PatchTarget::quarantine);
    ASSERT_TRUE(patch);
    state = merge_patch(state, *patch, keep_vrfs(intent, "leaf2"));
  }
  EXPECT_EQ(state, empty);
}

TEST_F(IntentTest, the_storage_leaf_keeps_tenants_that_have_no_port_on_it) {
  const auto wanted = *plan_switch(site.intent(), "leaf1");
  SwitchState state = wanted;
  // The last port of tenant b on this leaf goes; its node on the other leaf still needs storage.
  site.must(mark_leaving(site.allocation("b").id, site.node("n0102"), {}));
  const auto patch = patch_for(site.view(), site.allocation("b"), site.node("n0102"), "eth0",
                               PatchTarget::quarantine);
  state = merge_patch(state, *patch, keep_vrfs(site.intent(), "leaf1"));
  EXPECT_NE(find_vrf(state, vrf_name(site.network("b").status.vrf_id)), nullptr);
  EXPECT_EQ(state, *plan_switch(site.intent(), "leaf1"));
}

TEST_F(IntentTest, partitions_hold_the_members_of_the_network_and_nobody_else) {
  const auto state = plan_fabric(site.view(), "ib0");
  ASSERT_EQ(state.partitions.size(), 3u);
  ASSERT_EQ(state.partitions[0].members.size(), 2u);
  EXPECT_EQ(state.partitions[0].members[0].guid, "0x0002c90000000101");
  const auto nvlink = plan_fabric(site.view(), "nvl0");
  ASSERT_EQ(nvlink.nvlink.size(), 3u);
  EXPECT_EQ(nvlink.nvlink[0].gpus, (std::vector<std::string>{"GPU-n0101", "GPU-n0201"}));
}

/// bgpd and sshd of a leaf listen on the gateway's address too.
TEST_F(IntentTest, a_tenant_reaches_of_the_leaf_itself_what_a_gateway_answers_and_nothing_else) {
  const auto plan = *plan_switch(site.intent(), "leaf1");
  const auto& network = site.network("a");
  const AclState* list = find_acl(plan, acl_name(network.status.vrf_id));
  ASSERT_NE(list, nullptr);
  const std::string gateway = network.status.segments[0].gateway;
  const std::string own = gateway.substr(0, gateway.find('/')) + "/32";
  const auto first = [&](const std::string& protocol, const std::string& to) {
    for (const auto& rule : list->rules) {
      const bool fits = rule.protocol == "ip" || rule.protocol == protocol;
      if (fits && rule.destination == to) return rule.action;
    }
    return AclAction::permit;
  };
  EXPECT_EQ(first("tcp", own), AclAction::deny);
  EXPECT_EQ(first("udp", own), AclAction::deny);
  EXPECT_EQ(first("icmp", own), AclAction::permit);
  EXPECT_EQ(first("tcp", "10.200.0.1/32"), AclAction::deny) << "the leaf's side of the storage";
  std::size_t at = 0, wide = 0;
  for (std::size_t i = 0; i < list->rules.size(); ++i) {
    const auto& rule = list->rules[i];
    if (rule.destination == own) at = i;
    if (rule.destination == network.spec.prefixes[0] && wide == 0) wide = i;
  }
  EXPECT_LT(at, wide) << "before the rule that opens the prefix";
}

/// The links between a leaf's own VRFs have such addresses.
TEST_F(IntentTest, no_rule_of_a_tenant_opens_link_local_addresses) {
  const Network& network = site.network("a");
  std::vector<FirewallRule> rules(1);
  rules[0].action = AclAction::permit;
  rules[0].destination = "0.0.0.0/0";
  Network open = network;
  open.spec.firewall = rules;
  Txn txn(site.registry, site.now, "test");
  txn.put(open);
  const Intent intent = intent_of(site.view(), "access");
  const auto found = std::ranges::find(intent.networks, network.id, &WantedNetwork::id);
  ASSERT_NE(found, intent.networks.end());
  const auto& mine = *found;
  std::size_t shut = mine.rules.size(), opened = mine.rules.size();
  for (std::size_t i = mine.rules.size(); i-- > 0;) {
    if (mine.rules[i].destination == "169.254.0.0/16") shut = i;
    if (mine.rules[i].destination == "0.0.0.0/0") opened = i;
  }
  ASSERT_LT(opened, mine.rules.size());
  EXPECT_LT(shut, opened);
  EXPECT_EQ(mine.rules[shut].action, AclAction::deny);
  EXPECT_EQ(mine.rules[shut].protocol, "ip");
  EXPECT_EQ(mine.rules[shut].source, "");
}

TEST_F(IntentTest, a_switch_without_router_id_is_refused) {
  SwitchSpec spec;
  spec.management_url = "ssh://x";
  site.must(put_switch("leaf9", spec));
  const auto plan = plan_switch(site.view(), "leaf9");
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().object, "switch/leaf9");
  EXPECT_FALSE(plan_switch(site.view(), "nowhere"));
}

}  // namespace
}  // namespace tundish::control::network
