// The SONiC transport without a switch: its programs, what follows from a patch, and the MACs of
// far ends. With a simulator: tests/contract/sonic_driver_test.cpp.
#include "families/switches/driver_sonic.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>

#include "families/switches/driver_lldp.hpp"
#include "families/switches/driver_sonic_scripts.hpp"
#include "families/switches/sonic_parts/sonic_parts.hpp"

namespace tundish::switches {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(SonicScripts, every_program_is_one_that_a_shell_takes) {
  const std::vector<SwitchStep> steps = {{"one", "config_db.json", "[]\n"},
                                         {"one", "applied", "present VLAN_TABLE:Vlan9\n"},
                                         {"two", "vtysh", "router bgp 1\n"}};
  for (const std::string& program :
       {sonic_config_program(seconds(5)), sonic_read_program(seconds(5)),
        sonic_run_program(steps, StepMode::strict, seconds(5)),
        sonic_run_program({}, StepMode::tolerant, seconds(5)), sonic_resume_program(seconds(5)),
        sonic_save_program(seconds(5))}) {
    FILE* shell = ::popen("sh -n", "w");
    ASSERT_NE(shell, nullptr);
    std::fputs(program.c_str(), shell);
    EXPECT_EQ(::pclose(shell), 0) << program;
    EXPECT_TRUE(program.ends_with("}\nmain\n"));
  }
}

TEST(SonicSteps, what_follows_from_a_patch_in_appl_db_is_waited_for) {
  const std::string config = R"({"VLAN":{"Vlan9":{"vlanid":"9"}},"VRF":{"Vrf00010":{}},
    "PORT":{"Ethernet0":{"admin_status":"down"}},
    "VLAN_MEMBER":{"Vlan9|Ethernet0":{"tagging_mode":"untagged"}}})";
  const std::string patch = R"([
    {"op":"remove","path":"/VLAN_MEMBER/Vlan9|Ethernet0"},
    {"op":"add","path":"/VLAN_INTERFACE/Vlan9","value":{"vrf_name":"Vrf00010"}},
    {"op":"add","path":"/VLAN_INTERFACE/Vlan9|10.9.0.1~124","value":{}},
    {"op":"add","path":"/VRF/Vrf00010/vni","value":"50010"},
    {"op":"add","path":"/PORT/Ethernet0/admin_status","value":"up"}])";
  const auto steps = suit_sonic_steps({{"all", "config_db.json", patch}}, config, StepMode::strict);
  ASSERT_TRUE(steps) << steps.error().message();
  ASSERT_EQ(steps->size(), 2u);
  EXPECT_EQ((*steps)[1].file, "applied");
  EXPECT_EQ((*steps)[1].text,
            "field PORT_TABLE:Ethernet0 admin_status up\n"
            "absent VLAN_MEMBER_TABLE:Vlan9:Ethernet0\n"
            "present INTF_TABLE:Vlan9\n"
            "field INTF_TABLE:Vlan9 vrf_name Vrf00010\n"
            "present INTF_TABLE:Vlan9:10.9.0.1/24\n"
            "present VXLAN_VRF_TABLE:vtep1:evpn_map_50010_Vrf00010\n");
}

TEST(SonicSteps, a_patch_that_does_not_fit_is_left_out_only_where_that_is_allowed) {
  const std::vector<SwitchStep> steps = {
      {"odd", "config_db.json", R"([{"op":"add","path":"/PORT/Ethernet9/mtu","value":"1"}])"}};
  EXPECT_FALSE(suit_sonic_steps(steps, "{}", StepMode::strict));
  const auto tolerant = suit_sonic_steps(steps, "{}", StepMode::tolerant);
  ASSERT_TRUE(tolerant);
  EXPECT_THAT(*tolerant, IsEmpty());
}

std::string dump(const std::string& entries) {
  std::string out = "{";
  std::size_t at = 0;
  while (at < entries.size()) {
    const std::size_t end = entries.find('\n', at);
    const std::string line = entries.substr(at, end - at);
    const std::size_t gap = line.find(' ');
    out += (out.size() > 1 ? "," : "") + ("\"" + line.substr(0, gap)) +
           R"(":{"type":"hash","value":)" + line.substr(gap + 1) + "}";
    at = end == std::string::npos ? entries.size() : end + 1;
  }
  return out + "}";
}

TEST(SonicApplied, a_port_is_where_the_hardware_has_it_and_the_difference_is_told) {
  const std::string config = R"({"VLAN":{"Vlan110":{"vlanid":"110","mtu":"9000"}},
    "PORT":{"Ethernet0":{"admin_status":"up"},"Ethernet4":{"admin_status":"up"}},
    "VLAN_MEMBER":{"Vlan110|Ethernet4":{"tagging_mode":"untagged"}}})";
  const std::string appl = dump(
      "VLAN_TABLE:Vlan110 {\"mtu\":\"9000\"}\n"
      "PORT_TABLE:Ethernet0 {\"admin_status\":\"down\"}\n"
      "PORT_TABLE:Ethernet4 {\"admin_status\":\"up\"}");
  const std::string asic = dump(
      "ASIC_STATE:SAI_OBJECT_TYPE_VLAN:oid:0x26 {\"SAI_VLAN_ATTR_VLAN_ID\":\"110\"}\n"
      "ASIC_STATE:SAI_OBJECT_TYPE_BRIDGE_PORT:oid:0x3a "
      "{\"SAI_BRIDGE_PORT_ATTR_PORT_ID\":\"oid:0x1\"}\n"
      "ASIC_STATE:SAI_OBJECT_TYPE_VLAN_MEMBER:oid:0x27 "
      "{\"SAI_VLAN_MEMBER_ATTR_VLAN_ID\":\"oid:0x26\","
      "\"SAI_VLAN_MEMBER_ATTR_BRIDGE_PORT_ID\":\"oid:0x3a\"}\n"
      "ASIC_STATE:SAI_OBJECT_TYPE_TUNNEL_MAP_ENTRY:oid:0x3b "
      "{\"SAI_TUNNEL_MAP_ENTRY_ATTR_VNI_ID_KEY\":\"10099\"}");
  const std::string counters = dump("COUNTERS_PORT_NAME_MAP {\"Ethernet0\":\"oid:0x1\"}");
  SwitchOwnership ownership;
  ownership.ports = {"Ethernet0", "Ethernet4"};
  std::vector<std::string> notes;
  const auto tables = sonic_parts::applied_tables(*sonic_parts::read_tables(config),
                                                  {appl, asic, counters, "{}"}, ownership, notes);
  ASSERT_TRUE(tables);
  const auto& members = tables->at("VLAN_MEMBER");
  EXPECT_TRUE(members.contains("Vlan110|Ethernet0")) << "CONFIG_DB has let it go, the ASIC not";
  EXPECT_FALSE(members.contains("Vlan110|Ethernet4")) << "it was told, and never came in";
  EXPECT_EQ(tables->at("PORT").at("Ethernet0").at("admin_status"), "down");
  EXPECT_THAT(notes, Contains(HasSubstr("VLAN_MEMBER|Vlan110|Ethernet4 is not applied")));
  EXPECT_THAT(notes, Contains("ASIC_DB: Ethernet0 is still in VLAN 110"));
  EXPECT_THAT(notes, Contains("ASIC_DB: VNI 10099 still has a map"));
  EXPECT_THAT(notes, Contains(HasSubstr("admin_status is applied as 'down', not 'up'")));
}

TEST(PlainMac, takes_every_way_of_writing_one_and_nothing_else) {
  for (const char* text : {"02:00:00:00:00:0A", "0200.0000.000a", "02-00-00-00-00-0a"}) {
    EXPECT_EQ(plain_mac(text), "02:00:00:00:00:0a") << text;
  }
  for (const char* text : {"", "eth0", "Ethernet1/1", "020000000001", "02:00:00:00:00"}) {
    EXPECT_EQ(plain_mac(text), "") << text;
  }
}

}  // namespace
}  // namespace tundish::switches
