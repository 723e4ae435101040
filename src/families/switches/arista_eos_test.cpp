// The EOS item: golden files, read-back of random states, steps on a switch of the test's own, and
// configurations that render never writes.
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

const SwitchItem& item() { return *find_switch_item("arista_eos"); }

StateShape shape() {
  StateShape out;
  out.port_name = [](int i) { return "Ethernet" + std::to_string(i); };
  return out;
}

SwitchFiles apply(const SwitchFiles& files, const std::vector<SwitchStep>& steps) {
  LineSwitch eos({"description", "switchport access vlan", "mtu", "rd", "ip address virtual",
                  "ip address", "name", "ip virtual-router mac-address"});
  eos.run(files[0].text);
  for (const auto& step : steps) {
    EXPECT_EQ(step.file, "running-config");
    eos.run(step.text);
  }
  EXPECT_THAT(eos.faults(), IsEmpty());
  return {{"running-config", eos.text()}};
}

SwitchSeen seen_in(const std::string& text, const std::vector<std::string>& ports) {
  SwitchOwnership ownership;
  ownership.ports = ports;
  return *item().parse({{"running-config", text}}, ownership);
}

std::string data(const std::string& name) {
  return read_for_test(std::string(TUNDISH_SOURCE_DIR) + "/tests/data/switches/arista_eos/" + name);
}

TEST(AristaEos, golden) { expect_golden(item(), shape()); }
TEST(AristaEos, reads_back_what_it_writes) { expect_item_holds(item(), shape()); }
TEST(AristaEos, steps_lead_to_the_wanted_state) { expect_steps_lead(item(), shape(), apply); }
TEST(AristaEos, resumes_after_any_step) { expect_steps_resume(item(), shape(), apply); }
TEST(AristaEos, isolation_first_deletion_last) { expect_isolation_first(item(), shape()); }

AclState acl_of_leaf() {
  return {"T-10-IN",
          {{20, AclAction::permit, "tcp", "", "10.10.0.7/32", 22, 0},
           {30, AclAction::permit, "tcp", "10.10.0.0/16", "10.200.0.0/24", 2049, 2050},
           {40, AclAction::deny, "ip", "", "", 0, 0}}};
}

VrfState storage_of_leaf() {
  return {"Vrf60001",
          "",
          60001,
          60001,
          0,
          "10.255.0.5:60001",
          {"65000:60001"},
          {"65000:60001"},
          {{"Vrf00010", {"100.64.0.10/32", "100.64.0.11/32"}}},
          {}};
}

/// What tests/data/switches/arista_eos/leaf.txt says.
SwitchState state_of_leaf() {
  SwitchState want;
  want.asn = 4200000000;
  want.router_id = "10.255.0.5";
  want.vtep_address = "10.255.1.5";
  want.anycast_mac = "00:1c:73:00:00:99";
  VrfState acme{"Vrf00010",
                "acme train",
                10,
                50010,
                0,
                "10.255.0.5:10",
                {"65000:50010"},
                {"65000:50010"},
                {{"Vrf60001", {"10.200.0.0/24"}}},
                {{"100.64.0.10/32", "10.10.0.11"}}};
  want.vrfs = {acme, storage_of_leaf()};
  want.segments = {{"Vrf00010",
                    110,
                    10110,
                    "10.255.0.5:110",
                    {"65000:10110"},
                    {"65000:10110"},
                    "10.10.0.1/24",
                    "T-10-IN",
                    1500},
                   {"Vrf00010",
                    111,
                    10111,
                    "10.255.0.5:111",
                    {"65000:10111", "65001:10111"},
                    {"65000:10111"},
                    "10.10.1.1/24",
                    "",
                    9000},
                   {"Vrf60001",
                    112,
                    10112,
                    "10.255.0.5:112",
                    {"65000:10112"},
                    {"65000:10112"},
                    "10.200.0.1/24",
                    "",
                    9000}};
  // Ethernet8 is as it came from the factory: in no state of ours, so it is not in the list.
  want.ports = {{"Ethernet5", PortMode::access, 110, "", "", "n001 eth0"},
                {"Ethernet6", PortMode::routed, 0, "Vrf00010", "10.64.0.0/31", "n002 gpu0"},
                {"Ethernet7", PortMode::quarantine, 0, "", "", ""},
                {"Ethernet9", PortMode::access, 3009, "", "", ""}};
  want.acls = {acl_of_leaf()};
  return want;
}

TEST(AristaEos, reads_a_configuration_that_it_never_writes) {
  const SwitchSeen seen =
      seen_in(data("leaf.txt"), {"Ethernet5", "Ethernet6", "Ethernet7", "Ethernet8", "Ethernet9"});
  EXPECT_THAT(seen.unclear, IsEmpty());
  const SwitchState want = state_of_leaf();
  EXPECT_EQ(render_json(seen.own, 1), render_json(want, 1));
  EXPECT_THAT(seen.foreign.vlans, ElementsAre(3009, 4093, 4094));
  EXPECT_THAT(seen.foreign.vnis, ElementsAre(11, 13009));
  EXPECT_THAT(seen.foreign.vrfs, ElementsAre("MGMT", "PROD"));
  EXPECT_THAT(seen.foreign.route_targets, ElementsAre("11:11", "13009:13009"));
  EXPECT_THAT(seen.foreign.acls, ElementsAre("ADMINS"));
}

/// What a person may have added by hand, and the words that must come back.
TEST(AristaEos, what_is_not_understood_within_our_objects_is_told) {
  const std::pair<const char*, const char*> rows[] = {
      {"interface Vlan110\n   ip proxy-arp\n", "ip proxy-arp"},
      {"interface Vlan110\n   ip address 10.10.0.2/24\n", "ip address 10.10.0.2/24"},
      {"interface Ethernet5\n   switchport mode trunk\n", "switchport mode trunk"},
      {"interface Ethernet5\n   switchport access vlan 110\n   shutdown\n", "half way"},
      {"router bgp 65000\n   vrf Vrf00010\n      neighbor 10.0.0.1 remote-as 1\n", "neighbor"},
      {"router bgp 65000\n   vlan 110\n      route-target import export evpn domain remote 1:1\n",
       "domain remote"},
      {"ip route vrf Vrf00010 0.0.0.0/0 10.10.0.9\n", "ip route vrf Vrf00010"},
      {"interface Ethernet40\n   vrf Vrf00010\n", "interface Ethernet40: vrf Vrf00010"},
      {"interface Ethernet40\n   switchport access vlan 110\n", "interface Ethernet40"},
      {"router general\n   vrf PROD\n      leak routes source-vrf Vrf00010 subscribe-policy X\n",
       "source-vrf Vrf00010"},
      {"router general\n   vrf Vrf00010\n      leak routes source-vrf Vrf00020 subscribe-policy "
       "X\n",
       "route-map X"},
      {"ip access-list T-10-IN\n   10 permit tcp any any established\n", "established"},
      {"ip access-list standard T-10-IN\n   10 permit any\n", "standard T-10-IN"},
      {"vrf instance Vrf00010\n   rd 1:1\n", "rd 1:1"}};
  for (const auto& [text, want] : rows) {
    EXPECT_THAT(seen_in(text, {"Ethernet5"}).unclear, Contains(HasSubstr(want))) << text;
  }
}

/// One line of ours, written otherwise by hand: it is told by name, whatever it was for.
TEST(AristaEos, a_line_of_ours_changed_by_hand_is_told) {
  const auto cases = golden_cases(item().capabilities(), shape());
  const std::string good = (*item().render(cases[2].to))[0].text;
  const std::tuple<const char*, const char*, const char*> changes[] = {
      {"ip routing vrf Vrf00010\n", "", "no ip routing vrf Vrf00010"},
      {"vrf instance Vrf00010\n", "vrf instance Vrf60001\n", "no vrf instance Vrf00010"},
      {"vlan 110\n", "vlan 112\n", "no vlan 110"},
      {"name seg10010", "name seg10011", "name seg10011"}};
  for (const auto& [old, now, want] : changes) {
    std::string text = good;
    ASSERT_NE(text.find(old), std::string::npos) << old;
    text.replace(text.find(old), std::string(old).size(), now);
    const auto seen = item().parse({{"running-config", text}}, ownership_for_test(cases[2].to));
    EXPECT_THAT(seen->unclear, Contains(HasSubstr(want))) << old;
  }
}

TEST(AristaEos, refuses_what_eos_cannot_hold) {
  StateMaker maker(3, item().capabilities(), shape());
  const SwitchState good = maker.make(2);
  ASSERT_TRUE(item().accept(good).has_value()) << item().accept(good).error().message();
  SwitchState bad = good;
  bad.ports[0].name = "swp1";
  ASSERT_FALSE(item().accept(bad).has_value());
  EXPECT_EQ(item().accept(bad).error().object, "port/swp1");
  EXPECT_THAT(item().accept(bad).error().remedy, HasSubstr("Ethernet3/1"));
  EXPECT_FALSE(item().render(bad).has_value());
  EXPECT_FALSE(item().steps(good, bad).has_value());
}

TEST(AristaEos, a_switch_under_other_numbers_is_not_changed) {
  StateMaker maker(3, item().capabilities(), shape());
  const SwitchState from = maker.make(2);
  SwitchState to = maker.change(from);
  to.asn = 65432;
  const auto steps = item().steps(from, to);
  ASSERT_FALSE(steps.has_value());
  EXPECT_EQ(steps.error().code, Code::conflict);
}

}  // namespace
}  // namespace tundish::switches
