// The Junos item: golden files, read-back of random states, steps on a switch of the test's own,
// and configurations that render never writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "families/switches/junos_parts/parts.hpp"
#include "families/switches/steps_for_test.hpp"

namespace tundish::switches {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const SwitchItem& item() { return *find_switch_item("junos"); }

StateShape shape() {
  StateShape out;
  out.port_name = [](int i) { return "et-0/0/" + std::to_string(i); };
  return out;
}

/// A switch that takes `set` and `delete`. It knows words only by position, not what they mean.
class StatementSwitch {
 public:
  void run(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      const std::size_t blank = line.find(' ');
      const std::string verb = line.substr(0, blank), path = line.substr(blank + 1);
      if (verb == "set")
        set(path);
      else if (verb == "delete")
        remove(path);
      else
        faults_.push_back(line);
    }
  }

  SwitchFiles files() const {
    std::string text;
    for (const auto& line : lines_) text += "set " + line + "\n";
    return {{"configuration", text}};
  }
  const std::vector<std::string>& faults() const { return faults_; }

 private:
  static bool begins(const std::string& line, const std::string& head) {
    return line.starts_with(head) && (line.size() == head.size() || line[head.size()] == ' ');
  }

  void set(const std::string& path) {
    static const char* const single[] = {" description ", " mtu ",    " vni ",
                                         " mac ",         " input ",  " vlan-id ",
                                         " import ",      " export ", " route-distinguisher ",
                                         " router-id "};
    for (const char* key : single) {
      const std::size_t at = path.find(key);
      if (at == std::string::npos) continue;
      const std::string head = path.substr(0, at + std::string_view(key).size() - 1);
      std::erase_if(lines_, [&](const std::string& line) { return begins(line, head); });
      break;
    }
    if (std::find(lines_.begin(), lines_.end(), path) == lines_.end()) lines_.push_back(path);
  }

  void remove(const std::string& path) {
    const auto gone =
        std::erase_if(lines_, [&](const std::string& line) { return begins(line, path); });
    // A port that nothing is known of is cleared whether it holds something or not.
    const bool port = std::ranges::count(path, ' ') == 1 && path.starts_with("interfaces ");
    if (gone == 0 && !port) faults_.push_back("statement not found: " + path);
  }

  std::vector<std::string> lines_, faults_;
};

SwitchFiles apply(const SwitchFiles& files, const std::vector<SwitchStep>& steps) {
  StatementSwitch junos;
  junos.run(files[0].text);
  for (const auto& step : steps) {
    EXPECT_EQ(step.file, "configuration");
    junos.run(step.text);
  }
  EXPECT_THAT(junos.faults(), IsEmpty());
  return junos.files();
}

TEST(Junos, golden) { expect_golden(item(), shape()); }
TEST(Junos, reads_back_what_it_writes) { expect_item_holds(item(), shape()); }
TEST(Junos, steps_lead_to_the_wanted_state) { expect_steps_lead(item(), shape(), apply); }
TEST(Junos, isolation_first_deletion_last) { expect_isolation_first(item(), shape()); }

SwitchSeen seen_in(const std::string& text, const std::vector<std::string>& ports) {
  SwitchOwnership ownership;
  ownership.ports = ports;
  return *item().parse({{"configuration", text}}, ownership);
}

/// What tests/data/switches/junos/leaf.txt says.
SwitchState state_of_leaf() {
  SwitchState want;
  want.asn = 4200000000;
  want.router_id = "10.255.0.5";
  want.vtep_address = "10.255.1.5";
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
  VrfState storage{"Vrf60001",
                   "",
                   60001,
                   60001,
                   0,
                   "10.255.0.5:60001",
                   {"65000:60001", "65001:60001"},
                   {"65000:60001"},
                   {{"Vrf00010", {"100.64.0.10/32", "100.64.0.11/32"}}},
                   {}};
  want.vrfs = {acme, storage};
  want.segments = {{"Vrf00010",
                    110,
                    10110,
                    "10.255.0.5:110",
                    {"65000:10110"},
                    {"65000:10110"},
                    "10.10.0.1/24",
                    "T-10-IN",
                    9000},
                   {"Vrf60001",
                    111,
                    10111,
                    "10.255.0.5:111",
                    {"65000:10111"},
                    {"65000:10112"},
                    "10.200.0.1/24",
                    "",
                    1500}};
  want.ports = {{"et-0/0/5", PortMode::access, 110, "", "", "n001 eth0"},
                {"et-0/0/6", PortMode::routed, 0, "Vrf00010", "10.64.0.0/31", ""},
                {"et-0/0/7", PortMode::quarantine, 0, "", "", "spare"}};
  want.acls = {{"T-10-IN",
                {{10, AclAction::permit, "tcp", "", "10.10.0.7/32", 22, 0},
                 {20, AclAction::deny, "udp", "10.10.0.0/16", "", 4791, 4792}}}};
  return want;
}

TEST(Junos, reads_a_configuration_that_it_never_writes) {
  const SwitchSeen seen = seen_in(
      read_for_test(std::string(TUNDISH_SOURCE_DIR) + "/tests/data/switches/junos/leaf.txt"),
      {"et-0/0/5", "et-0/0/6", "et-0/0/7", "et-0/0/8"});
  EXPECT_THAT(seen.unclear, IsEmpty());
  const SwitchState want = state_of_leaf();
  EXPECT_EQ(render_json(seen.own, 1), render_json(want, 1));
  EXPECT_THAT(seen.foreign.vlans, ElementsAre(3009));
  EXPECT_THAT(seen.foreign.vnis, ElementsAre(13009));
  EXPECT_THAT(seen.foreign.vrfs, ElementsAre("PROD"));
  EXPECT_THAT(seen.foreign.route_targets, ElementsAre("13:13", "14:14"));
  EXPECT_THAT(seen.foreign.acls, ElementsAre("ADMINS"));
}

/// The same configuration in braces, as `show configuration` has it.
std::string in_braces(const std::string& set_lines) {
  std::string out;
  for (const auto& words : juniper::parse_statements(set_lines).lines) {
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
      out += juniper::render_statement({words[i]}) + " {\n";
    }
    out += juniper::render_statement({words.back()}) + ";\n";
    for (std::size_t i = 0; i + 1 < words.size(); ++i) out += "}\n";
  }
  return out;
}

TEST(Junos, braces_say_the_same_as_set_lines) {
  for (int seed = 1; seed < 40; ++seed) {
    StateMaker maker(static_cast<std::uint32_t>(seed), item().capabilities(), shape());
    const SwitchState state = maker.make(seed % 5);
    const std::string text = (*item().render(state))[0].text;
    const auto seen = item().parse({{"configuration", in_braces(text)}}, ownership_for_test(state));
    EXPECT_TRUE(seen->own == state && seen->unclear.empty()) << in_braces(text);
  }
}

/// What a person may have changed by hand in a rendered configuration, and what must be told.
TEST(Junos, what_is_not_understood_within_our_objects_is_told) {
  const auto cases = golden_cases(item().capabilities(), shape());
  const SwitchState& state = cases[2].to;
  const std::string good = (*item().render(state))[0].text;
  const auto told = [&](const std::string& text) {
    return (*item().parse({{"configuration", text}}, ownership_for_test(state))).unclear;
  };
  ASSERT_THAT(told(good), IsEmpty());
  const std::pair<const char*, const char*> added[] = {
      {"set interfaces irb unit 110 family inet address 10.9.9.1/24", "10.9.9.1/24"},
      {"set interfaces irb unit 110 mac 02:00:00:00:00:09", ""},
      {"set interfaces et-0/0/1 unit 0 family inet address 10.9.9.1/24", "half way"},
      {"set interfaces et-0/0/1 disable", "half way"},
      {"set interfaces et-0/0/1 unit 0 family ethernet-switching vlan members v112", "half way"},
      {"set interfaces et-0/0/1 unit 0 family ethernet-switching interface-mode trunk", "trunk"},
      {"set interfaces et-0/0/1 native-vlan-id 7", "native-vlan-id"},
      {"set routing-instances Vrf00010 interface xe-0/0/9.0", "interface xe-0/0/9.0"},
      {"set routing-instances seg10010 interface xe-0/0/9.0", "interface xe-0/0/9.0"},
      {"set routing-instances seg10010 vlans v9 vlan-id 9", "more VLANs than one"},
      {"set routing-instances FOO interface irb.110", "interface irb.110"},
      {"set routing-instances Vrf00010 routing-options static route 0.0.0.0/0 next-hop 10.0.0.1",
       "static route"},
      {"set routing-options static route 0.0.0.0/0 next-table Vrf00010.inet.0", "next-table"},
      {"set routing-options rib-groups X import-rib Vrf00010.inet.0", "rib-groups"},
      {"set routing-instances Vrf00010 protocols evpn irb-symmetric-routing vni 7", "vni 7"},
      {"set routing-instances Vrf00010 vrf-import OTHER", "vrf-import"},
      {"set policy-options policy-statement Vrf00010-IMPORT term x then accept", "term x"},
      {"set policy-options policy-statement Vrf00010-IMPORT then accept", "does not end"},
      {"set policy-options policy-statement Vrf00010-IMPORT term own from protocol bgp", "own"},
      {"set policy-options policy-statement Vrf00010-EXPORT term x from protocol direct", "EXPORT"},
      {"set policy-options policy-statement Vrf00010-EXPORT then reject", "EXPORT"},
      {"set policy-options community Vrf00010-65000-60001 members target:65000:1", "one route"},
      {"set firewall family inet filter T-10-IN term t5 then accept", "t5"},
      {"set firewall family inet filter T-10-IN term t30 from tcp-established", "established"},
      {"deactivate routing-instances Vrf00010 vrf-import", "inactive"},
      {"deactivate firewall family inet filter T-10-IN", "inactive"}};
  for (const auto& [text, want] : added) {
    const auto unclear = told(good + text + "\n");
    if (*want == '\0') {
      EXPECT_THAT(unclear, IsEmpty()) << text << ": the group outranks nothing that it shares";
    } else {
      EXPECT_THAT(unclear, Contains(HasSubstr(want))) << text;
    }
  }
}

/// One statement of ours, written otherwise by hand. A community keeps its name when its member is
/// changed, so that a change would add a member to it and never be done: it is told by name.
TEST(Junos, a_statement_of_ours_changed_by_hand_is_told) {
  const auto cases = golden_cases(item().capabilities(), shape());
  const std::string good = (*item().render(cases[2].to))[0].text;
  const std::tuple<const char*, const char*, const char*> changes[] = {
      {"community Vrf00010-65000-50010 members target:65000:50010",
       "community Vrf00010-65000-50010 members target:65000:50011", "Vrf00010-65000-50010"},
      {"term t20 then accept", "term t10 then accept", "has not one `then`"},
      {"Vrf00010 instance-type vrf", "Vrf00011 instance-type vrf", "Vrf00010 lacks"},
      {"Vrf00010 protocols evpn ip-prefix-routes encapsulation vxlan",
       "Vrf60001 protocols evpn ip-prefix-routes encapsulation vxlan", "said twice"},
      {"seg10010 service-type vlan-based", "seg10010 service-type vlan-aware",
       "not as we write it"},
      {"seg10010 vlans v110 l3-interface irb.110", "seg10010 vlans v112 l3-interface irb.110",
       "seg10010 lacks"},
      {"et-0/0/1 mtu 9216", "et-0/0/1 mtu 1514", "mtu 1514"},
      {"et-0/0/1 description \"node01 eth0\"", "et-0/0/2 description \"node01 eth0\"",
       "said twice"},
      {"policy-statement Vrf00010-IMPORT term own then accept",
       "policy-statement Vrf00011-IMPORT term own then accept", "Vrf00010-IMPORT"}};
  for (const auto& [old, now, want] : changes) {
    std::string text = good;
    ASSERT_NE(text.find(old), std::string::npos) << old;
    text.replace(text.find(old), std::string(old).size(), now);
    const auto seen = item().parse({{"configuration", text}}, ownership_for_test(cases[2].to));
    EXPECT_THAT(seen->unclear, Contains(HasSubstr(want))) << now;
  }
}

TEST(Junos, refuses_what_junos_cannot_hold) {
  const auto cases = golden_cases(item().capabilities(), shape());
  const SwitchState good = cases[2].to;
  ASSERT_TRUE(item().accept(good).has_value()) << item().accept(good).error().message();
  SwitchState bad = good;
  bad.ports[0].name = "et-0/0";
  EXPECT_THAT(item().accept(bad).error().message(), HasSubstr("et-0/0/3"));
  EXPECT_FALSE(item().render(bad).has_value());
  EXPECT_FALSE(item().steps(good, bad).has_value());
  bad = good;
  bad.vrfs[0].import_targets.push_back("65000:60001");
  EXPECT_THAT(item().accept(bad).error().message(), HasSubstr("without a limit"));
}

}  // namespace
}  // namespace tundish::switches
