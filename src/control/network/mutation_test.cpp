// A fact flipped at random in what the switches and managers show: the audit names every one.
#include <gtest/gtest.h>

#include "control/network/audit.hpp"
#include "control/network/site_for_test.hpp"
#include "control/placement/draw_for_test.hpp"

namespace tundish::control::network {
namespace {

using placement::Draw;

class Mutation {
 public:
  Mutation(SwitchesSeen& switches, FabricsSeen& fabrics, Draw& draw)
      : switches_(switches), fabrics_(fabrics), draw_(draw) {}

  /// What was flipped; empty: nothing there to flip.
  std::string flip() {
    SwitchState& own = pick(switches_).own;
    switch (draw_.below(10)) {
      case 0: return target(pick(own.vrfs).import_targets);
      case 1: return target(pick(own.vrfs).export_targets);
      case 2: return target(pick(own.segments).import_targets);
      case 3: return number("l2vni", pick(own.segments).l2vni);
      case 4: return number("l3vni", pick(own.vrfs).l3vni);
      case 5: return number("vlan", pick(own.segments).vlan);
      case 6: return port(pick(own.ports));
      case 7: return rule(pick(own.acls));
      case 8: return partition();
      default: return leak(own);
    }
  }

 private:
  template <class T>
  T& pick(std::vector<T>& list) {
    return list[static_cast<std::size_t>(draw_.below(static_cast<int>(list.size())))];
  }
  template <class T>
  T& pick(std::map<std::string, T>& map) {
    auto it = map.begin();
    std::advance(it, draw_.below(static_cast<int>(map.size())));
    return it->second;
  }
  std::string target(std::vector<std::string>& list) {
    std::string& one = pick(list);
    const std::string before = one;
    // Another one that is in use, or one digit.
    if (draw_.below(2) == 0) one = pick(pick(switches_).own.vrfs).export_targets[0];
    if (one == before) one.back() = one.back() == '9' ? '0' : static_cast<char>(one.back() + 1);
    return "target " + before + " -> " + one;
  }
  std::string number(const char* what, int& value) {
    const int before = value;
    value += draw_.below(2) == 0 ? 1 : -1 - draw_.below(3);
    return std::string(what) + " " + std::to_string(before) + " -> " + std::to_string(value);
  }
  std::string port(SwitchPortState& port) {
    if (port.mode == PortMode::routed) {
      port.vrf = "Vrf00010";
    } else if (port.mode == PortMode::quarantine) {
      port.mode = PortMode::access;
      port.vlan = 100 + draw_.below(4);
    } else {
      port.vlan += 1 + draw_.below(2);
    }
    return "port " + port.name;
  }
  std::string rule(AclState& acl) {
    AclRule& one = pick(acl.rules);
    switch (draw_.below(4)) {
      case 0:
        one.action = one.action == AclAction::deny ? AclAction::permit : AclAction::deny;
        break;
      case 1: one.destination = "10.88.0.0/17"; break;
      case 2: one.port_to += 7; break;
      default: acl.rules.erase(acl.rules.begin() + (&one - acl.rules.data())); break;
    }
    return "list " + acl.name;
  }
  std::string partition() {
    IbPartitionState& one = pick(fabrics_["ib0"].own.partitions);
    if (draw_.below(2) == 0) return number("pkey", one.pkey);
    one.members.push_back({"0x0002c900000002" + two_digits(5 + draw_.below(2))});
    return "member of pkey " + std::to_string(one.pkey);
  }
  std::string leak(SwitchState& own) {
    VrfState& vrf = pick(own.vrfs);
    if (vrf.leaks.empty()) {
      vrf.leaks.push_back({own.vrfs.front().name, {"0.0.0.0/0"}});
    } else {
      pick(vrf.leaks).prefixes.push_back("10.10.0.0/24");
    }
    return "leak into " + vrf.name;
  }

  SwitchesSeen& switches_;
  FabricsSeen& fabrics_;
  Draw& draw_;
};

TEST(mutation, every_fact_flipped_is_named) {
  TestSite site;
  site.fill();
  ASSERT_EQ(site.faults, "");
  const Intent intent = site.intent();
  SwitchesSeen switches;
  FabricsSeen fabrics;
  for (const auto& [name, device] : intent.switches) {
    switches[name].own = *plan_switch(intent, name);
  }
  for (const char* name : {"ib0", "nvl0"}) fabrics[name].own = plan_fabric(intent, name);
  Draw draw(3);
  int named = 0;
  for (int i = 0; i < 2000; ++i) {
    auto mutated = switches;
    auto partitions = fabrics;
    const std::string what = Mutation(mutated, partitions, draw).flip();
    const bool found = !audit(intent, mutated, partitions).empty();
    EXPECT_TRUE(found) << "survivor " << i << ": " << what;
    named += found ? 1 : 0;
  }
  EXPECT_EQ(named, 2000);
}

}  // namespace
}  // namespace tundish::control::network
