#include "control/network/reconcile_switch.hpp"

#include <gtest/gtest.h>

#include "control/network/site_for_test.hpp"
#include "control/network/tombstones.hpp"

namespace tundish::control::network {
namespace {

class ReconcileTest : public testing::Test {
 protected:
  void SetUp() override {
    site.fill();
    ASSERT_EQ(site.faults, "");
    site.seen.started_at = site.now;
    site.now = site.now + minutes(5);
    site.show_as_planned();
    settle();
  }
  NetworkOutcome settle() {
    auto out = reconcile_networks(site.view(), "access");
    for (const auto& change : out.changes) site.must(change);
    EXPECT_EQ(site.faults, "");
    return out;
  }
  const NetworkSync* sync(const std::string& network, const std::string& object) {
    for (const auto& one : site.network(network).status.sync) {
      if (one.object == object) return &one;
    }
    return nullptr;
  }
  const Condition* condition(const std::string& leaf, const std::string& type) {
    for (const auto& one : site.registry.find_named<Switch>(leaf)->status.conditions) {
      if (one.type == type) return &one;
    }
    return nullptr;
  }
  void look_again(Duration later) {
    site.now = site.now + later;
    for (auto& [name, seen] : site.seen.switches) seen.at = site.now;
    for (auto& [name, seen] : site.seen.fabrics) seen.at = site.now;
  }
  void mark_nodes() {
    for (const auto& [id, node] : site.registry.all<Node>()) before[id] = node.meta.revision;
  }
  TestSite site;
  std::map<NodeId, std::int64_t> before;
};

TEST_F(ReconcileTest, what_is_seen_in_place_is_synced_and_is_not_written_again) {
  for (const char* object : {"leaf1", "leaf2", "ib0", "nvl0"}) {
    ASSERT_NE(sync("a", object), nullptr) << object;
    EXPECT_EQ(sync("a", object)->state, SyncState::synced) << object;
    EXPECT_EQ(sync("a", object)->version, site.network("a").meta.version);
  }
  look_again(seconds(10));
  const auto revision = site.registry.revision();
  settle();
  EXPECT_EQ(site.registry.all<Network>().begin()->second.meta.revision <= revision, true);
  for (const auto& [id, network] : site.registry.all<Network>()) {
    EXPECT_LE(network.meta.revision, revision);
  }
}

TEST_F(ReconcileTest, an_old_observation_is_unknown_and_never_synced) {
  site.now = site.now + minutes(1);
  site.seen.switches["leaf2"].fault = "connection refused";
  site.seen.fabrics["ib0"].fault = "manager down";
  for (const char* fresh : {"leaf1"}) site.seen.switches[fresh].at = site.now;
  settle();
  EXPECT_EQ(sync("a", "leaf1")->state, SyncState::synced);
  EXPECT_EQ(sync("a", "leaf2")->state, SyncState::unknown);
  EXPECT_EQ(sync("a", "ib0")->state, SyncState::unknown);
  EXPECT_NE(sync("a", "leaf2")->reason.find("connection refused"), std::string::npos);
}

TEST_F(ReconcileTest, a_dead_leaf_is_a_condition_of_the_switch_and_of_no_node) {
  mark_nodes();
  site.now = site.now + minutes(1);
  site.seen.switches["leaf2"].fault = "timeout";
  settle();
  ASSERT_NE(condition("leaf2", "unreachable"), nullptr);
  EXPECT_EQ(condition("leaf2", "unreachable")->state, Truth::yes);
  EXPECT_NE(condition("leaf2", "unreachable")->reason.find("6 ports"), std::string::npos);
  for (const auto& [id, node] : site.registry.all<Node>()) {
    EXPECT_EQ(node.meta.revision, before[id]) << node.meta.name;
  }
}

TEST_F(ReconcileTest, what_a_person_changed_is_named_and_reported_only) {
  const int wanted = site.network("a").status.switches[1].vlan;
  const int other = site.network("b").status.switches[1].vlan;
  const_cast<SwitchPortState*>(find_port(site.shown("leaf2"), "swp1"))->vlan = other;
  look_again(seconds(10));
  auto out = settle();
  EXPECT_EQ(condition("leaf2", "drift")->reason, "swp1: in vlan " + std::to_string(other) +
                                                     ", wanted in vlan " + std::to_string(wanted));
  EXPECT_EQ(sync("a", "leaf2")->state, SyncState::drifted);
  EXPECT_EQ(sync("b", "leaf2")->state, SyncState::drifted);
  EXPECT_EQ(sync("c", "leaf2")->state, SyncState::synced);
  look_again(hours(2));
  out = settle();
  EXPECT_TRUE(out.restores.empty()) << "a switch that we did not create is at observe";
}

TEST_F(ReconcileTest, it_is_restored_at_act_and_never_within_an_hour_of_the_newest_change) {
  site.must(set_authority("switch:leaf2", "network", AuthorityLevel::act));
  const_cast<SwitchPortState*>(find_port(site.shown("leaf2"), "swp1"))->mode = PortMode::quarantine;
  look_again(seconds(10));
  auto out = settle();
  EXPECT_TRUE(out.restores.empty());
  ASSERT_TRUE(out.wake_at.is_set());
  look_again(minutes(50));
  site.shown("leaf2").acls[0].rules.clear();  // still at work
  out = settle();
  look_again(minutes(50));
  out = settle();
  EXPECT_TRUE(out.restores.empty()) << "50 minutes after the second change";
  look_again(minutes(11));
  out = settle();
  ASSERT_EQ(out.restores.size(), 1u);
  EXPECT_EQ(out.restores[0].to, *plan_switch(site.intent(), "leaf2"));
  site.show_as_planned();
  out = settle();
  EXPECT_TRUE(out.restores.empty());
  EXPECT_EQ(condition("leaf2", "drift")->state, Truth::no);
  EXPECT_EQ(sync("a", "leaf2")->state, SyncState::synced);
}

TEST_F(ReconcileTest, what_we_have_yet_to_write_is_pending_and_no_drift) {
  const auto id = site.allocation("a").id;
  site.must(bind_spare(id, site.node("n0201"), site.node("n0202"), {}));
  look_again(seconds(10));
  settle();
  EXPECT_EQ(sync("a", "leaf2")->state, SyncState::pending);
  EXPECT_EQ(sync("b", "leaf2")->state, SyncState::synced);
  EXPECT_EQ(condition("leaf2", "drift"), nullptr);
  site.show_as_planned();
  settle();
  EXPECT_EQ(sync("a", "leaf2")->state, SyncState::synced);
}

TEST_F(ReconcileTest, drift_stays_drift_when_something_of_ours_comes_on_top) {
  const_cast<SwitchPortState*>(find_port(site.shown("leaf2"), "swp1"))->vlan = 777;
  look_again(seconds(10));
  settle();
  site.must(mark_leaving(site.allocation("a").id, site.node("n0101"), {}));
  look_again(seconds(10));
  settle();
  EXPECT_EQ(sync("a", "leaf2")->state, SyncState::drifted);
  EXPECT_NE(condition("leaf2", "drift")->reason.find("vlan 777"), std::string::npos);
}

TEST_F(ReconcileTest, a_line_that_was_not_understood_is_never_in_step) {
  site.seen.switches["leaf1"].reading.seen.unclear = {"vni 10010 strange"};
  look_again(seconds(10));
  settle();
  EXPECT_EQ(sync("a", "leaf1")->state, SyncState::drifted);
  EXPECT_EQ(condition("leaf1", "unclear")->state, Truth::yes);
}

TEST_F(ReconcileTest, an_empty_member_list_is_not_in_step) {
  site.seen.fabrics["ib0"].seen.own.partitions[0].members.clear();
  look_again(seconds(10));
  settle();
  EXPECT_EQ(sync("a", "ib0")->state, SyncState::drifted);
  EXPECT_NE(sync("a", "ib0")->reason.find("0x0002c90000000101"), std::string::npos);
}

TEST_F(ReconcileTest, full_members_by_default_isolate_nobody) {
  site.seen.fabrics["ib0"].seen.default_is_full = true;
  look_again(seconds(10));
  settle();
  EXPECT_EQ(sync("a", "ib0")->state, SyncState::drifted);
}

class TombstoneTest : public ReconcileTest {
 protected:
  /// Cluster b is gone from the registry; its numbers are tombstones.
  void remove_b() {
    vni = site.network("b").status.segments[0].vni;
    pkey = site.network("b").status.pkey;
    const auto id = site.registry.find_named<Cluster>("b")->id;
    site.must(begin_delete_cluster(id));
    const auto held = site.allocation("b").id;
    for (const char* name : {"n0102", "n0203", "svc"}) {
      site.must(detach_node(held, site.node(name), NodePhase::wiping));
    }
    site.must(remove_cluster(id));
    ASSERT_EQ(site.faults, "");
  }
  void apply() {
    for (const auto& change : tombstone_changes(site.view())) site.must(change);
  }
  const PoolEntry* entry(const std::string& fabric, const std::string& pool, int value) {
    return find_entry(site.registry, {fabric, pool}, value);
  }
  int vni = 0, pkey = 0;
};

TEST_F(TombstoneTest, a_number_is_absent_only_when_every_switch_was_looked_at_since) {
  remove_b();
  apply();
  EXPECT_FALSE(entry("access", "l2vni", vni)->seen_absent) << "looks are older than the release";
  site.show_as_planned();
  site.seen.switches["leaf2"].at = site.now - minutes(1);
  apply();
  EXPECT_FALSE(entry("access", "l2vni", vni)->seen_absent) << "leaf2 was not looked at";
  site.show_as_planned();
  site.now = site.now + seconds(1);
  look_again(seconds(1));
  apply();
  EXPECT_TRUE(entry("access", "l2vni", vni)->seen_absent);
  for (const auto& [id, one] : site.registry.all<PoolEntry>()) {
    EXPECT_TRUE(one.state != PoolState::tombstone || one.seen_absent) << one.meta.name;
  }
}

/// facts/cloud.md 3.9: a VNI that a far leaf still floods must not be given to another tenant.
TEST_F(TombstoneTest, one_stale_entry_on_a_far_leaf_keeps_the_number_from_the_next_tenant) {
  remove_b();
  site.show_as_planned();
  look_again(seconds(1));
  site.seen.switches["leaf2"].reading.seen.foreign.vnis = {vni};
  for (int i = 0; i < 5; ++i) {
    apply();
    look_again(minutes(10));
  }
  const PoolEntry* held = entry("access", "l2vni", vni);
  ASSERT_NE(held, nullptr);
  EXPECT_FALSE(held->seen_absent);
  EXPECT_FALSE(site.run(free_pool_entry(held->id)));
  site.create("core", "d", {"n0105"});
  EXPECT_NE(site.network("d").status.segments[0].vni, vni);
  site.seen.switches["leaf2"].reading.seen.foreign.vnis = {};
  apply();
  EXPECT_TRUE(site.run(free_pool_entry(entry("access", "l2vni", vni)->id)));
  site.create("core", "e", {"n0106"});
  EXPECT_EQ(site.network("e").status.segments[0].vni, vni);
}

/// NICo #5142, #5148, #5379.
TEST_F(TombstoneTest, a_member_that_a_stale_monitor_puts_back_makes_the_key_rest_anew) {
  remove_b();
  site.show_as_planned();
  look_again(seconds(1));
  apply();
  ASSERT_TRUE(entry("ib0", "pkey", pkey)->seen_absent);
  IbPartitionState again;
  again.name = "t00011";
  again.pkey = pkey;
  again.members = {{"0x0002c90000000102", IbMembership::full}};
  site.seen.fabrics["ib0"].seen.own.partitions.push_back(again);
  look_again(minutes(9));
  apply();
  EXPECT_FALSE(entry("ib0", "pkey", pkey)->seen_absent);
  site.seen.fabrics["ib0"].seen.own.partitions.pop_back();
  look_again(minutes(2));
  apply();
  EXPECT_FALSE(site.run(free_pool_entry(entry("ib0", "pkey", pkey)->id))) << "rests anew";
}

TEST_F(TombstoneTest, numbers_of_others_leave_the_pools_and_come_back) {
  site.seen.switches["leaf1"].reading.seen.foreign.vnis = {10004};
  site.seen.switches["leaf1"].reading.seen.foreign.route_targets = {"65000:10005", "64999:10006"};
  site.seen.switches["leaf2"].reading.seen.foreign.vlans = {103};
  for (const auto& change : foreign_changes(site.view(), "access")) site.must(change);
  EXPECT_TRUE(foreign_changes(site.view(), "access").empty()) << "noted once";
  site.create("core", "d", {"n0105", "n0205"});
  EXPECT_EQ(site.network("d").status.segments[0].vni, 10006);
  EXPECT_EQ(site.network("d").status.switches[0].vlan, 103) << "VLANs are local to a leaf";
  EXPECT_EQ(site.network("d").status.switches[1].vlan, 104);
  site.seen.switches["leaf1"].reading.seen.foreign = {};
  for (const auto& change : foreign_changes(site.view(), "access")) site.must(change);
  EXPECT_EQ(find_entry(site.registry, {"access", "l2vni"}, 10004)->state, PoolState::tombstone);
}

TEST_F(TombstoneTest, what_was_not_looked_at_is_not_judged_free_of_others) {
  site.seen.switches.erase("leaf2");
  site.seen.switches["leaf1"].reading.seen.foreign.vnis = {10004};
  EXPECT_TRUE(foreign_changes(site.view(), "access").empty());
}

}  // namespace
}  // namespace tundish::control::network
