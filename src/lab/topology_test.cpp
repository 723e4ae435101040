#include "lab/topology.hpp"

#include <gtest/gtest.h>

#include <set>

#include "codec/json.hpp"

namespace tundish::lab {
namespace {

TEST(Topology, DefaultLabHasFifteenNodesOverTwoRacks) {
  const auto all = hardware_of(LabSpec{});
  ASSERT_EQ(all.size(), 15U);
  EXPECT_EQ(all[0].name, "n01");
  EXPECT_EQ(all[0].rack, "r01");
  EXPECT_EQ(all[0].bmc_mac, "02:4c:b0:00:00:01");
  EXPECT_EQ(all[0].oob_address, "10.88.0.11");
  EXPECT_EQ(all[6].rack, "r02");
  EXPECT_EQ(all[6].ports[0].leaf, "leaf2");
  EXPECT_EQ(all[6].ports[0].port, "swp1");
  EXPECT_EQ(all[11].serial, "TND24-00012");
  EXPECT_EQ(all[12].name, "svc01");
  EXPECT_EQ(all[12].ports.size(), 8U);
  EXPECT_EQ(all[12].ports[0].port, "swp7");
  EXPECT_EQ(all[12].gpus, 0);
  EXPECT_EQ(all[14].name, "login02");
  EXPECT_EQ(all[14].bmc_address, "10.88.1.15");
}

TEST(Topology, EveryAddressMacSerialAndPortIsUnique) {
  LabSpec spec;
  spec.nodes = 150;
  spec.racks = 5;
  std::set<std::string> seen;
  const auto all = hardware_of(spec);
  for (const auto& node : all) {
    for (const auto& value : {node.name, node.serial, node.bmc_mac, node.oob_mac, node.bmc_address,
                              node.oob_address}) {
      EXPECT_TRUE(seen.insert(value).second) << value;
    }
    EXPECT_LE(oob_peer(node.name).size(), 15U);
    for (const auto& port : node.ports) {
      EXPECT_TRUE(seen.insert(port.mac).second) << port.mac;
      EXPECT_TRUE(seen.insert(port.leaf + port.port).second) << port.leaf << port.port;
      EXPECT_LE(port_peer(node.name, port.interface).size(), 15U);
    }
  }
}

TEST(Topology, SpecSurvivesJsonAndRefusesNonsense) {
  LabSpec spec;
  spec.name = "x1";
  spec.bin_dir = "/bin";
  spec.gpus = 4;
  LabSpec read;
  ASSERT_TRUE(parse_json(render_json(spec), read));
  EXPECT_EQ(render_json(spec), render_json(read));
  EXPECT_TRUE(validate(spec));
  spec.name = "../x";
  EXPECT_FALSE(validate(spec));
  spec.name = "x";
  spec.nodes = 400;
  EXPECT_FALSE(validate(spec));
}

TEST(Topology, BridgeNameFitsTheKernel) {
  EXPECT_EQ(segment_bridge("tenant-a/compute").size(), 12U);
  EXPECT_NE(segment_bridge("a"), segment_bridge("b"));
}

}  // namespace
}  // namespace tundish::lab
