#include "control/network/cabling.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/allocation/reconcile_allocation.hpp"
#include "control/network/reconcile_switch.hpp"
#include "control/network/site_for_test.hpp"
#include "model/ops/allocation_ops.hpp"
#include "model/ops/node_ops.hpp"

namespace tundish::control::network {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class CablingTest : public testing::Test {
 protected:
  void SetUp() override {
    site.fill();
    site.show_as_planned();
    for (const char* name : {"n0101", "n0102"}) {
      NodeSpec spec = site.registry.find(site.node(name))->spec;
      spec.ports[0].mac = mac_of(name);
      site.must(update_declared(site.node(name), spec));
    }
    ASSERT_EQ(site.faults, "");
  }
  static std::string mac_of(const std::string& name) {
    return "02:00:00:00:" + name.substr(1, 2) + ":" + name.substr(3, 2);
  }
  void neighbour(const PortNeighbour& seen) {
    site.seen.switches["leaf1"].reading.neighbours.push_back(seen);
  }
  std::vector<std::string> miswired() {
    return miswired_cables(site.view(), *site.registry.find_named<Switch>("leaf1"));
  }
  TestSite site;
};

TEST_F(CablingTest, cables_as_declared_are_no_finding) {
  neighbour({"swp1", "n0101", "eth0", mac_of("n0101")});
  neighbour({"swp3", "n0103.rack1.example", "eth0", ""});  // no MAC is declared: by its name
  neighbour({"swp40", "printer", "1", "02:99:00:00:00:01"});
  EXPECT_THAT(miswired(), IsEmpty());
}

TEST_F(CablingTest, two_cables_that_changed_places_are_both_named) {
  neighbour({"swp1", "n0102", "eth0", mac_of("n0102")});
  neighbour({"swp2", "n0101", "eth0", mac_of("n0101")});
  EXPECT_THAT(miswired(), ElementsAre("leaf1:swp1 is cabled to n0102:eth0, declared n0101:eth0",
                                      "leaf1:swp2 is cabled to n0101:eth0, declared n0102:eth0"));
}

/// NVIDIA/nv-config-manager #207: a wrong cable was told as a wrong serial number of a node. The
/// node is known by the MAC at the end of the cable, whatever name it tells.
TEST_F(CablingTest, a_wrong_cable_is_told_as_a_cable_whatever_the_far_end_calls_itself) {
  neighbour({"swp1", "n0101", "eth0", mac_of("n0102")});
  EXPECT_THAT(miswired(), ElementsAre("leaf1:swp1 is cabled to n0102:eth0, declared n0101:eth0"));
}

TEST_F(CablingTest, another_card_in_the_right_node_is_no_wrong_cable) {
  neighbour({"swp1", "n0101", "eth0", "02:77:00:00:00:01"});
  EXPECT_THAT(miswired(), ElementsAre("leaf1:swp1: n0101:eth0 has MAC 02:77:00:00:00:01, declared "
                                      "02:00:00:00:01:01"));
}

TEST_F(CablingTest, an_unknown_device_and_a_port_without_a_declared_cable_are_named) {
  neighbour({"swp1", "laptop", "en0", "02:88:00:00:00:01"});
  neighbour({"swp50", "n0102", "eth0", mac_of("n0102")});
  EXPECT_THAT(miswired(), ElementsAre(HasSubstr("cabled to laptop, which is not in the inventory"),
                                      "leaf1:swp50 is cabled to n0102:eth0, declared nothing"));
}

TEST_F(CablingTest, an_uplink_on_the_wrong_spine_is_named) {
  SwitchSpec spine;
  spine.role = "spine";
  site.must(put_switch("spine1", spine));
  site.must(put_switch("spine2", spine));
  site.must(put_cable("leaf1:swp49", {"leaf1", "swp49", "spine1", "swp1", ""}));
  neighbour({"swp49", "spine2", "swp1", ""});
  EXPECT_THAT(miswired(),
              ElementsAre("leaf1:swp49 is cabled to spine2:swp1, declared spine1:swp1"));
}

/// One look, recorded as the manager does.
void look_at_cables(TestSite& site, const std::string& leaf) {
  for (const auto& change : cable_changes(site.view(), *site.registry.find_named<Switch>(leaf))) {
    site.must(set_condition(change.node, std::string(miswired_condition),
                            change.reason.empty() ? Truth::no : Truth::yes, change.reason));
  }
}

TEST_F(CablingTest, a_node_that_is_plugged_elsewhere_is_held_until_it_is_seen_in_its_place) {
  const auto held = [&](const char* name) {
    return miswired_port(*site.registry.find(site.node(name)), "eth0");
  };
  neighbour({"swp1", "n0102", "eth0", mac_of("n0102")});
  look_at_cables(site, "leaf1");
  EXPECT_THAT(held("n0102"), HasSubstr("node n0102: eth0 is cabled to leaf1:swp1, declared "
                                       "leaf1:swp2; put the cable or the inventory right, then: "
                                       "tundish node confirm n0102"));
  EXPECT_THAT(held("n0101"), HasSubstr("eth0 is not on leaf1:swp1, where n0102 is, declared"));
  EXPECT_EQ(miswired_port(*site.registry.find(site.node("n0102")), "eth1"), "");
  // Its port is shut: nothing is seen, and what was seen stands.
  site.seen.switches["leaf1"].reading.neighbours.clear();
  look_at_cables(site, "leaf1");
  EXPECT_NE(held("n0102"), "");
  neighbour({"swp2", "n0102", "eth0", mac_of("n0102")});
  look_at_cables(site, "leaf1");
  EXPECT_EQ(held("n0102"), "");
  EXPECT_NE(held("n0101"), "") << "of it nothing was seen";
  // The inventory is corrected instead.
  NodeSpec spec = site.registry.find(site.node("n0101"))->spec;
  spec.ports[0].switch_port = "swp9";
  site.must(update_declared(site.node("n0101"), spec));
  look_at_cables(site, "leaf1");
  EXPECT_EQ(held("n0101"), "");
  EXPECT_EQ(site.faults, "");
}

/// The port of a node that is plugged elsewhere is shut, and nothing is seen through it.
TEST_F(CablingTest, a_wrong_cable_is_named_until_it_is_seen_to_be_right) {
  neighbour({"swp1", "n0102", "eth0", mac_of("n0102")});
  neighbour({"swp2", "n0101", "eth0", mac_of("n0101")});
  look_at_cables(site, "leaf1");
  EXPECT_EQ(miswired().size(), 2U) << "what is seen is told once";
  auto& seen = site.seen.switches["leaf1"].reading.neighbours;
  seen.clear();
  look_at_cables(site, "leaf1");
  const std::string as_seen = " (as last seen)";
  EXPECT_THAT(miswired(),
              ElementsAre("n0101: eth0 is cabled to leaf1:swp2, declared leaf1:swp1" + as_seen,
                          "n0102: eth0 is cabled to leaf1:swp1, declared leaf1:swp2" + as_seen));
  EXPECT_THAT(miswired_cables(site.view(), *site.registry.find_named<Switch>("leaf2")), IsEmpty())
      << "of another switch nothing is said";
  neighbour({"swp1", "n0101", "eth0", mac_of("n0101")});
  look_at_cables(site, "leaf1");
  neighbour({"swp2", "n0102", "eth0", mac_of("n0102")});
  look_at_cables(site, "leaf1");
  EXPECT_THAT(miswired(), IsEmpty());
}

TEST_F(CablingTest, a_miswired_node_is_not_put_into_a_network_and_is_taken_out_before_it_serves) {
  site.must(set_authority("site:site", "*", AuthorityLevel::act));
  site.create("acme", "late", {"n0105"});
  const auto id = site.node("n0105");
  site.show_as_planned();
  site.seen.ports[{"leaf1", "swp5"}] = {"leaf1", "swp5", "", true, site.now};
  const auto acts = [&](Outcome& out) {
    std::vector<std::string> names;
    for (const auto& action : out.actions) {
      if (action.node == id) names.push_back(action.name);
    }
    return names;
  };
  Outcome before = reconcile_allocation(site.view(), site.allocation("late"));
  EXPECT_THAT(acts(before), ElementsAre("attach_port"));
  site.must(set_condition(id, std::string(miswired_condition), Truth::yes,
                          "eth0 is cabled to leaf2:swp9, declared leaf1:swp5"));
  Outcome held = reconcile_allocation(site.view(), site.allocation("late"));
  EXPECT_THAT(acts(held), IsEmpty());
  for (const auto& operation : held.operations) site.must(operation);
  EXPECT_THAT(site.allocation("late").status.reason,
              HasSubstr("waits: node n0105: eth0 is cabled to leaf2:swp9"));
  EXPECT_FALSE(placeable(site.view(), *site.registry.find(id)).yes);
  // It was attached before anybody saw where it is plugged.
  site.must(mark_attached(site.allocation("late").id, id, true));
  site.seen.ports[{"leaf1", "swp5"}].segment = site.allocation("late").status.segment;
  Outcome out = reconcile_allocation(site.view(), site.allocation("late"));
  EXPECT_THAT(acts(out), ElementsAre("quarantine_port"));
  EXPECT_EQ(site.faults, "");
}

TEST_F(CablingTest, a_switch_has_the_condition_as_long_as_the_cable_is_wrong) {
  neighbour({"swp1", "n0102", "eth0", mac_of("n0102")});
  const auto condition = [&]() -> std::string {
    const auto* device = site.registry.find_named<Switch>("leaf1");
    const auto verdict = reconcile_switch(site.view(), site.intent(), *device);
    for (const auto& one : verdict.status.conditions) {
      if (one.type == "miswired" && one.state == Truth::yes) return one.reason;
    }
    return "";
  };
  EXPECT_THAT(condition(), HasSubstr("swp1 is cabled to n0102:eth0"));
  // Not read for a minute: nobody knows how it is cabled now, and nothing new is said.
  site.now = site.now + minutes(1);
  EXPECT_EQ(condition(), "");
}

}  // namespace
}  // namespace tundish::control::network
