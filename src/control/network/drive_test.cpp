#include "control/network/drive.hpp"

#include <gmock/gmock.h>

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
    for (const auto& change : reconcile_networks(site.view(), "access").changes) site.must(change);
  }
  members(0).pop_back();
  site.show_as_planned();
  for (const auto& change : reconcile_networks(site.view(), "access").changes) site.must(change);
  members(0).push_back({guid_free, IbMembership::full});
  site.show_tables();
  for (const auto& change : reconcile_networks(site.view(), "access").changes) site.must(change);
  EXPECT_EQ(wanted("a"), std::nullopt);
}

}  // namespace
}  // namespace tundish::control::network
