#include "control/network/cabling.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/network/reconcile_switch.hpp"
#include "control/network/site_for_test.hpp"

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
