#include "lab/switch_plan.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace tundish::lab {
namespace {

LabSpec frr_spec() {
  LabSpec spec;
  spec.fabric = FabricKind::frr;
  return spec;
}

TEST(SwitchPlan, FlatFabricHasNone) { EXPECT_TRUE(switches_of(LabSpec{}).empty()); }

TEST(SwitchPlan, DefaultLabHasTwoLeavesAndTwoSpines) {
  const auto all = switches_of(frr_spec());
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].name, "leaf1");
  EXPECT_EQ(all[0].management, "10.88.2.1");
  EXPECT_EQ(all[0].loopback, "10.255.0.1");
  EXPECT_EQ(all[0].asn, 65001);
  EXPECT_EQ(all[0].ports.size(), 16U);  // 6 GPU nodes, 8 of the service node, 2 login nodes
  EXPECT_EQ(all[1].ports.size(), 6U);
  EXPECT_EQ(all[3].name, "spine2");
  EXPECT_EQ(all[3].management, "10.88.3.2");
  EXPECT_EQ(all[3].asn, 65100);
  EXPECT_TRUE(all[3].ports.empty());
}

TEST(SwitchPlan, BothEndsOfALinkAgreeAndNoAddressIsTwice) {
  LabSpec spec = frr_spec();
  spec.racks = 5;
  spec.spines = 3;
  std::set<std::string> seen;
  std::map<std::string, SwitchLink> ends;  // by switch/port
  for (const auto& plan : switches_of(spec)) {
    std::set<std::string> ports;
    EXPECT_TRUE(seen.insert(plan.loopback).second);
    EXPECT_TRUE(seen.insert(plan.management).second);
    for (const auto& port : plan.hardware()) EXPECT_TRUE(ports.insert(port).second) << port;
    for (const auto& link : plan.links) {
      EXPECT_TRUE(seen.insert(link.address).second) << link.address;
      ends[plan.name + "/" + link.port] = link;
    }
    EXPECT_LE(management_peer(plan.name).size(), 15U);
  }
  EXPECT_EQ(ends.size(), 30U);
  for (const auto& [name, link] : ends) {
    const auto& far = ends.at(link.peer + "/" + link.peer_port);
    EXPECT_EQ(far.peer + "/" + far.peer_port, name);
    EXPECT_EQ(far.address, link.peer_address);
  }
}

TEST(SwitchPlan, OnlyLeavesEndTunnels) {
  for (const auto& plan : switches_of(frr_spec())) {
    const auto text = render_underlay(plan);
    EXPECT_EQ(text.find("advertise-all-vni") != std::string::npos, plan.role == SwitchRole::leaf);
    EXPECT_EQ(text.find("vrf"), std::string::npos) << "the lab writes nothing of a tenant";
  }
}

}  // namespace
}  // namespace tundish::lab
