#include "control/network/drive.hpp"

#include <gmock/gmock.h>

#include "control/allocation/reconcile_allocation.hpp"
#include "control/network/reconcile_switch.hpp"
#include "control/network/site_for_test.hpp"

namespace tundish::control::network {
namespace {

using testing::HasSubstr;

const std::string guid_a = "0x0002c90000000101";
const std::string guid_b = "0x0002c90000000102";
const std::string guid_free = "0x0002c90000000106";

class DriveTest : public testing::Test {
 protected:
  void SetUp() override {
    site.fill();
    ASSERT_EQ(site.faults, "");
    site.seen.started_at = site.now;
    site.show_as_planned();
    pkey = site.network("a").status.pkey;
  }
  PartitionLook place(const std::string& node, const std::string& network = "a") {
    return partition_place(site.view(), site.allocation(network),
                           *site.registry.find_named<Node>(node));
  }
  /// Every port is seen where it is wanted.
  void show_ports() {
    const Intent intent = site.intent();
    for (const auto& [name, device] : intent.switches) {
      for (const auto& [port, wants] : device.ports) {
        PortObserved& seen = site.seen.ports[{name, port}];
        seen.segment = wants.network == nobody
                           ? ""
                           : intent.networks[static_cast<std::size_t>(wants.network)].segment;
        seen.at = site.now;
      }
    }
  }
  void take_looks() {
    for (const auto& change : reconcile_networks(site.view(), "access").changes) {
      site.must(change.operation);
    }
  }
  FabricObserved& ib() { return site.seen.fabrics["ib0"]; }
  std::vector<IbMember>& members(std::size_t partition) {
    return ib().seen.own.partitions[partition].members;
  }
  /// Members of the network's partition after the act that is wanted now; nullopt: none is.
  std::optional<std::vector<std::string>> wanted(const std::string& network) {
    for (const auto& action : beside_actions(site.view(), site.allocation(network))) {
      const auto* act = std::get_if<FabricAct>(&action.act);
      if (!act) continue;
      desired = act->desired;
      std::vector<std::string> out;
      for (const auto& partition : desired.partitions) {
        if (partition.pkey != site.network(network).status.pkey) continue;
        for (const auto& member : partition.members) out.push_back(member.guid);
      }
      return out;
    }
    return std::nullopt;
  }
  void expect_unknown(const PartitionLook& look, const std::string& why) {
    EXPECT_EQ(look.place, PartitionPlace::unknown);
    EXPECT_THAT(look.why, HasSubstr(why));
  }
  TestSite site;
  FabricState desired;
  int pkey = 0;
};

TEST_F(DriveTest, a_member_is_inside_by_its_own_table_and_the_file) {
  EXPECT_EQ(place("n0101").place, PartitionPlace::inside);
  EXPECT_EQ(place("n0106").place, PartitionPlace::outside);
  EXPECT_EQ(place("svc").place, PartitionPlace::none) << "it has no HCA";
  EXPECT_EQ(wanted("a"), std::nullopt) << "in step";
}

TEST_F(DriveTest, a_port_that_did_not_answer_is_neither_inside_nor_outside) {
  site.port_table(guid_a).has_table = false;
  site.port_table(guid_a).pkeys.clear();
  expect_unknown(place("n0101"), "node n0101: port " + guid_a + " did not answer");
  members(0).clear();
  expect_unknown(place("n0101"), "did not answer");
}

TEST_F(DriveTest, a_port_that_is_down_is_outside_when_the_manager_no_longer_names_it) {
  std::erase_if(ib().ports, [](const FabricPort& port) { return port.guid == guid_a; });
  expect_unknown(place("n0101"), "is down");
  members(0).clear();
  EXPECT_EQ(place("n0101").place, PartitionPlace::outside);
}

TEST_F(DriveTest, a_node_has_not_left_while_its_port_carries_the_key) {
  members(0).clear();
  expect_unknown(place("n0101"), "still carries PKey 0x0100");
  site.show_tables();
  EXPECT_EQ(place("n0101").place, PartitionPlace::outside);
}

TEST_F(DriveTest, a_name_in_the_file_is_not_the_key_in_the_port) {
  site.port_table(guid_a).pkeys = {{0x7fff, IbMembership::limited}};
  expect_unknown(place("n0101"), "does not carry PKey 0x0100 yet");
}

TEST_F(DriveTest, a_full_member_of_the_default_partition_is_not_inside) {
  site.port_table(guid_a).pkeys[0].membership = IbMembership::full;
  expect_unknown(place("n0101"), "full member of the default partition");
}

/// NICo #2614.
TEST_F(DriveTest, an_old_look_proves_nothing) {
  site.now = site.now + stale_after + seconds(1);
  expect_unknown(place("n0101"), "fabric ib0 was not read lately");
  members(0).clear();
  EXPECT_EQ(wanted("a"), std::nullopt) << "no write on what is not known";
}

TEST_F(DriveTest, a_fabric_that_lost_its_manager_keeps_its_nodes) {
  FabricSpec ib = site.registry.find_named<Fabric>("ib0")->spec;
  ib.management_url = "";
  site.must(put_fabric("ib0", ib));
  expect_unknown(place("n0101"), "has no management_url");
  EXPECT_EQ(wanted("a"), std::nullopt);
}

TEST_F(DriveTest, a_manager_without_tables_has_only_its_word) {
  ib().has_tables = false;
  ib().ports.clear();
  EXPECT_EQ(place("n0101").place, PartitionPlace::inside);
  EXPECT_EQ(place("n0106").place, PartitionPlace::outside);
  ib().has_tables = true;  // it shows tables, and this look has none
  expect_unknown(place("n0101"), "is down");
}

TEST_F(DriveTest, an_act_changes_this_networks_partition_and_no_other) {
  members(0).erase(members(0).begin());
  members(1).push_back({guid_free, IbMembership::full});  // somebody's, in b
  EXPECT_EQ(wanted("a"), (std::vector<std::string>{guid_a, "0x0002c90000000201"}));
  EXPECT_EQ(desired.partitions[1], ib().seen.own.partitions[1]);
}

/// NICo #5142, #5148, #5379: what a stale monitor put into a's partition is given to b meanwhile.
TEST_F(DriveTest, a_guid_that_is_seen_elsewhere_does_not_enter) {
  members(1).erase(members(1).begin());  // n0102 is to join b
  members(0).push_back({guid_b, IbMembership::full});
  EXPECT_EQ(wanted("b"), std::nullopt);
  expect_unknown(place("n0102", "b"), "");
  members(0).pop_back();  // the file forgot it, the port did not
  site.port_table(guid_b).pkeys = {{pkey, IbMembership::full}};
  EXPECT_EQ(wanted("b"), std::nullopt);
  site.show_tables();
  EXPECT_EQ(wanted("b"), (std::vector<std::string>{guid_b, "0x0002c90000000203"}));
}

TEST_F(DriveTest, a_member_that_also_carries_anothers_key_is_not_inside) {
  site.port_table(guid_b).pkeys.push_back({pkey, IbMembership::full});
  expect_unknown(place("n0102", "b"), "still carries PKey 0x0100");
}

/// NICo #299, infra-controller-rest #503, #254: a partition goes only with its last member, and its
/// key rests while anybody carries it.
TEST_F(DriveTest, a_deleted_clusters_partition_goes_and_its_nodes_wait_for_their_ports) {
  site.must(begin_delete_cluster(site.registry.find_named<Cluster>("a")->id));
  EXPECT_EQ(wanted("a"), std::vector<std::string>{});
  EXPECT_EQ(desired.partitions.size(), 2u);
  ib().seen.own = desired;
  expect_unknown(place("n0101"), "still carries");
  ASSERT_NE(find_entry(site.registry, {"ib0", "pkey"}, pkey), nullptr);
  EXPECT_EQ(find_entry(site.registry, {"ib0", "pkey"}, pkey)->state, PoolState::held);
  site.show_tables();
  EXPECT_EQ(place("n0101").place, PartitionPlace::outside);
}

TEST_F(DriveTest, a_drifted_partition_is_left_alone) {
  members(0).push_back({guid_free, IbMembership::full});
  for (int i = 0; i < 2; ++i) {
    take_looks();
  }
  members(0).pop_back();
  site.show_as_planned();
  take_looks();
  members(0).push_back({guid_free, IbMembership::full});
  site.show_tables();
  take_looks();
  EXPECT_EQ(wanted("a"), std::nullopt);
}

/// What is wanted of the network beside its partition, by the names of the acts.
std::vector<std::string> acts_of(const Outcome& outcome) {
  std::vector<std::string> out;
  for (const auto& action : outcome.actions) {
    const auto* attach = std::get_if<AttachAct>(&action.act);
    if (attach) out.push_back(action.name + " " + attach->port.switch_name);
  }
  return out;
}

TEST_F(DriveTest, an_order_proposes_nothing_of_the_others) {
  show_ports();
  for (const char* name : {"a", "b", "c"}) {
    const auto acts = acts_of(reconcile_allocation(site.view(), site.allocation(name)));
    ASSERT_EQ(acts, std::vector<std::string>()) << name;
  }
  // One more address of a's towards the storage: leaf1 holds the routes of every tenant.
  site.must(add_node(site.allocation("a").id, site.node("n0104"), MemberRole::member, {}));
  const Outcome own = reconcile_allocation(site.view(), site.allocation("a"));
  EXPECT_FALSE(acts_of(own).empty());
  for (const char* other : {"b", "c"}) {
    const auto acts = acts_of(reconcile_allocation(site.view(), site.allocation(other)));
    EXPECT_EQ(acts, std::vector<std::string>()) << other;
  }
}

TEST_F(DriveTest, what_ports_of_a_switch_share_needs_one_act_and_says_what_changes) {
  show_ports();
  site.must(set_firewall(site.registry.find_named<Cluster>("b")->id, {}));
  const Outcome outcome = reconcile_allocation(site.view(), site.allocation("b"));
  int updates = 0;
  for (const auto& action : outcome.actions) {
    if (action.name != "update_port") continue;
    ++updates;
    EXPECT_THAT(action.reason, HasSubstr("rules, wanted"));
  }
  EXPECT_EQ(updates, 2) << "one on each leaf";
  site.create("acme", "e", {"n0104", "n0105"});
  site.show_as_planned();
  show_ports();
  site.must(set_firewall(site.registry.find_named<Cluster>("e")->id, {}));
  const auto acts = acts_of(reconcile_allocation(site.view(), site.allocation("e")));
  EXPECT_EQ(std::count(acts.begin(), acts.end(), "update_port leaf1"), 1);
}

/// Orders on a leaf where a hand changed something of another network.
class OthersTest : public DriveTest {
 protected:
  /// What the member's order would leave on the leaf; nullopt: it has nothing to do there.
  std::optional<SwitchState> after(const std::string& network, const std::string& node,
                                   const std::string& leaf, const std::string& port) {
    const Allocation& held = site.allocation(network);
    const AllocationNode& member = *find_member(held, site.node(node));
    const PortRef ref{leaf, "ssh://root@10.88.2.1", port, "frr"};
    const auto intent = port_intent(site.view(), held, member, ref, held.status.segment);
    EXPECT_TRUE(intent);
    if (!intent || !is_behind(site.view(), held, ref, *intent)) return std::nullopt;
    return merge_patch(site.shown(leaf), intent->patch, intent->keep_vrfs);
  }
  std::optional<SwitchState> after_a() { return after("a", "n0101", "leaf1", "swp1"); }
  int vlan_on_leaf1(const std::string& network) {
    for (const auto& one : site.network(network).status.switches) {
      if (one.switch_name == "leaf1") return one.vlan;
    }
    return 0;
  }
  SwitchPortState& port_of(const std::string& name) {
    return *const_cast<SwitchPortState*>(find_port(site.shown("leaf1"), name));
  }
};

TEST_F(OthersTest, a_list_that_a_hand_unhooked_is_left_where_it_is) {
  const int vlan = vlan_on_leaf1("b");
  for (auto& segment : site.shown("leaf1").segments) {
    if (segment.vlan == vlan) segment.acl_in = "";
  }
  EXPECT_EQ(after_a(), std::nullopt);
}

TEST_F(OthersTest, a_segment_whose_only_port_a_hand_took_out_waits_for_that_hand) {
  port_of("swp2").mode = PortMode::quarantine;
  port_of("swp2").vlan = 0;
  EXPECT_EQ(after_a(), std::nullopt);
  port_of("swp1").mode = PortMode::quarantine;  // and a has something to do
  port_of("swp1").vlan = 0;
  const auto merged = after_a();
  ASSERT_TRUE(merged);
  EXPECT_NE(find_segment(*merged, vlan_on_leaf1("b")), nullptr);
  EXPECT_NE(find_acl(*merged, acl_name(site.network("b").status.vrf_id)), nullptr);
}

TEST_F(OthersTest, what_the_storage_takes_in_of_another_network_is_that_ones) {
  const std::string own = vrf_name(site.network("a").status.vrf_id);
  const std::string other = vrf_name(site.network("b").status.vrf_id);
  auto& storage = *const_cast<VrfState*>(find_vrf(site.shown("leaf1"), "Vrf60001"));
  const auto leaks = storage.leaks;
  std::erase_if(storage.leaks, [&](const LeakState& leak) { return leak.from_vrf == other; });
  EXPECT_EQ(after_a(), std::nullopt);
  std::erase_if(storage.leaks, [&](const LeakState& leak) { return leak.from_vrf == own; });
  const auto merged = after_a();
  ASSERT_TRUE(merged);
  EXPECT_EQ(find_vrf(*merged, "Vrf60001")->leaks.size(), leaks.size() - 1);
}

TEST_F(OthersTest, what_no_network_in_the_registry_has_is_taken_away) {
  SwitchState& shown = site.shown("leaf1");
  VrfState gone = *find_vrf(shown, vrf_name(site.network("b").status.vrf_id));
  gone.name = "Vrf05999";
  gone.vrf_id = 5999;
  shown.vrfs.push_back(gone);
  shown.acls.push_back({acl_name(5999), {}});
  sort_state(shown);
  const auto merged = after_a();
  ASSERT_TRUE(merged);
  EXPECT_EQ(find_vrf(*merged, "Vrf05999"), nullptr);
  EXPECT_EQ(find_acl(*merged, acl_name(5999)), nullptr);
}

}  // namespace
}  // namespace tundish::control::network
