// What was seen that joins two tenants is an incident; nothing that we do ourselves is.
#include "control/network/isolation.hpp"

#include <gmock/gmock.h>

#include "control/health/reconcile_health.hpp"
#include "control/network/reconcile_switch.hpp"
#include "control/network/site_for_test.hpp"
#include "control/notice/classify.hpp"
#include "model/ops/incident_ops.hpp"

namespace tundish::control::network {
namespace {

using testing::HasSubstr;
using testing::Not;

class IsolationTest : public testing::Test {
 protected:
  void SetUp() override {
    site.fill();
    site.seen.started_at = site.now;
    site.now = site.now + minutes(5);
    site.show_as_planned();
    look();
    ASSERT_EQ(open(), nullptr);
  }
  void look() {
    site.now = site.now + seconds(10);
    for (auto& [name, seen] : site.seen.switches) seen.at = site.now;
    for (auto& [name, seen] : site.seen.fabrics) seen.at = site.now;
    told.clear();
    for (const auto& change : reconcile_networks(site.view(), "access").changes) {
      site.must(change.operation);
      told += change.reason + "\n";
    }
    ASSERT_EQ(site.faults, "");
  }
  const Incident* open() {
    const Incident* found = nullptr;
    for (const auto& [id, incident] : site.registry.all<Incident>()) {
      if (incident.state != IncidentState::open) continue;
      EXPECT_EQ(found, nullptr) << "one for each place";
      found = &incident;
    }
    return found;
  }
  int vlan_on(const std::string& network, const std::string& leaf) {
    for (const auto& numbers : site.network(network).status.switches) {
      if (numbers.switch_name == leaf) return numbers.vlan;
    }
    return 0;
  }
  SwitchPortState& port(const std::string& leaf, const std::string& name) {
    return *const_cast<SwitchPortState*>(find_port(site.shown(leaf), name));
  }
  NetworkSync sync(const std::string& network, const std::string& place) {
    for (const auto& one : site.network(network).status.sync) {
      if (one.object == place) return one;
    }
    return {};
  }
  void expect_breach(const std::string& place, const std::string& says) {
    const Incident* incident = open();
    ASSERT_NE(incident, nullptr) << place;
    EXPECT_EQ(incident->subject, place);
    EXPECT_THAT(incident->fault, HasSubstr("isolation"));
    EXPECT_THAT(incident->blame, HasSubstr(says));
    EXPECT_THAT(incident->blame, HasSubstr("joins acme/a and bolt/b"));
    // Tenants read this one.
    EXPECT_THAT(incident->fault, Not(HasSubstr("acme")));
    EXPECT_THAT(incident->fault, Not(HasSubstr("bolt")));
    std::set<AllocationId> hit(incident->allocations.begin(), incident->allocations.end());
    EXPECT_EQ(hit, (std::set{site.allocation("a").id, site.allocation("b").id}));
    EXPECT_EQ(class_of(site.registry, *incident), NoticeClass::fabric) << "which pages";
    EXPECT_EQ(site.registry.all<Claim>().size(), 0u) << "no node is out of service for it";
  }
  void expect_end() {
    site.show_as_planned();
    look();
    EXPECT_EQ(open(), nullptr);
  }
  TestSite site;
  std::string told;
};

TEST_F(IsolationTest, a_port_in_anothers_vlan) {
  port("leaf2", "swp1").vlan = vlan_on("b", "leaf2");
  look();
  expect_breach("leaf2", "swp1 (n0201): is in vlan");
  EXPECT_THAT(told, HasSubstr("drift: swp1: in vlan"));
  const Incident before = *open();
  look();
  ASSERT_NE(open(), nullptr);
  EXPECT_EQ(open()->id, before.id);
  EXPECT_EQ(open()->meta.revision, before.meta.revision) << "nothing is new";
  expect_end();
  EXPECT_THAT(told, HasSubstr("drift is gone"));
}

TEST_F(IsolationTest, anothers_route_target) {
  auto& vrf = *const_cast<VrfState*>(
      find_vrf(site.shown("leaf1"), vrf_name(site.network("a").status.vrf_id)));
  vrf.import_targets.push_back("65000:" + std::to_string(site.network("b").status.l3vni));
  look();
  expect_breach("leaf1", "imports 65000:");
  expect_end();
}

TEST_F(IsolationTest, anothers_guid_in_the_managers_file) {
  site.seen.fabrics["ib0"].seen.own.partitions[0].members.push_back(
      {"0x0002c90000000102", IbMembership::full});
  look();
  expect_breach("fabric ib0", "0x0002c90000000102 (n0102)");
  EXPECT_THAT(open()->blame, Not(HasSubstr("switch fabric")));
  expect_end();
}

TEST_F(IsolationTest, anothers_key_in_a_port) {
  const int pkey = site.network("a").status.pkey;
  site.port_table("0x0002c90000000102").pkeys.push_back({pkey, IbMembership::full});
  look();
  expect_breach("fabric ib0", "carries PKey 0x0100 of acme/a");
  expect_end();
}

TEST_F(IsolationTest, health_leaves_it_alone) {
  port("leaf2", "swp1").vlan = vlan_on("b", "leaf2");
  look();
  for (int i = 0; i < 8; ++i) {
    site.now = site.now + seconds(30);
    for (const auto& operation : health::reconcile_health(site.view(), {}).operations) {
      site.must(operation);
    }
  }
  EXPECT_NE(open(), nullptr);
}

TEST_F(IsolationTest, what_a_person_closed_is_not_opened_again_before_it_went_away) {
  port("leaf2", "swp1").vlan = vlan_on("b", "leaf2");
  look();
  ASSERT_NE(open(), nullptr);
  site.must(close_incident(open()->id));
  look();
  EXPECT_EQ(open(), nullptr);
  site.show_as_planned();
  look();
  port("leaf2", "swp1").vlan = vlan_on("b", "leaf2");
  look();
  EXPECT_NE(open(), nullptr);
}

TEST_F(IsolationTest, a_switch_that_is_not_read_ends_nothing) {
  port("leaf2", "swp1").vlan = vlan_on("b", "leaf2");
  look();
  site.now = site.now + minutes(5);
  for (const auto& change : reconcile_networks(site.view(), "access").changes) {
    site.must(change.operation);
  }
  EXPECT_NE(open(), nullptr);
}

TEST_F(IsolationTest, two_clusters_of_one_tenant_are_no_breach_between_tenants) {
  site.create("acme", "d", {"n0104", "n0205"});
  site.show_as_planned();
  look();
  port("leaf2", "swp1").vlan = vlan_on("d", "leaf2");
  look();
  EXPECT_EQ(open(), nullptr);
}

TEST_F(IsolationTest, what_we_have_yet_to_write_is_none) {
  site.must(bind_spare(site.allocation("a").id, site.node("n0201"), site.node("n0202"), {}));
  look();
  EXPECT_EQ(open(), nullptr);
  site.create("core", "e", {"n0106", "n0205"});
  look();
  EXPECT_EQ(open(), nullptr);
  site.must(begin_delete_cluster(site.registry.find_named<Cluster>("b")->id));
  look();
  EXPECT_EQ(open(), nullptr);
}

TEST_F(IsolationTest, a_port_of_nobody_in_a_tenants_vlan_is_drift_only) {
  port("leaf2", "swp6").mode = PortMode::access;
  port("leaf2", "swp6").vlan = vlan_on("b", "leaf2");
  look();
  EXPECT_EQ(open(), nullptr);
  EXPECT_THAT(told, HasSubstr("drift: swp6"));
}

TEST_F(IsolationTest, lines_that_join_two_networks) {
  const std::string a = vrf_name(site.network("a").status.vrf_id);
  const std::string b = vrf_name(site.network("b").status.vrf_id);
  for (const std::string& line :
       {"kernel: link x0 netns " + a + " type port master br101 peer x1 peer_netns " + b +
            " up leads to x1 in " + b,
        "frr.conf: import vrf " + b + " (in " + a + ")",
        "kernel: route 100.64.0.0/16 via 169.254.1.2 dev lk4097a vrf " + a +
            " leads out of its segments"}) {
    site.seen.switches["leaf1"].reading.seen.unclear = {line};
    look();
    const Incident* incident = open();
    ASSERT_NE(incident, nullptr) << line;
    EXPECT_EQ(incident->subject, "leaf1");
    EXPECT_THAT(incident->blame, HasSubstr("acme/a and bolt/b")) << line;
    site.seen.switches["leaf1"].reading.seen.unclear.clear();
    expect_end();
  }
}

TEST_F(IsolationTest, lines_that_join_nobody) {
  const std::string a = vrf_name(site.network("a").status.vrf_id);
  const std::string list = acl_name(site.network("b").status.vrf_id);
  const std::string own = "br" + std::to_string(vlan_on("a", "leaf1"));
  for (const std::string& line :
       {"kernel: route 100.64.0.0/16 via 10.70.0.9 dev " + own + " vrf " + a,
        "kernel: route 192.0.2.0/24 via 169.254.1.2 dev lk4097a vrf " + a +
            " leads out of its segments",
        "nft: " + a + " " + own + " jumps to " + list,
        std::string("frr.conf: ip route 0.0.0.0/0 Null0")}) {
    site.seen.switches["leaf1"].reading.seen.unclear = {line};
    look();
    EXPECT_EQ(open(), nullptr) << line;
    EXPECT_EQ(sync("a", "leaf1").state, SyncState::drifted) << line;
  }
}

/// A namespace, a container or a switch of somebody's with a tenant's number: also where the tenant
/// has no node.
TEST_F(IsolationTest, a_stranger_in_a_tenants_segment) {
  site.create("core", "only1", {"n0106"});
  site.show_as_planned();
  look();
  ASSERT_EQ(open(), nullptr);
  const auto& network = site.network("only1");
  const int vni = network.status.segments[0].vni;
  site.seen.switches["leaf2"].reading.seen.foreign.vnis = {vni};
  look();
  const Incident* incident = open();
  ASSERT_NE(incident, nullptr);
  EXPECT_EQ(incident->subject, "leaf2");
  EXPECT_THAT(incident->blame, HasSubstr("joins core/only1 and a stranger: VNI " +
                                         std::to_string(vni)));
  EXPECT_EQ(incident->allocations, std::vector{site.allocation("only1").id});
  EXPECT_EQ(class_of(site.registry, *incident), NoticeClass::fabric) << "which pages";
  EXPECT_EQ(sync("only1", "leaf2").state, SyncState::drifted);
  EXPECT_THAT(sync("only1", "leaf2").reason, HasSubstr("is used by somebody else's lines"));
  EXPECT_EQ(sync("a", "leaf2").state, SyncState::synced) << "it is not theirs";
  site.seen.switches["leaf2"].reading.seen.foreign.vnis.clear();
  look();
  EXPECT_EQ(open(), nullptr);
  EXPECT_EQ(sync("only1", "leaf2").object, "") << "it has no part there";
  site.seen.switches["leaf2"].reading.seen.foreign.route_targets = {
      "65000:" + std::to_string(network.status.l3vni)};
  look();
  EXPECT_NE(open(), nullptr) << "its routes are taken in";
}

/// It opens the leaf, the underlay and the out-of-band network to the tenant.
TEST_F(IsolationTest, a_list_that_somebody_opened_is_a_breach) {
  const std::string list = acl_name(site.network("b").status.vrf_id);
  auto& acls = site.shown("leaf1").acls;
  const auto own = std::ranges::find(acls, list, &AclState::name);
  ASSERT_NE(own, acls.end());
  own->rules = {{9999, AclAction::permit, "ip", "", "", 0, 0}};
  look();
  ASSERT_NE(open(), nullptr) << told;
  EXPECT_EQ(open()->subject, "leaf1");
  EXPECT_THAT(open()->blame, HasSubstr("bolt/b and a stranger: " + list +
                                       ": lets through what is not declared"));
  EXPECT_EQ(class_of(site.registry, *open()), NoticeClass::fabric) << "which pages";
  own->rules = {{10, AclAction::deny, "ip", "", "", 0, 0}};
  look();
  EXPECT_EQ(open(), nullptr) << "it holds back more, which opens nothing";
  EXPECT_EQ(sync("b", "leaf1").state, SyncState::drifted);
  own->rules = {{9999, AclAction::permit, "ip", "", "", 0, 0}};
  for (auto& segment : site.shown("leaf1").segments) {
    if (segment.acl_in == list) segment.acl_in = "";
  }
  look();
  EXPECT_NE(open(), nullptr) << "no list at all";
  expect_end();
}

TEST_F(IsolationTest, a_vlan_number_of_others_is_no_breach) {
  site.seen.switches["leaf2"].reading.seen.foreign.vlans = {vlan_on("b", "leaf2")};
  look();
  EXPECT_EQ(open(), nullptr);
}

TEST_F(IsolationTest, the_storages_vrf_that_takes_in_a_tenants_routes) {
  auto& vrf = *const_cast<VrfState*>(
      find_vrf(site.shown("leaf1"), site.access_spec().storage_vrf));
  vrf.import_targets.push_back("65000:" + std::to_string(site.network("b").status.l3vni));
  look();
  const Incident* incident = open();
  ASSERT_NE(incident, nullptr);
  EXPECT_THAT(incident->blame, HasSubstr("bolt/b"));
  EXPECT_THAT(incident->blame, HasSubstr("acme/a")) << "who reaches it by the storage";
  expect_end();
}

}  // namespace
}  // namespace tundish::control::network
