// Numbers that other systems lost or gave away too early: facts/cloud.md section 5, "Leaked VLAN /
// PKey / VNI", "Delete order" and "Overlap". What is proved by other tests: docs/network-issues.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/network/reconcile_switch.hpp"
#include "control/network/site_for_test.hpp"
#include "control/network/tombstones.hpp"
#include "model/ops/pool.hpp"

namespace tundish::control::network {
namespace {

class LeakTest : public testing::Test {
 protected:
  void SetUp() override {
    site.fill();
    ASSERT_EQ(site.faults, "");
    site.seen.started_at = site.now;
    site.show_as_planned();
  }
  int count(PoolState state) const {
    int out = 0;
    for (const auto& [id, entry] : site.registry.all<PoolEntry>()) {
      out += entry.state == state ? 1 : 0;
    }
    return out;
  }
  ClusterId cluster(const std::string& name) const {
    return site.registry.find_named<Cluster>(name)->id;
  }
  void remove_b() {
    const auto held = site.allocation("b").id;
    site.must(begin_delete_cluster(cluster("b")));
    for (const char* name : {"n0102", "n0203", "svc"}) {
      site.must(detach_node(held, site.node(name), NodePhase::wiping));
    }
    site.must(remove_cluster(cluster("b")));
    ASSERT_EQ(site.faults, "");
  }
  /// Looked at later than whatever was written.
  void look_again() {
    site.now = site.now + minutes(1);
    site.show_as_planned();
    for (const auto& change : tombstone_changes(site.view())) site.must(change);
  }
  TestSite site;
};

/// apache/cloudstack #9026: after a network was deleted its VLAN stayed allocated for good.
TEST_F(LeakTest, every_number_of_a_deleted_cluster_rests_and_comes_back) {
  const int held = count(PoolState::held);
  site.create("bolt", "d", {"n0105", "n0205"});
  const int drawn = count(PoolState::held) - held;
  EXPECT_GE(drawn, 5) << "VRF, L3VNI, VNI, PKey and a VLAN of each leaf";
  const auto id = site.allocation("d").id;
  site.must(begin_delete_cluster(cluster("d")));
  for (const char* name : {"n0105", "n0205", "svc"}) {
    site.must(detach_node(id, site.node(name), NodePhase::wiping));
  }
  site.must(remove_cluster(cluster("d")));
  EXPECT_EQ(count(PoolState::held), held) << "nothing is held for a cluster that is gone";
  EXPECT_EQ(count(PoolState::tombstone), drawn);
  look_again();
  site.now = site.now + minutes(11);
  std::vector<Id<PoolEntry>> rested;
  for (const auto& [entry_id, entry] : site.registry.all<PoolEntry>()) {
    if (entry.state == PoolState::tombstone) rested.push_back(entry_id);
  }
  for (const auto& entry_id : rested) site.must(free_pool_entry(entry_id));
  EXPECT_EQ(site.faults, "");
  EXPECT_EQ(count(PoolState::tombstone), 0) << "and every one of them can be drawn again";
}

/// outscale/cluster-api-provider-outscale #917: what marks an object for clean-up was added after
/// the object itself, and a failure in between left a network that nobody knew of.
TEST_F(LeakTest, a_create_that_is_refused_leaves_no_number_and_no_object) {
  const int held = count(PoolState::held);
  const auto networks = site.registry.all<Network>().size();
  const auto refused = site.run(create_cluster(site.order("core", "d", {"n0105", "n0102"})));
  ASSERT_FALSE(refused) << "n0102 is in cluster b";
  EXPECT_EQ(count(PoolState::held), held);
  EXPECT_EQ(site.registry.all<Network>().size(), networks);
  EXPECT_EQ(site.registry.find_named<Allocation>("d"), nullptr);
}

/// NICo #6067: a network that was deleted once kept its VNI, and deleting it again failed.
TEST_F(LeakTest, deleting_twice_is_as_deleting_once) {
  site.must(begin_delete_cluster(cluster("b")));
  static_cast<void>(site.run(begin_delete_cluster(cluster("b"))));
  const auto held = site.allocation("b").id;
  for (const char* name : {"n0102", "n0203", "svc"}) {
    site.must(detach_node(held, site.node(name), NodePhase::wiping));
  }
  const auto id = cluster("b");
  site.must(remove_cluster(id));
  EXPECT_EQ(site.faults, "");
  const int rests = count(PoolState::tombstone);
  static_cast<void>(site.run(remove_cluster(id)));
  EXPECT_EQ(count(PoolState::tombstone), rests);
  EXPECT_EQ(site.registry.find_named<Network>("b"), nullptr);
}

/// NICo #299, NVIDIA/infra-controller-rest #503: a partition was deleted while nodes were in it.
TEST_F(LeakTest, a_network_stays_as_long_as_a_node_is_in_it) {
  const int pkey = site.network("b").status.pkey;
  site.must(begin_delete_cluster(cluster("b")));
  const auto id = site.allocation("b").id;
  for (const char* name : {"n0102", "n0203", "svc"}) {
    EXPECT_FALSE(site.run(remove_cluster(cluster("b")))) << name << " is still in it";
    EXPECT_EQ(find_entry(site.registry, {"ib0", "pkey"}, pkey)->state, PoolState::held);
    site.must(detach_node(id, site.node(name), NodePhase::wiping));
  }
  EXPECT_TRUE(site.run(remove_cluster(cluster("b"))));
}

/// rackerlabs/understack PR #2180, #2245: a VLAN that was left on a switch was given to a network
/// that had nothing to do with it.
TEST_F(LeakTest, a_vlan_that_a_leaf_still_carries_is_given_to_nobody) {
  const auto on_leaf1 = [](const Network& network) {
    for (const auto& one : network.status.switches) {
      if (one.switch_name == "leaf1") return one.vlan;
    }
    return 0;
  };
  const int vlan = on_leaf1(site.network("b"));
  const SwitchState stale = site.seen.switches["leaf1"].reading.seen.own;
  remove_b();
  for (int look = 0; look < 3; ++look) {
    look_again();
    site.seen.switches["leaf1"].reading.seen.own = stale;
    for (const auto& change : tombstone_changes(site.view())) site.must(change);
    site.now = site.now + minutes(11);
  }
  std::vector<Id<PoolEntry>> rested;
  for (const auto& [id, entry] : site.registry.all<PoolEntry>()) {
    if (entry.state == PoolState::tombstone) rested.push_back(id);
  }
  for (const auto& id : rested) static_cast<void>(site.run(free_pool_entry(id)));
  site.create("core", "d", {"n0105"});
  EXPECT_NE(on_leaf1(site.network("d")), vlan);
}

/// githedgehog/fabric #1414: a prefix inside another was only seen when it came second.
TEST_F(LeakTest, overlapping_prefixes_of_one_network_are_refused_in_either_order) {
  for (const auto& prefixes : std::vector<std::vector<std::string>>{
           {"10.40.0.0/17", "10.40.9.0/24"}, {"10.40.9.0/24", "10.40.0.0/17"}}) {
    auto order = site.order("core", "d", {"n0105"});
    order.network.prefixes = prefixes;
    const auto refused = site.run(create_cluster(order));
    ASSERT_FALSE(refused) << prefixes[0];
    EXPECT_THAT(refused.error().message() + refused.error().remedy, testing::HasSubstr("10.40."));
  }
}

}  // namespace
}  // namespace tundish::control::network
