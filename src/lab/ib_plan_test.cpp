#include "lab/ib_plan.hpp"

#include <gtest/gtest.h>

#include <set>

namespace tundish::lab {
namespace {

LabSpec frr_spec() {
  LabSpec spec;
  spec.fabric = FabricKind::frr;
  return spec;
}

TEST(IbPlan, FlatLabHasNoneAndNoHcasMeanNoFabric) {
  EXPECT_TRUE(ib_plan_of(LabSpec{}).is_empty());
  EXPECT_EQ(hardware_of(LabSpec{})[0].hcas.size(), 8U) << "but its nodes show HCAs";
  LabSpec spec = frr_spec();
  spec.hcas = 0;
  EXPECT_TRUE(ib_plan_of(spec).is_empty());
}

TEST(IbPlan, DefaultLabHasALeafPerRackBelowASpine) {
  const IbPlan plan = ib_plan_of(frr_spec());
  ASSERT_EQ(plan.switches.size(), 3U);
  EXPECT_EQ(plan.switches[2].name, "ibspine1");
  ASSERT_EQ(plan.ports.size(), 13U);  // 12 GPU nodes and the manager
  EXPECT_EQ(plan.ports[0].machine, "n01");
  EXPECT_EQ(plan.ports[0].hca.name, "mlx5_0");
  EXPECT_EQ(plan.ports[0].hca.guid, "0x0002c90301000101");
  EXPECT_EQ(plan.ports[6].hca.ib_switch, "ibleaf2");
  EXPECT_EQ(plan.ports[6].hca.port, 1);
  EXPECT_EQ(plan.manager().machine, "sm1");
  EXPECT_EQ(plan.manager().hca.port, 7);
  ASSERT_EQ(plan.trunks.size(), 4U);
  EXPECT_EQ(plan.trunks[0].leaf_port, 8);
  EXPECT_EQ(plan.trunks[2].leaf_port, 7);
  EXPECT_EQ(plan.trunks[3].spine_port, 4);
}

TEST(IbPlan, OneRackIsOneSwitch) {
  LabSpec spec = frr_spec();
  spec.racks = 1;
  const IbPlan plan = ib_plan_of(spec);
  EXPECT_EQ(plan.switches.size(), 1U);
  EXPECT_TRUE(plan.trunks.empty());
}

TEST(IbPlan, GuidsAreUniqueAndSixteenApartAndPortsAreTakenOnce) {
  LabSpec spec = frr_spec();
  spec.nodes = 150;
  spec.racks = 2;
  spec.hcas = 16;
  const IbPlan plan = ib_plan_of(spec);
  std::set<std::string> seen;
  for (const auto& port : plan.ports) {
    EXPECT_TRUE(seen.insert(port.hca.node_guid).second);
    EXPECT_TRUE(seen.insert(port.hca.guid).second);
    EXPECT_EQ(port.hca.guid, port.hca.node_guid.substr(0, 17) + "1");
    EXPECT_TRUE(seen.insert(port.hca.ib_switch + "/" + std::to_string(port.hca.port)).second);
  }
  for (const auto& trunk : plan.trunks) {
    EXPECT_TRUE(seen.insert(trunk.leaf + "/" + std::to_string(trunk.leaf_port)).second);
    EXPECT_TRUE(seen.insert(trunk.spine + "/" + std::to_string(trunk.spine_port)).second);
  }
  for (const auto& one : plan.switches) {
    EXPECT_TRUE(seen.insert(one.guid).second);
    EXPECT_GE(one.ports, 36);
  }
}

TEST(IbPlan, NetFileNamesBothEndsOfEveryCable) {
  LabSpec spec = frr_spec();
  spec.nodes = 2;
  const std::string net = render_ib_net(ib_plan_of(spec));
  for (const std::string part :
       {"switchguid=0x0002c90302000010(0002c90302000010)\nSwitch 36 \"S-0002c90302000010\" # "
        "\"ibleaf1\"\n[1] \"H-0002c90301000100\"[1]\n[2] \"H-0002c90301000000\"[1]\n"
        "[3] \"S-0002c90302000ff0\"[1]\n",
        "caguid=0x0002c90301000100\nHca 1 \"H-0002c90301000100\" # \"n01 mlx5_0\"\n"
        "[1](0002c90301000101) \"S-0002c90302000010\"[1]\n",
        "[4] \"S-0002c90302000020\"[3]\n"}) {
    EXPECT_NE(net.find(part), std::string::npos) << part << "\nin\n" << net;
  }
}

/// As ibsim 0.10 prints it.
const char* const dump =
    "sim> # Net status - Mon Nov 30 12:15:44 2026\n\n"
    "Switch 12 \"S-0000000000001001\"\tnodeguid 1001\tsysimgguid 1001\n"
    "#\tlinearcap 30720 FDBtop 3 portchange 0\n"
    "1001\t[1]\t\"H-0002c90300001000\"[1]\t  4x  2.5G Active/LinkUp\n\n"
    "Ca 1 \"H-0002c90300001000\"\tnodeguid 2c90300001000\tsysimgguid 2c90300001000\n"
    "2c90300001001\t[1]\t\"S-0000000000001001\"[1]\t lid 1 lmc 0 smlid 1  4x  2.5G Active/LinkUp\n"
    "\nCa 1 \"H-0002c90300002000\"\tnodeguid 2c90300002000\tsysimgguid 2c90300002000\n"
    "2c90300002001\t[1]\t\t\t lid 3 lmc 0 smlid 1  4x  2.5G Down/Polling\n";

TEST(IbPlan, DumpIsReadWhenItIsComplete) {
  EXPECT_TRUE(parse_ib_dump(dump).empty());
  const auto ports = parse_ib_dump(std::string(dump) + "#  dumped 3 nodes\nsim> ");
  ASSERT_EQ(ports.size(), 2U);
  EXPECT_EQ(ports[0].node_id, "H-0002c90300001000");
  EXPECT_EQ(ports[0].lid, 1);
  EXPECT_EQ(ports[0].state, "Active");
  EXPECT_EQ(ports[1].state, "Down");
  EXPECT_EQ(ports[1].physical, "Polling");
}

TEST(IbPlan, TablesAreReadWhole) {
  const auto keys = parse_ib_keys(
      "lid 3\n   0: 0x7fff 0x8110 0x0000\n   8: 0x0000\n64 pkeys capacity for this port\n"
      "lid 4\n\nlid 5\n   0: 0xffff\n");
  ASSERT_EQ(keys.size(), 2U);
  EXPECT_EQ(keys[0].lid, 3);
  EXPECT_EQ(keys[0].table, (std::vector<std::string>{"0x7fff", "0x8110", "0x0000", "0x0000"}));
  EXPECT_EQ(keys[1].lid, 5);
}

}  // namespace
}  // namespace tundish::lab
