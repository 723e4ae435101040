// The SONiC item: golden files, read-back, steps, a configuration that render never writes, and
// patches that `config apply-patch` takes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "families/switches/item_for_test.hpp"
#include "families/switches/sonic_parts/sonic_parts.hpp"

namespace tundish::switches {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const SwitchItem& item() { return *find_switch_item("sonic"); }

StateShape shape() {
  StateShape out;
  out.port_name = [](int i) { return "Ethernet" + std::to_string(4 * (i - 1)); };
  return out;
}

TEST(SwitchSonic, golden_files) { expect_golden(item(), shape()); }

TEST(SwitchSonic, what_is_rendered_reads_back_and_steps_name_what_changed) {
  expect_item_holds(item(), shape());
}

TEST(SwitchSonic, a_configuration_that_somebody_else_wrote_reads_right) {
  SwitchOwnership ownership;
  ownership.ports = {"Ethernet0", "Ethernet4", "Ethernet8"};
  const auto seen = *item().parse(data_files("sonic", {"config_db.json", "frr.conf"}), ownership);
  EXPECT_THAT(seen.unclear, IsEmpty());
  ASSERT_EQ(seen.own.vrfs.size(), 1u);
  EXPECT_EQ(seen.own.vrfs[0].l3vni, 50010);
  EXPECT_EQ(seen.own.vrfs[0].l3vlan, 2010);
  EXPECT_THAT(seen.own.vrfs[0].import_targets, ElementsAre("65000:50010"));
  ASSERT_EQ(seen.own.segments.size(), 1u);
  EXPECT_EQ(seen.own.segments[0].gateway, "10.10.0.1/24");
  EXPECT_EQ(seen.own.segments[0].mtu, 9000);
  ASSERT_EQ(seen.own.ports.size(), 3u);
  EXPECT_EQ(seen.own.ports[0].vlan, 110);
  EXPECT_EQ(seen.own.ports[1].mode, PortMode::quarantine);
  EXPECT_EQ(seen.own.ports[2].vrf, "Vrf00010");
  EXPECT_EQ(seen.own.anycast_mac, "00:00:5e:00:01:10");
  EXPECT_THAT(seen.foreign.vrfs, ElementsAre("Vrf_blue"));
  EXPECT_THAT(seen.foreign.vlans, ElementsAre(3400));
  EXPECT_THAT(seen.foreign.vnis, ElementsAre(4000, 4001));
  EXPECT_THAT(seen.foreign.acls, ElementsAre("DATAACL"));
}

TEST(SwitchSonic, a_change_by_hand_is_read_as_a_difference_or_as_unclear) {
  const SwitchState state = golden_cases(item().capabilities(), shape())[2].to;
  const std::pair<const char*, const char*> changes[] = {
      {"\"vni\": \"50010\"", "\"vni\": \"50011\""},
      {"\"vrf_name\": \"Vrf00010\"", "\"vrf_name\": \"Vrf60001\""},
      {"\"tagging_mode\": \"untagged\"", "\"tagging_mode\": \"tagged\""},
      {"\"static_anycast_gateway\": \"true\"", "\"proxy_arp\": \"enabled\""},
      {"\"PACKET_ACTION\": \"DROP\"", "\"PACKET_ACTION\": \"FORWARD\""},
      {"Vlan110|Ethernet0", "Vlan112|Ethernet0"},
      {"\"admin_status\": \"down\"", "\"admin_status\": \"up\""},
      {"\"Ethernet0\",", ""},
  };
  for (const auto& [from, to] : changes) {
    SwitchFiles files = *item().render(state);
    files[0].text = replaced(files[0].text, from, to);
    const auto seen = *item().parse(files, ownership_for_test(state));
    EXPECT_TRUE(!(seen.own == state) || !seen.unclear.empty()) << from << " -> " << to;
  }
}

TEST(SwitchSonic, a_vlan_has_its_vni_before_a_vrf_has_one_and_loses_it_after) {
  const auto cases = golden_cases(item().capabilities(), shape());
  const std::string create = show(steps_between(item(), cases[0].from, cases[0].to));
  EXPECT_LT(create.find("map_50010_Vlan2010"), create.find("\"/VRF/Vrf00010/vni\""));
  const std::string gone = show(steps_between(item(), cases[4].from, cases[4].to));
  EXPECT_LT(gone.find("{\"op\":\"remove\",\"path\":\"/VRF/Vrf00010/vni\"}"),
            gone.find("/VXLAN_TUNNEL_MAP/vtep1|map_50010_Vlan2010"));
}

TEST(SwitchSonic, a_name_that_sonic_cannot_hold_is_refused) {
  SwitchState state = golden_cases(item().capabilities(), shape())[0].to;
  state.vrfs[0].name = "tenant00010";
  state.segments[0].vrf = "tenant00010";
  const auto result = item().accept(state);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().object, "vrf/tenant00010");
  EXPECT_THAT(result.error().remedy, HasSubstr("Vrf00010"));
  state = golden_cases(item().capabilities(), shape())[0].to;
  state.ports[3].name = "swp1";
  EXPECT_FALSE(item().accept(state).has_value());
}

TEST(SwitchSonic, a_patch_is_fitted_to_the_tables_that_are_there) {
  const std::string patch =
      R"([{"op":"add","path":"/VLAN/Vlan110","value":{"vlanid":"110"}},
          {"op":"add","path":"/VRF/Vrf00010","value":{}},
          {"op":"remove","path":"/VLAN_MEMBER/Vlan9|Ethernet0"},
          {"op":"remove","path":"/ACL_TABLE/NONE"}])";
  const auto fitted =
      sonic_parts::fit_patch(patch, R"({"VRF":{"Vrf_x":{}},"VLAN_MEMBER":{"Vlan9|Ethernet0":{}}})");
  ASSERT_TRUE(fitted.has_value()) << fitted.error().message();
  EXPECT_THAT(*fitted, HasSubstr(R"({"op":"add","path":"/VLAN","value":{"Vlan110")"));
  EXPECT_THAT(*fitted, HasSubstr(R"("path":"/VRF/Vrf00010")"));
  EXPECT_THAT(*fitted, HasSubstr(R"({"op":"remove","path":"/VLAN_MEMBER"})"));
  EXPECT_THAT(*fitted, Not(HasSubstr("ACL_TABLE")));
  EXPECT_FALSE(sonic_parts::fit_patch("[", "{}").has_value());
}

/// What the steps of every golden case do to a real document: the tables that are rendered.
TEST(SwitchSonic, patches_lead_to_the_rendered_tables) {
  for (const auto& one : golden_cases(item().capabilities(), shape())) {
    std::string config = (*item().render(one.from))[0].text;
    for (const auto& step : steps_between(item(), one.from, one.to)) {
      if (step.file != "config_db.json") continue;
      const auto fitted = sonic_parts::fit_patch(step.text, config);
      ASSERT_TRUE(fitted.has_value()) << one.name << ": " << fitted.error().message();
      const auto next = sonic_parts::apply_patch(*fitted, config);
      ASSERT_TRUE(next.has_value())
          << one.name << " " << step.what << ": " << next.error().message();
      config = *next;
    }
    EXPECT_EQ(config, (*item().render(one.to))[0].text) << one.name;
  }
}

TEST(SwitchSonic, patches_of_random_changes_lead_to_the_rendered_tables) {
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    StateMaker maker(seed, item().capabilities(), shape());
    const SwitchState from = maker.make(4), to = maker.change(from);
    std::string config = (*item().render(from))[0].text;
    for (const auto& port : to.ports) {  // a real switch has a row of every port it has
      if (find_port(from, port.name) != nullptr) continue;
      const std::string row = R"([{"op":"add","path":"/PORT/)" + port.name +
                              R"(","value":{"admin_status":"down","lanes":"1"}}])";
      config = *sonic_parts::apply_patch(row, config);
    }
    for (const auto& step : steps_between(item(), from, to)) {
      if (step.file != "config_db.json") continue;
      const auto fitted = sonic_parts::fit_patch(step.text, config);
      ASSERT_TRUE(fitted.has_value())
          << seed << " " << step.what << ": " << fitted.error().message();
      const auto next = sonic_parts::apply_patch(*fitted, config);
      ASSERT_TRUE(next.has_value())
          << seed << " " << step.what << step.text << ": " << next.error().message();
      config = *next;
    }
    // Ports that are given up keep their row: it is the administrator's.
    const auto seen =
        item().parse({{"config_db.json", config}, (*item().render(to))[1]}, ownership_for_test(to));
    ASSERT_TRUE(seen.has_value());
    EXPECT_TRUE(seen->own == to) << seed;
    EXPECT_TRUE(seen->unclear.empty()) << seed << ": " << seen->unclear[0];
  }
}

}  // namespace
}  // namespace tundish::switches
