// A leaf that lost something: all of its configuration, or a way to the storage.
#include "control/network/reconcile_switch.hpp"

#include <gtest/gtest.h>

#include "control/network/reconcile_site_for_test.hpp"

namespace tundish::control::network {
namespace {

using LostTest = ReconcileSite;

/// It comes back empty: FRR runs, and nothing of its configuration is left.
TEST_F(LostTest, a_leaf_that_lost_its_configuration_is_drifted_and_so_is_what_was_on_it) {
  SwitchSpec spec = site.registry.find_named<Switch>("leaf2")->spec;
  spec.asn = 0;
  spec.router_id = spec.vtep_address = "";
  site.must(put_switch("leaf2", spec));
  look_again(seconds(10));
  settle();
  ASSERT_EQ(sync("a", "leaf2")->state, SyncState::synced) << "read from the switch";
  const SwitchState whole = site.shown("leaf2");
  site.must(set_authority("switch:leaf2", "network", AuthorityLevel::act));
  site.shown("leaf2") = {};
  look_again(seconds(10));
  auto out = settle();
  for (const char* name : {"a", "b", "c"}) {
    EXPECT_EQ(sync(name, "leaf2")->state, SyncState::drifted) << name;
    EXPECT_NE(sync(name, "leaf2")->reason.find("switch leaf2 has no router id"), std::string::npos)
        << sync(name, "leaf2")->reason;
    EXPECT_EQ(sync(name, "leaf1")->state, SyncState::synced) << name;
  }
  ASSERT_NE(condition("leaf2", "drift"), nullptr);
  EXPECT_EQ(condition("leaf2", "drift")->state, Truth::yes);
  EXPECT_TRUE(out.restores.empty()) << "there is nothing that a plan could be made from";
  // Somebody brought the underlay back; ours is still missing, and comes an hour later.
  SwitchState& shown = site.shown("leaf2");
  shown.asn = whole.asn;
  shown.router_id = whole.router_id;
  shown.vtep_address = whole.vtep_address;
  look_again(seconds(10));
  settle();
  EXPECT_EQ(sync("a", "leaf2")->state, SyncState::drifted);
  look_again(minutes(61));
  out = settle();
  ASSERT_EQ(out.restores.size(), 1u);
  EXPECT_EQ(out.restores[0].to, *plan_switch(site.intent(), "leaf2"));
}

TEST_F(LostTest, a_new_leaf_without_a_router_id_is_unknown_and_no_drift) {
  SwitchSpec spec = site.registry.find_named<Switch>("leaf2")->spec;
  spec.asn = 0;
  spec.router_id = spec.vtep_address = "";
  TestSite fresh;
  fresh.fill();
  fresh.show_as_planned();
  fresh.must(put_switch("leaf2", spec));
  fresh.shown("leaf2") = {};
  const auto verdict = reconcile_switch(fresh.view(), fresh.intent(),
                                        *fresh.registry.find_named<Switch>("leaf2"));
  ASSERT_EQ(verdict.sync.size(), 3u);
  for (const auto& [id, one] : verdict.sync) EXPECT_EQ(one.state, SyncState::unknown) << one.reason;
  EXPECT_TRUE(verdict.status.drift.empty());
}

/// What the storage's VRF takes in is the matter of the network that it is of.
TEST_F(LostTest, a_way_to_the_storage_that_a_hand_cut_is_drift_of_that_network) {
  const std::string other = vrf_name(site.network("b").status.vrf_id);
  auto& storage = *const_cast<VrfState*>(find_vrf(site.shown("leaf1"), "Vrf60001"));
  std::erase_if(storage.leaks, [&](const LeakState& leak) { return leak.from_vrf == other; });
  look_again(seconds(10));
  settle();
  EXPECT_EQ(sync("b", "leaf1")->state, SyncState::drifted);
  EXPECT_NE(sync("b", "leaf1")->reason.find("Vrf60001: takes in none of " + other),
            std::string::npos)
      << sync("b", "leaf1")->reason;
  EXPECT_EQ(sync("a", "leaf1")->state, SyncState::synced);
  site.show_as_planned();
  look_again(seconds(10));
  settle();
  site.create("acme", "d", {"n0105"});
  look_again(seconds(10));
  settle();
  EXPECT_EQ(sync("d", "leaf1")->state, SyncState::planned);
  EXPECT_TRUE(site.registry.find_named<Switch>("leaf1")->status.drift.empty())
      << "what is yet to be written is nobody's doing: "
      << site.registry.find_named<Switch>("leaf1")->status.drift[0];
}

}  // namespace
}  // namespace tundish::control::network
