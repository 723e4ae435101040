#include "control/network/storage.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "control/network/reconcile_switch.hpp"
#include "control/network/site_for_test.hpp"
#include "control/network/tombstones.hpp"
#include "model/ops/pool.hpp"

namespace tundish::control::network {
namespace {

class StorageTest : public ::testing::Test {
 protected:
  void SetUp() override {
    site.build(2, 4);
    FabricSpec spec = site.access_spec();
    spec.storage_url = "ssh://root@10.88.5.1";
    spec.storage_mount_address = "10.200.0.10";
    site.must(put_fabric("access", spec));
    site.create("acme", "a", {"n0101", "n0201"}, {"n0202"});
    site.create("bolt", "b", {"n0102"});
    site.show_as_planned();
    EXPECT_EQ(site.faults, "");
  }

  const Allocation& allocation(const std::string& name = "a") { return site.allocation(name); }
  const AllocationNode& member(const std::string& node, const std::string& name = "a") {
    return *find_member(allocation(name), site.node(node));
  }
  std::string address(const std::string& node, const std::string& name = "a") {
    return storage_address(site.network(name), site.node(node));
  }
  void show(std::vector<StorageExport> exports, std::vector<StorageSession> sessions = {}) {
    for (auto& one : exports) {
      if (one.keys.empty()) one.keys = {"ssh-ed25519 " + one.name};
    }
    for (const char* name : {"a", "b"}) {
      const TenantId tenant = allocation(name).meta.tenant;
      site.seen.storage_keys[tenant] =
          "ssh-ed25519 " + site.registry.find(tenant)->meta.name;
    }
    site.seen.storage["access"] = {
        {std::move(exports), std::move(sessions), "ssh-ed25519 AAAA", true}, site.now, "", {}};
  }
  StoragePlace place(const std::string& node) {
    return storage_place(site.view(), allocation(), member(node));
  }
  StorageChange wanted(const std::string& name = "a") {
    std::vector<Action> out;
    add_export_acts(site.view(), allocation(name), out);
    EXPECT_LE(out.size(), 1U);
    return out.empty() ? StorageChange{} : std::get<StorageAct>(out[0].act).change;
  }
  void hear(const std::string& node) { site.seen.presence[site.node(node)].last_heard = site.now; }

  TestSite site;
};

TEST_F(StorageTest, MembersAreGrantedAndNobodyElse) {
  show({{"acme", {}}});
  auto grant = wanted().grant;
  std::vector<std::string> members = {address("n0101"), address("n0201")};
  std::ranges::sort(members);
  std::ranges::sort(grant);
  EXPECT_EQ(grant, members) << "neither the spare nor the controller";
  EXPECT_TRUE(wanted().revoke.empty());
  show({{"acme", members}});
  EXPECT_TRUE(wanted().grant.empty());
}

TEST_F(StorageTest, TheExportIsMadeOnceAndBeforeAnyGrant) {
  show({});
  EXPECT_TRUE(wanted().grant.empty());
  const auto act = make_export(site.view(), allocation());
  ASSERT_TRUE(act);
  EXPECT_EQ(std::get<StorageAct>(act->act).change.export_name, "acme");
  show({{"acme", {}}});
  EXPECT_FALSE(make_export(site.view(), allocation()));
}

TEST_F(StorageTest, InsideIsWhatIsGrantedAndRouted) {
  EXPECT_EQ(place("n0101"), StoragePlace::unknown) << "never read";
  show({{"acme", {address("n0101")}}});
  EXPECT_EQ(place("n0101"), StoragePlace::inside);
  EXPECT_EQ(place("n0201"), StoragePlace::unknown) << "routed and not granted";
  show({{"acme", {}}, {"bolt", {address("n0101")}}});
  EXPECT_EQ(place("n0101"), StoragePlace::unknown) << "another's export";
  show({{"acme", {}}}, {{"", address("n0101")}});
  EXPECT_EQ(place("n0101"), StoragePlace::unknown) << "a session without a grant";
  show({{"acme", {address("n0101")}}});
  for (auto& vrf : site.shown("leaf1").vrfs) vrf.leaks.clear();
  EXPECT_EQ(place("n0101"), StoragePlace::unknown) << "no way to it";
}

TEST_F(StorageTest, AStaleLookIsUnknownAndMovesNobody) {
  show({{"acme", {}}});
  site.now = site.now + stale_after + seconds(1);
  EXPECT_EQ(place("n0101"), StoragePlace::unknown);
  EXPECT_TRUE(wanted().grant.empty());
  EXPECT_EQ(fresh_storage(site.view(), "access"), nullptr);
}

TEST_F(StorageTest, WhoLeavesUnmountsFirstUnlessItIsNotHeard) {
  const std::string out = address("n0101");
  site.must(mark_attached(allocation().id, site.node("n0101"), true));
  site.must(mark_joined(allocation().id, site.node("n0101"), true, "h"));
  site.must(mark_leaving(allocation().id, site.node("n0101"), {}));
  EXPECT_EQ(site.faults, "");
  show({{"acme", {out, address("n0201")}}}, {{"acme", out}});
  hear("n0101");
  EXPECT_TRUE(wanted().revoke.empty());
  site.seen.presence.clear();
  EXPECT_EQ(wanted().revoke, std::vector<std::string>{out}) << "it may still write";
  show({{"acme", {address("n0201")}}}, {{"", out}});
  EXPECT_EQ(wanted().revoke, std::vector<std::string>{out}) << "a session is left";
  site.must(mark_joined(allocation().id, site.node("n0101"), false, ""));
  show({{"acme", {address("n0201")}}});
  EXPECT_TRUE(wanted().revoke.empty());
  EXPECT_EQ(place("n0101"), StoragePlace::unknown) << "a switch still takes it in";
  site.show_as_planned();
  EXPECT_EQ(place("n0101"), StoragePlace::outside);
  site.seen.storage["access"].written.insert("acme");
  EXPECT_EQ(place("n0101"), StoragePlace::unknown) << "a grant is on its way";
}

TEST_F(StorageTest, TheWayStaysUntilANodeThatLeavesHasLeft) {
  const std::string vrf = vrf_name(site.network("b").status.vrf_id);
  const std::string own = address("n0102", "b");
  site.must(mark_attached(allocation("b").id, site.node("n0102"), true));
  site.must(mark_joined(allocation("b").id, site.node("n0102"), true, "h"));
  const auto before = plan_switch(site.intent(), "leaf1")->ports;
  site.must(mark_leaving(allocation("b").id, site.node("n0102"), {}));
  EXPECT_EQ(site.faults, "");
  const auto has_way = [&] {
    const auto plan = *plan_switch(site.intent(), "leaf1");
    const VrfState* held = find_vrf(plan, vrf);
    return held && !held->routes.empty() && !held->leaks.empty() &&
           find_port(plan, "swp2")->mode == PortMode::access;
  };
  EXPECT_TRUE(has_way()) << "its jobs may run on, with port and partition";
  EXPECT_EQ(plan_switch(site.intent(), "leaf1")->ports, before);
  const auto wants_grant = [&] {
    for (const auto& row : export_rows(site.view(), site.network("b"))) {
      if (row.item.starts_with("grant n0102 ")) return row.wanted;
    }
    return std::string("no row");
  };
  EXPECT_EQ(wants_grant(), "granted");
  const auto version = site.network("b").meta.version;
  site.must(mark_joined(allocation("b").id, site.node("n0102"), false, ""));
  EXPECT_FALSE(has_way());
  EXPECT_NE(wants_grant(), "granted");
  EXPECT_EQ(find_port(*plan_switch(site.intent(), "leaf1"), "swp2")->mode, PortMode::quarantine);
  EXPECT_GT(site.network("b").meta.version, version) << "else the change looks like a person's";
}

TEST_F(StorageTest, AnAddressThatIsStillGrantedIsNotReissued) {
  const std::string out = address("n0102", "b");
  const PoolEntry* entry = nullptr;
  site.must(mark_leaving(allocation("b").id, site.node("n0102"), {}));
  site.must(detach_node(allocation("b").id, site.node("n0102"), NodePhase::wiping));
  EXPECT_EQ(site.faults, "");
  for (const auto& [id, one] : site.registry.all<PoolEntry>()) {
    if (one.pool == "storage_address" && one.state == PoolState::tombstone) entry = &one;
  }
  ASSERT_NE(entry, nullptr);
  const auto buried = [&] {
    for (const auto& change : tombstone_changes(site.view())) {
      if (change->name() == "mark_absent" && change->object().ends_with(entry->id.str())) {
        return false;
      }
    }
    return true;
  };
  site.now = site.now + seconds(1);
  site.show_as_planned();
  site.seen.storage.clear();
  EXPECT_TRUE(buried()) << "the storage was not looked at";
  show({{"bolt", {out}}});
  EXPECT_TRUE(buried()) << "granted";
  show({{"bolt", {}}}, {{"", out}});
  EXPECT_TRUE(buried()) << "in use";
  show({{"bolt", {}}});
  EXPECT_FALSE(buried());
}

TEST_F(StorageTest, AGrantThatCameTooLateIsTakenAway) {
  const std::string out = address("n0102", "b");
  show({{"bolt", {out, "100.64.7.7", "192.0.2.1"}}});
  EXPECT_FALSE(revoke_orphans(site.view(), "access")) << "held, or never ours";
  site.must(mark_leaving(allocation("b").id, site.node("n0102"), {}));
  site.must(detach_node(allocation("b").id, site.node("n0102"), NodePhase::wiping));
  EXPECT_EQ(site.faults, "");
  show({{"bolt", {out, "100.64.7.7", "192.0.2.1"}}});
  const auto act = revoke_orphans(site.view(), "access");
  ASSERT_TRUE(act);
  EXPECT_EQ(std::get<StorageAct>(act->act).change.revoke, std::vector<std::string>{out});
  site.now = site.now + stale_after + seconds(1);
  EXPECT_FALSE(revoke_orphans(site.view(), "access")) << "by a stale look nothing is done";
}

TEST_F(StorageTest, RoutesToAddressesAreWhereTheNodesAre) {
  const Intent intent = site.intent();
  const std::string vrf = vrf_name(site.network("a").status.vrf_id);
  const auto first = *plan_switch(intent, "leaf1"), second = *plan_switch(intent, "leaf2");
  ASSERT_EQ(find_vrf(first, vrf)->routes.size(), 1U);
  EXPECT_EQ(find_vrf(first, vrf)->routes[0],
            (AddressRoute{address("n0101") + "/32", member("n0101").address}));
  ASSERT_EQ(find_vrf(second, vrf)->routes.size(), 1U);
  EXPECT_EQ(find_vrf(second, vrf)->routes[0].prefix, address("n0201") + "/32");
  EXPECT_TRUE(find_vrf(first, "Vrf60001")->routes.empty());
}

TEST_F(StorageTest, ShowsWhatIsWantedBesideWhatIsSeen) {
  show({{"acme", {address("n0101")}}}, {{"acme", address("n0101")}});
  std::map<std::string, ExportRow> rows;
  for (const auto& row : export_rows(site.view(), site.network("a"))) rows[row.item] = row;
  EXPECT_EQ(rows.at("export acme").observed, "made");
  EXPECT_EQ(rows.at("grant n0101 " + address("n0101")).observed, "granted");
  EXPECT_EQ(rows.at("grant n0201 " + address("n0201")).wanted, "granted");
  EXPECT_EQ(rows.at("grant n0201 " + address("n0201")).observed, "");
  EXPECT_EQ(rows.at("session n0101 " + address("n0101")).observed, "open");
}

/// A grant by hand lets one tenant into the files of another, whatever the fabric shows.
TEST_F(StorageTest, AGrantByHandIsNamedOnBothSides) {
  const std::string own = address("n0101"), other = address("n0102", "b");
  const auto state = [&](const std::string& name) {
    return storage_sync(site.view(), site.network(name))->state;
  };
  show({{"acme", {own, address("n0201")}}, {"bolt", {other}}});
  EXPECT_EQ(state("a"), SyncState::synced);
  EXPECT_TRUE(foreign_grants(site.view(), site.network("a")).empty());
  show({{"acme", {own, address("n0201"), other, "192.0.2.1"}}, {"bolt", {other}}});
  const std::vector<std::string> wanted = {"grant n0102 " + other + " of bolt/b in export acme",
                                           "grant nobody's address 192.0.2.1 in export acme"};
  EXPECT_EQ(foreign_grants(site.view(), site.network("a")), wanted);
  EXPECT_EQ(state("a"), SyncState::drifted);
  EXPECT_EQ(foreign_grants(site.view(), site.network("b")),
            std::vector<std::string>{wanted[0]});
  EXPECT_EQ(state("b"), SyncState::drifted);
  std::map<std::string, ExportRow> rows;
  for (const auto& row : export_rows(site.view(), site.network("a"))) rows[row.item] = row;
  ASSERT_TRUE(rows.contains(wanted[0]));
  EXPECT_EQ(rows[wanted[0]].wanted, "");
  EXPECT_EQ(rows[wanted[0]].observed, "granted");
}

TEST_F(StorageTest, AKeyByHandIsNamedAndOneThatIsNotToldIsUnknown) {
  show({{"acme", {address("n0101"), address("n0201")}}, {"bolt", {address("n0102", "b")}}});
  ASSERT_EQ(storage_sync(site.view(), site.network("a"))->state, SyncState::synced);
  auto& seen = site.seen.storage["access"].seen;
  seen.exports[0].keys.push_back("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIByHand");
  EXPECT_EQ(foreign_grants(site.view(), site.network("a")),
            std::vector<std::string>{"key ssh-ed25519 ...1NTE5AAAAIByHand in export acme"});
  EXPECT_TRUE(foreign_grants(site.view(), site.network("b")).empty());
  EXPECT_EQ(storage_sync(site.view(), site.network("a"))->state, SyncState::drifted);
  const auto rows = export_rows(site.view(), site.network("a"));
  EXPECT_TRUE(std::ranges::any_of(rows, [](const ExportRow& row) {
    return row.item.starts_with("key ssh-ed25519") && row.wanted.empty() &&
           row.observed == "accepted";
  }));
  // The tenant's own key was replaced by another.
  seen.exports[0].keys = {"ssh-ed25519 AAAAother"};
  EXPECT_EQ(foreign_grants(site.view(), site.network("a")).size(), 1U);
  seen.exports[0].keys.clear();
  seen.shows_keys = false;
  const auto sync = storage_sync(site.view(), site.network("a"));
  EXPECT_EQ(sync->state, SyncState::unknown);
  EXPECT_EQ(sync->reason, "keys of export acme: the server does not tell which open it");
}

TEST_F(StorageTest, TheNetworkOnTheStorageIsPendingUnknownOrInStep) {
  const auto state = [&] { return storage_sync(site.view(), site.network("a"))->state; };
  EXPECT_EQ(state(), SyncState::unknown) << "never read";
  show({{"acme", {address("n0101")}}});
  EXPECT_EQ(state(), SyncState::applying) << "one is not let in yet, and that is ours to do";
  show({{"acme", {address("n0101"), address("n0201")}}});
  EXPECT_EQ(state(), SyncState::synced);
  bool is_told = false;
  for (const auto& change : reconcile_networks(site.view(), "access").changes) {
    site.must(change.operation);
  }
  EXPECT_EQ(site.faults, "");
  for (const auto& one : site.network("a").status.sync) {
    is_told = is_told || (one.object == "storage of access" && one.state == SyncState::synced);
  }
  EXPECT_TRUE(is_told);
  show({{"acme", {address("n0101")}}});
  EXPECT_EQ(state(), SyncState::pending);
  site.now = site.now + stale_after + seconds(1);
  EXPECT_EQ(state(), SyncState::unknown);
}

TEST_F(StorageTest, WhatCannotBeIsRefusedBeforeAnythingIsDrawn) {
  FabricSpec spec = site.access_spec();
  spec.storage_url = "ssh://root@10.88.5.1";
  spec.storage_mount_address = "10.201.0.10";
  EXPECT_EQ(site.run(put_fabric("access", spec)).error().code, Code::invalid);
  spec.storage_mount_address = "10.200.0.10";
  spec.storage_url = "10.88.5.1";
  EXPECT_EQ(site.run(put_fabric("access", spec)).error().code, Code::invalid);
  auto order = site.order("core", "c", {"n0103"});
  order.network.prefixes = {"10.200.0.0/25"};
  const auto taken = site.run(create_cluster(order));
  ASSERT_FALSE(taken);
  EXPECT_NE(taken.error().what.find("storage"), std::string::npos) << taken.error().what;
  spec.storage_url = "ssh://root@10.88.5.1";
  spec.storage_node_pool = "100.64.0.0/30";
  const auto narrow = site.run(put_fabric("access", spec));
  ASSERT_FALSE(narrow) << "addresses of it are held";
  EXPECT_NE(narrow.error().what.find("leaves out "), std::string::npos) << narrow.error().what;
  spec.storage_node_pool = "100.64.0.0/29";
  site.must(put_fabric("access", spec));
  EXPECT_EQ(site.faults, "");
  order.network.prefixes = {"10.30.0.0/24"};
  const auto full = site.run(create_cluster(order));
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, Code::exhausted);
  EXPECT_NE(full.error().what.find("storage_address"), std::string::npos);
}

TEST_F(StorageTest, ATenantWhoseNameIsNoAccountIsRefused) {
  const auto done = site.run(create_tenant("a-name-that-is-longer-than-any-account", {10000}));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::invalid);
  EXPECT_FALSE(done.error().remedy.empty());
}

}  // namespace
}  // namespace tundish::control::network
