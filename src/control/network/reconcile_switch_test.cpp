#include "control/network/reconcile_switch.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "control/network/reconcile_site_for_test.hpp"
#include "control/network/tombstones.hpp"
#include "control/permit/permit.hpp"

namespace tundish::control::network {
namespace {

using ReconcileTest = ReconcileSite;

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

TEST_F(ReconcileTest, a_tunnel_that_sends_elsewhere_by_hand_is_drift_and_nothing_that_is_written) {
  const auto& network = site.network("a");
  const int vni = network.status.segments.front().vni;
  const std::string there = site.shown("leaf2").vtep_address;
  auto& peers = site.seen.switches["leaf1"].reading.seen.peers;
  peers = {{vni, there}, {4000, "10.9.9.9"}};
  site.must(set_authority("*", "network", AuthorityLevel::act));
  look_again(seconds(10));
  settle();
  EXPECT_EQ(sync("a", "leaf1")->state, SyncState::synced) << sync("a", "leaf1")->reason;
  peers.push_back({vni, "10.9.9.9"});
  look_again(seconds(10));
  settle();
  EXPECT_EQ(sync("a", "leaf1")->state, SyncState::drifted);
  EXPECT_EQ(sync("b", "leaf1")->state, SyncState::synced) << "it is not its tunnel";
  EXPECT_NE(condition("leaf1", "drift")->reason.find("VNI " + std::to_string(vni) +
                                                     ": sends to 10.9.9.9, where acme/a is not"),
            std::string::npos)
      << condition("leaf1", "drift")->reason;
  look_again(minutes(61));
  EXPECT_TRUE(settle().restores.empty()) << "no configuration holds it";
  peers.pop_back();
  look_again(seconds(10));
  settle();
  EXPECT_EQ(sync("a", "leaf1")->state, SyncState::synced);
}

TEST_F(ReconcileTest, what_the_driver_says_to_a_restore_is_told_beside_the_drift) {
  site.must(set_authority("switch:leaf2", "network", AuthorityLevel::advise));
  const_cast<SwitchPortState*>(find_port(site.shown("leaf2"), "swp1"))->mode = PortMode::quarantine;
  look_again(seconds(10));
  settle();
  look_again(minutes(61));
  const auto out = settle();
  ASSERT_EQ(out.restores.size(), 1u) << "at advise it is put to a person";
  const std::string key = restore_key("leaf2", out.restores[0].since);
  const std::string said = fault_text("restore_switch", "switch leaf2: no\nmore");
  site.seen.faults[key] = {said, {}, {}, site.now};
  settle();
  EXPECT_NE(sync("a", "leaf2")->reason.find("restore_switch failed: switch leaf2: no"),
            std::string::npos)
      << sync("a", "leaf2")->reason;
  EXPECT_EQ(sync("a", "leaf2")->reason.find("more"), std::string::npos);
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

TEST_F(ReconcileTest, what_waits_for_the_first_network_is_no_drift) {
  TestSite empty;
  empty.build(2, 6);
  ASSERT_EQ(empty.faults, "");
  empty.seen.started_at = empty.now;
  empty.now = empty.now + minutes(5);
  empty.show_as_planned();
  for (auto& [name, seen] : empty.seen.switches) {
    seen.reading.seen.own.vrfs.clear();
    for (auto& port : seen.reading.seen.own.ports) {
      port.mode = PortMode::quarantine;
      port.vrf = port.address = "";
    }
  }
  for (const auto& change : reconcile_networks(empty.view(), "access").changes) {
    empty.must(change.operation);
  }
  for (const auto& [id, device] : empty.registry.all<Switch>()) {
    EXPECT_TRUE(device.status.drift.empty()) << device.meta.name << ": " << device.status.drift[0];
  }
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

TEST_F(ReconcileTest, a_line_that_names_one_network_weighs_on_that_one) {
  const std::string vrf = vrf_name(site.network("a").status.vrf_id);
  const std::string other = vrf_name(site.network("b").status.vrf_id);
  auto& unclear = site.seen.switches["leaf1"].reading.seen.unclear;
  unclear = {"frr.conf: vrf " + vrf + ": ip route 0.0.0.0/0 blackhole"};
  look_again(seconds(10));
  settle();
  EXPECT_EQ(sync("a", "leaf1")->state, SyncState::drifted);
  EXPECT_EQ(sync("b", "leaf1")->state, SyncState::synced);
  const std::vector<std::string> shared = {
      "vrf " + vrf + " import vrf x", "vrf " + vrf + " and " + other,
      "vrf " + vrf + " vni " + std::to_string(site.network("b").status.l3vni), "ip route x"};
  for (const auto& line : shared) {
    unclear = {line};
    look_again(seconds(10));
    settle();
    EXPECT_EQ(sync("b", "leaf1")->state, SyncState::drifted) << line;
  }
}

TEST_F(ReconcileTest, a_line_that_names_a_vlan_of_the_switch_weighs_on_its_network) {
  int vlan = 0;
  for (const auto& one : site.network("b").status.switches) {
    if (one.switch_name == "leaf1") vlan = one.vlan;
  }
  auto& unclear = site.seen.switches["leaf1"].reading.seen.unclear;
  unclear = {"kernel: link br" + std::to_string(vlan) + " type bridge mtu 1400 up"};
  look_again(seconds(10));
  settle();
  EXPECT_EQ(sync("b", "leaf1")->state, SyncState::drifted);
  EXPECT_EQ(sync("a", "leaf1")->state, SyncState::synced);
  EXPECT_EQ(sync("c", "leaf1")->state, SyncState::synced);
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

/// NICo #2614: a manager that is not heard leaves nothing "synced".
TEST_F(ReconcileTest, a_fabric_that_is_not_read_is_unknown_and_never_synced) {
  site.seen.fabrics["ib0"].fault = "the subnet manager does not answer";
  site.now = site.now + stale_after + seconds(1);
  settle();
  EXPECT_EQ(sync("a", "ib0")->state, SyncState::unknown);
  EXPECT_NE(sync("a", "ib0")->reason.find("the subnet manager does not answer"), std::string::npos);
}

TEST_F(ReconcileTest, a_fabric_that_nobody_drives_is_unknown_and_says_why) {
  FabricSpec ib = site.registry.find_named<Fabric>("ib0")->spec;
  ib.management_url = "";
  site.must(put_fabric("ib0", ib));
  look_again(seconds(10));
  settle();
  EXPECT_EQ(sync("a", "ib0")->state, SyncState::unknown);
  EXPECT_NE(sync("a", "ib0")->reason.find("has no management_url"), std::string::npos);
}

TEST_F(ReconcileTest, a_port_that_did_not_answer_or_carries_nothing_yet_is_not_synced) {
  FabricPort& silent = site.port_table("0x0002c90000000101");
  silent.has_table = false;
  silent.pkeys.clear();
  look_again(seconds(10));
  settle();
  EXPECT_EQ(sync("a", "ib0")->state, SyncState::unknown);
  EXPECT_EQ(sync("a", "ib0")->reason, "port 0x0002c90000000101 (n0101) did not answer");
  EXPECT_EQ(sync("b", "ib0")->state, SyncState::synced);
  silent.has_table = true;
  look_again(seconds(10));
  settle();
  EXPECT_EQ(sync("a", "ib0")->state, SyncState::unknown) << sync("a", "ib0")->reason;
  site.show_tables();
  look_again(seconds(10));
  settle();
  EXPECT_EQ(sync("a", "ib0")->state, SyncState::synced);
}

/// NICo #5142, #5148, #5379: the manager's file is right, and a port still carries the key.
TEST_F(ReconcileTest, a_port_that_carries_anothers_key_is_drift_and_is_named) {
  const int pkey = site.network("a").status.pkey;
  site.port_table("0x0002c90000000102").pkeys.push_back({pkey, IbMembership::full});
  look_again(seconds(10));
  settle();
  for (const char* name : {"a", "b"}) {
    EXPECT_EQ(sync(name, "ib0")->state, SyncState::drifted);
    EXPECT_NE(sync(name, "ib0")
                  ->reason.find(
                      "port 0x0002c90000000102 (n0102) carries PKey 0x0100 of acme/a and must not"),
              std::string::npos)
        << sync(name, "ib0")->reason;
  }
  EXPECT_EQ(sync("c", "ib0")->state, SyncState::synced);
}

/// Beside its own key a tenant's port has the default one as limited, and no other at all.
TEST_F(ReconcileTest, a_key_of_nobody_on_tenants_ports_is_drift_of_each_of_them) {
  for (const char* guid : {"0x0002c90000000101", "0x0002c90000000102"}) {
    site.port_table(guid).pkeys.push_back({0x0002, IbMembership::full});
  }
  look_again(seconds(10));
  settle();
  for (const char* name : {"a", "b"}) {
    EXPECT_EQ(sync(name, "ib0")->state, SyncState::drifted) << name;
    EXPECT_NE(sync(name, "ib0")->reason.find("PKey 0x0002 that is none of ours is on port "
                                             "0x0002c90000000101 (n0101), port "
                                             "0x0002c90000000102 (n0102)"),
              std::string::npos)
        << sync(name, "ib0")->reason;
  }
  EXPECT_EQ(sync("c", "ib0")->state, SyncState::synced);
  const Fabric& ib = *site.registry.find_named<Fabric>("ib0");
  const auto verdict = reconcile_fabric(site.view(), intent_of(site.view(), "ib0"), ib);
  ASSERT_TRUE(verdict.breaches);
  EXPECT_EQ(verdict.breaches->size(), 1u) << "both tenants hear each other";
}

TEST_F(ReconcileTest, limited_members_of_a_key_of_nobody_are_drift_and_joined_with_nobody) {
  for (const char* guid : {"0x0002c90000000101", "0x0002c90000000102"}) {
    site.port_table(guid).pkeys.push_back({0x0002, IbMembership::limited});
  }
  site.port_table("0x0002c90000000106").pkeys.push_back({0x0003, IbMembership::full});
  look_again(seconds(10));
  settle();
  EXPECT_EQ(sync("a", "ib0")->state, SyncState::drifted);
  EXPECT_EQ(sync("b", "ib0")->reason.find("n0101"), std::string::npos);
  const Fabric& ib = *site.registry.find_named<Fabric>("ib0");
  const auto verdict = reconcile_fabric(site.view(), intent_of(site.view(), "ib0"), ib);
  ASSERT_TRUE(verdict.breaches);
  EXPECT_TRUE(verdict.breaches->empty());
  EXPECT_EQ(verdict.sync.size(), 3u);
}

class FabricDriftTest : public ReconcileTest {
 protected:
  FabricState& file() { return site.seen.fabrics["ib0"].seen.own; }
  const Condition* drift() {
    for (const auto& one : site.registry.find_named<Fabric>("ib0")->conditions) {
      if (one.type == "drift" && one.state == Truth::yes) return &one;
    }
    return nullptr;
  }
  /// What would be restored now; nullopt: nothing.
  std::optional<FabricRestore> restore_after(Duration later) {
    look_again(later);
    auto out = settle();
    if (out.fabric_restores.empty()) return std::nullopt;
    return out.fabric_restores.front();
  }
};

/// NICo #5142, #5148, #5379.
TEST_F(FabricDriftTest,
       a_member_that_a_stale_monitor_puts_back_is_named_and_taken_out_an_hour_later) {
  file().partitions[0].members.push_back({"0x0002c90000000106", IbMembership::full});
  site.seen.fabrics["ib0"].seen.unclear = {"partition t00010 is written a second time (line 9)"};
  EXPECT_FALSE(restore_after(seconds(10)));
  EXPECT_EQ(sync("a", "ib0")->state, SyncState::drifted);
  ASSERT_NE(drift(), nullptr);
  EXPECT_NE(drift()->reason.find("0x0002c90000000106 (n0106)"), std::string::npos);
  EXPECT_NE(sync("a", "ib0")->reason.find("not understood: partition t00010"), std::string::npos);
  site.must(set_authority("*", "network", AuthorityLevel::act));
  EXPECT_FALSE(restore_after(minutes(59)));
  const auto restore = restore_after(minutes(1));
  ASSERT_TRUE(restore);
  EXPECT_EQ(restore->to, plan_fabric(site.view(), "ib0"));
  EXPECT_EQ(restore->ref.management_url, "ssh://root@10.88.4.1");
}

TEST_F(FabricDriftTest, a_new_change_starts_the_hour_anew_and_observe_restores_nothing) {
  site.must(set_authority("*", "network", AuthorityLevel::act));
  file().partitions[0].members.push_back({"0x0002c90000000106", IbMembership::full});
  EXPECT_FALSE(restore_after(seconds(10)));
  EXPECT_FALSE(restore_after(minutes(50)));
  file().partitions[1].members.push_back({"0x00000000000000aa", IbMembership::full});
  EXPECT_FALSE(restore_after(minutes(20)));
  EXPECT_NE(drift()->reason.find("0x00000000000000aa (not in the inventory)"), std::string::npos);
  site.must(set_authority("fabric:ib0", "network", AuthorityLevel::observe));
  EXPECT_FALSE(restore_after(minutes(61)));
  // What would be done at act is put to a person at advise.
  site.must(set_authority("fabric:ib0", "network", AuthorityLevel::advise));
  const auto restore = restore_after(seconds(10));
  ASSERT_TRUE(restore);
  EXPECT_EQ(restored_place(restore_key("ib0", restore->since)), "ib0");
}

/// NICo #304, #471: a write that came after everybody had given it up left a partition of nobody.
TEST_F(FabricDriftTest, a_partition_that_no_network_wants_is_named_and_removed_an_hour_later) {
  site.must(set_authority("*", "network", AuthorityLevel::act));
  IbPartitionState orphan;
  orphan.name = "t00099";
  orphan.pkey = 0x0123;
  orphan.members = {{"0x0002c90000000106", IbMembership::full}};
  file().partitions.push_back(orphan);
  EXPECT_FALSE(restore_after(seconds(10)));
  ASSERT_NE(drift(), nullptr);
  EXPECT_NE(drift()->reason.find("PKey 0x0123: is not wanted"), std::string::npos)
      << drift()->reason;
  const auto restore = restore_after(minutes(61));
  ASSERT_TRUE(restore);
  EXPECT_EQ(restore->to.partitions.size(), 3u);
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

/// A clock that is a day ahead at a start would let every number go at once.
TEST_F(TombstoneTest, a_number_rests_in_the_running_time_of_this_life) {
  remove_b();
  site.show_as_planned();
  look_again(seconds(1));
  apply();
  const auto id = entry("access", "l2vni", vni)->id;
  ASSERT_TRUE(site.registry.find(id)->seen_absent);
  const auto rests = [&] {
    const auto gone = rested_tombstones(site.view());
    return std::ranges::find(gone, id) == gone.end();
  };
  EXPECT_TRUE(rests());
  const auto shown = site.seen.switches;
  site.seen = {};
  site.now = site.now + hours(24);
  site.seen.started_at = site.now;
  EXPECT_TRUE(rests()) << "nothing was looked at in this life";
  site.seen.switches = shown;
  look_again(seconds(1));
  EXPECT_TRUE(rests()) << "it has not rested in this life";
  look_again(tombstone_time - seconds(2));
  EXPECT_TRUE(rests());
  look_again(seconds(2));
  EXPECT_FALSE(rests());
  site.seen.switches["leaf2"].reading.seen.foreign.vnis = {vni};
  EXPECT_TRUE(rests()) << "it is shown again";
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

/// Mellanox/ib-kubernetes #89: after a restart nothing is remembered of what was given out; the
/// fabric itself says it.
TEST_F(TombstoneTest, a_key_that_a_port_still_carries_after_a_restart_is_given_to_nobody) {
  remove_b();
  site.seen = {};
  site.seen.started_at = site.now;
  apply();
  EXPECT_FALSE(entry("ib0", "pkey", pkey)->seen_absent) << "nothing was looked at yet";
  site.show_as_planned();
  site.port_table("0x0002c90000000102").pkeys.push_back({pkey, IbMembership::full});
  look_again(seconds(10));
  apply();
  EXPECT_FALSE(entry("ib0", "pkey", pkey)->seen_absent) << "its port still carries it";
  site.show_tables();
  site.port_table("0x0002c90000000203").has_table = false;
  apply();
  EXPECT_FALSE(entry("ib0", "pkey", pkey)->seen_absent) << "a port did not answer";
  site.show_tables();
  apply();
  EXPECT_TRUE(entry("ib0", "pkey", pkey)->seen_absent);
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
