// The NX-OS item: golden files, read-back of random states, steps on a switch of the test's own,
// and configurations that render never writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "families/switches/line_switch_for_test.hpp"
#include "families/switches/steps_for_test.hpp"

namespace tundish::switches {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const SwitchItem& item() { return *find_switch_item("nxos"); }

StateShape shape() {
  StateShape out;
  out.port_name = [](int i) { return "Ethernet1/" + std::to_string(i); };
  return out;
}

SwitchFiles apply(const SwitchFiles& files, const std::vector<SwitchStep>& steps) {
  LineSwitch nexus({"description", "switchport access vlan", "mtu", "rd", "ip address", "name",
                    "vrf context>vni", "vn-segment", "fabric forwarding anycast-gateway-mac"},
                   "interface Vlan");
  nexus.run(files[0].text);
  for (const auto& step : steps) {
    EXPECT_EQ(step.file, "running-config");
    nexus.run(step.text);
  }
  EXPECT_THAT(nexus.faults(), IsEmpty());
  return {{"running-config", nexus.text()}};
}

SwitchSeen seen_in(const std::string& text, const std::vector<std::string>& ports) {
  SwitchOwnership ownership;
  ownership.ports = ports;
  return *item().parse({{"running-config", text}}, ownership);
}

std::string data(const std::string& name) {
  return read_for_test(std::string(TUNDISH_SOURCE_DIR) + "/tests/data/switches/nxos/" + name);
}

TEST(Nxos, golden) { expect_golden(item(), shape()); }
TEST(Nxos, reads_back_what_it_writes) { expect_item_holds(item(), shape()); }
TEST(Nxos, steps_lead_to_the_wanted_state) { expect_steps_lead(item(), shape(), apply); }
TEST(Nxos, resumes_after_any_step) { expect_steps_resume(item(), shape(), apply); }
TEST(Nxos, isolation_first_deletion_last) { expect_isolation_first(item(), shape()); }

/// What tests/data/switches/nxos/leaf.txt says.
SwitchState state_of_leaf() {
  SwitchState want;
  want.asn = 65001;
  want.router_id = "10.255.0.5";
  want.vtep_address = "10.255.1.5";
  want.anycast_mac = "02:00:5e:00:00:01";
  VrfState acme{"Vrf00010",
                "acme train",
                10,
                50010,
                2010,
                "10.255.0.5:10",
                {"65000:50010"},
                {"65000:50010"},
                {{"Vrf60001", {"10.200.0.0/24"}}},
                {{"100.64.0.10/32", "10.10.0.11"}}};
  VrfState storage{"Vrf60001",      "", 60001, 60001, 0, "10.255.0.5:60001", {"65000:60001"},
                   {"65000:60001"}, {}, {}};
  want.vrfs = {acme, storage};
  want.segments = {{"Vrf00010",
                    110,
                    10110,
                    "10.255.0.5:110",
                    {"65000:10110"},
                    {"65000:10110"},
                    "10.10.0.1/24",
                    "T-10-IN",
                    1500},
                   {"Vrf60001",
                    111,
                    10111,
                    "10.255.0.5:111",
                    {"65000:10111", "65001:10111"},
                    {"65000:10111"},
                    "10.200.0.1/24",
                    "",
                    9000},
                   {"", 500, 0, "", {}, {}, "", "", 1500}};
  // Ethernet1/8 is as it came from the factory: in no state of ours, so it is not in the list.
  want.ports = {{"Ethernet1/5", PortMode::access, 110, "", "", "n001 eth0"},
                {"Ethernet1/6", PortMode::routed, 0, "Vrf00010", "10.64.0.0/31", ""},
                {"Ethernet1/7", PortMode::quarantine, 0, "", "", ""}};
  want.acls = {{"T-10-IN",
                {{10, AclAction::permit, "tcp", "", "10.10.0.7/32", 80, 0},
                 {20, AclAction::permit, "udp", "10.10.0.0/16", "", 4791, 4792},
                 {30, AclAction::deny, "ip", "", "", 0, 0}}}};
  return want;
}

TEST(Nxos, reads_a_configuration_that_it_never_writes) {
  const SwitchSeen seen =
      seen_in(data("leaf.txt"), {"Ethernet1/5", "Ethernet1/6", "Ethernet1/7", "Ethernet1/8"});
  EXPECT_THAT(seen.unclear, IsEmpty());
  const SwitchState want = state_of_leaf();
  EXPECT_EQ(render_json(seen.own, 1), render_json(want, 1));
  EXPECT_THAT(seen.foreign.vlans, ElementsAre(1, 3001));
  EXPECT_THAT(seen.foreign.vnis, ElementsAre(13001, 13010));
  EXPECT_THAT(seen.foreign.vrfs, ElementsAre("PROD", "management"));
  EXPECT_THAT(seen.foreign.route_targets, ElementsAre("13:13"));
  EXPECT_THAT(seen.foreign.acls, ElementsAre("ADMINS"));
}

/// What a person may have changed by hand in a rendered configuration, and what must be told.
TEST(Nxos, what_is_not_understood_within_our_objects_is_told) {
  const auto cases = golden_cases(item().capabilities(), shape());
  const SwitchState& state = cases[2].to;
  const std::string good = (*item().render(state))[0].text;
  const auto told = [&](const std::string& text) {
    return (*item().parse({{"running-config", text}}, ownership_for_test(state))).unclear;
  };
  ASSERT_THAT(told(good), IsEmpty());
  const std::pair<const char*, const char*> added[] = {
      {"interface Vlan110\n  ip address 10.9.9.1/24 secondary\n", "secondary"},
      {"interface Vlan2010\n  ip address 10.9.9.1/24\n", "10.9.9.1/24"},
      {"interface Ethernet1/1\n  switchport mode trunk\n", "switchport mode trunk"},
      {"interface Ethernet1/1\n  shutdown\n", "half way"},
      {"router bgp 1\n  vrf Vrf00010\n    neighbor 10.0.0.1\n", "neighbor"},
      {"vrf context Vrf00010\n  ip route 0.0.0.0/0 10.0.0.1\n", "ip route"},
      {"vrf context Vrf00010\n  address-family ipv4 unicast\n    route-target both auto evpn\n",
       "auto"},
      {"vrf context Vrf00010\n  address-family ipv4 unicast\n    import vrf default map X\n",
       "import vrf default"},
      {"evpn\n  vni 10010 l2\n    route-target both auto\n", "auto"},
      {"interface nve1\n  member vni 10010\n    mcast-group 239.1.1.1\n", "mcast-group"},
      {"interface nve1\n  member vni 20123\n", "20123 belongs to no object"},
      {"evpn\n  vni 20124 l2\n", "20124 belongs to no object"},
      {"interface Ethernet1/40\n  switchport access vlan 110\n", "Ethernet1/40"},
      {"interface Ethernet1/40\n  vrf member Vrf00010\n", "Ethernet1/40: vrf member"},
      {"ip prefix-list Vrf00010-FROM-Vrf60001 seq 7 permit 0.0.0.0/0 ge 8\n", "0.0.0.0/0 ge 8"},
      {"route-map Vrf00010-IMPORT permit 99\n", "does not permit a list"},
      {"ip extcommunity-list standard Vrf00010-OWN seq 99 permit rt 65000:60001\n", "own targets"},
      {"ip extcommunity-list standard Vrf00010-FROM-Vrf60001 seq 99 permit rt 65000:1\n",
       "not those of one VRF"}};
  for (const auto& [text, want] : added) {
    EXPECT_THAT(told(good + text), Contains(HasSubstr(want))) << text;
  }
}

/// One line of ours, written otherwise by hand: it is told by name, whatever it was for.
TEST(Nxos, a_line_of_ours_changed_by_hand_is_told) {
  const auto cases = golden_cases(item().capabilities(), shape());
  const std::string good = (*item().render(cases[2].to))[0].text;
  const std::tuple<const char*, const char*, const char*> changes[] = {
      {"  name Vrf00010\n", "  name Vrf60001\n", "name Vrf60001"},
      {"  name seg10010\n", "  name seg10011\n", "name seg10011"},
      {"mtu 9216\n  vrf member Vrf00010", "mtu 1500\n  vrf member Vrf00010", "mtu 1500"},
      {"redistribute direct route-map Vrf00010-DIRECT", "redistribute direct route-map NONE",
       "NONE does not permit"},
      {"redistribute direct route-map Vrf00010-DIRECT",
       "redistribute direct route-map Vrf60001-DIRECT", "map of another VRF"},
      {"route-map Vrf00010-DIRECT permit", "route-map Vrf00010-DIRECT deny", "does not permit"},
      {"    route-target import 65000:50010\n", "", "with evpn only"},
      {"    route-target export 65000:50010\n", "", "exports differ"},
      {"  vrf Vrf00010\n    address-family", "  vrf Vrf60001\n    address-family",
       "does not redistribute"}};
  for (const auto& [old, now, want] : changes) {
    std::string text = good;
    ASSERT_NE(text.find(old), std::string::npos) << old;
    text.replace(text.find(old), std::string(old).size(), now);
    const auto seen = item().parse({{"running-config", text}}, ownership_for_test(cases[2].to));
    EXPECT_THAT(seen->unclear, Contains(HasSubstr(want))) << old;
  }
}

/// The tunnel says that the VNI is there, the VLAN or its interface says that it is not.
TEST(Nxos, an_l3vni_that_its_vlan_does_not_carry_is_told) {
  const auto cases = golden_cases(item().capabilities(), shape());
  const std::string good = (*item().render(cases[2].to))[0].text;
  const std::pair<const char*, const char*> changes[] = {
      {"  vn-segment 50010\n", ""},
      {"vlan 2010\n", "vlan 2011\n"},
      {"  ip forward\n", ""},
      {"interface Vlan2010\n  no shutdown\n", "interface Vlan2010\n"}};
  for (const auto& [old, now] : changes) {
    std::string text = good;
    ASSERT_NE(text.find(old), std::string::npos) << old;
    text.replace(text.find(old), std::string(old).size(), now);
    const auto seen = item().parse({{"running-config", text}}, ownership_for_test(cases[2].to));
    EXPECT_THAT(seen->unclear, Contains(HasSubstr("does not carry VNI"))) << old;
  }
}

/// A target that no map ties to prefixes is an import, whichever of the two kinds it is.
TEST(Nxos, an_import_without_a_map_is_an_import) {
  const auto cases = golden_cases(item().capabilities(), shape());
  const std::string good = (*item().render(cases[2].to))[0].text;
  for (const std::string kind : {"", " evpn"}) {
    const auto seen = item().parse(
        {{"running-config", good + "vrf context Vrf00010\n  address-family ipv4 unicast\n    " +
                                "route-target import 65000:50020" + kind + "\n"}},
        ownership_for_test(cases[2].to));
    EXPECT_THAT(find_vrf(seen->own, "Vrf00010")->import_targets,
                ElementsAre("65000:50010", "65000:50020"))
        << kind;
  }
}

TEST(Nxos, refuses_what_nxos_cannot_hold) {
  const auto cases = golden_cases(item().capabilities(), shape());
  const SwitchState good = cases[2].to;
  ASSERT_TRUE(item().accept(good).has_value()) << item().accept(good).error().message();
  const auto refused = [&](auto change) {
    SwitchState bad = good;
    change(bad);
    const auto result = item().accept(bad);
    EXPECT_FALSE(item().render(bad).has_value());
    EXPECT_FALSE(item().steps(good, bad).has_value());
    return result ? std::string() : result.error().message();
  };
  EXPECT_THAT(refused([](auto& s) { s.ports[0].name = "Ethernet1"; }), HasSubstr("Ethernet1/3"));
  EXPECT_THAT(refused([](auto& s) { s.vrfs[0].l3vlan = 3968; }), HasSubstr("reserved"));
  EXPECT_THAT(refused([](auto& s) { s.vrfs[0].l3vlan = 0; }), HasSubstr("VLAN 0"));
  EXPECT_THAT(refused([](auto& s) { s.segments[0].vlan = s.ports[0].vlan = 4000; }),
              HasSubstr("reserved"));
  EXPECT_THAT(refused([](auto& s) { s.segments[0].gateway = "10.200.0.1/25"; }),
              HasSubstr("overlaps"));
  EXPECT_THAT(refused([](auto& s) {
                s.segments[1].gateway = "10.201.0.1/24";
                s.vrfs[1].leaks[0].prefixes = {"10.200.0.0/25"};
              }),
              HasSubstr("does not leak again"));
  EXPECT_THAT(refused([](auto& s) { s.vrfs[0].import_targets.push_back("65000:60001"); }),
              HasSubstr("without a limit"));
}

}  // namespace
}  // namespace tundish::switches
