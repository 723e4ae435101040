// Both FRR items: golden files, read-back, steps, configurations that render never writes, and what
// Linux cannot hold.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "families/switches/item_for_test.hpp"
#include "families/switches/parts/words.hpp"

namespace tundish::switches {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* both[] = {"frr", "frr_netns"};

const SwitchItem& item_of(const char* name) {
  const SwitchItem* item = find_switch_item(name);
  EXPECT_NE(item, nullptr) << name;
  return *item;
}

SwitchOwnership ports(std::vector<std::string> names) {
  SwitchOwnership out;
  out.ports = std::move(names);
  return out;
}

SwitchState stored(const SwitchItem& item) { return golden_cases(item.capabilities(), {})[2].to; }

TEST(SwitchFrr, golden_files) {
  for (const char* name : both) expect_golden(item_of(name), {});
}

TEST(SwitchFrr, what_is_rendered_reads_back_and_steps_name_what_changed) {
  for (const char* name : both) expect_item_holds(item_of(name), {});
}

TEST(SwitchFrr, a_configuration_that_somebody_else_wrote_reads_right) {
  const auto files = data_files("frr", {"frr.conf", "kernel", "nft"});
  const auto seen = *item_of("frr").parse(files, ports({"swp1", "swp2"}));
  EXPECT_THAT(seen.unclear, IsEmpty());
  const SwitchState& own = seen.own;
  EXPECT_EQ(own.asn, 65001);
  EXPECT_EQ(own.router_id, "10.255.0.1");
  EXPECT_EQ(own.vtep_address, "10.255.0.1");
  ASSERT_EQ(own.vrfs.size(), 2u);
  EXPECT_EQ(own.vrfs[0].name, "Vrf00010");
  EXPECT_EQ(own.vrfs[0].description, "acme train");
  EXPECT_EQ(own.vrfs[0].l3vni, 50010);
  EXPECT_EQ(own.vrfs[0].l3vlan, 2010);
  EXPECT_EQ(own.vrfs[0].rd, "10.255.0.1:10");
  EXPECT_THAT(own.vrfs[0].import_targets, ElementsAre("65000:50010", "65000:59000"));
  EXPECT_THAT(own.vrfs[0].export_targets, ElementsAre("65000:50010"));
  const LeakState leak{"Vrf60001", {"10.200.0.0/24"}};
  EXPECT_THAT(own.vrfs[0].leaks, ElementsAre(leak));
  ASSERT_EQ(own.segments.size(), 1u);
  EXPECT_EQ(own.segments[0].l2vni, 10010);
  EXPECT_EQ(own.segments[0].vrf, "Vrf00010");
  EXPECT_EQ(own.segments[0].gateway, "10.10.0.1/24");
  EXPECT_EQ(own.segments[0].acl_in, "T-10-IN");
  EXPECT_THAT(own.segments[0].import_targets, ElementsAre("65000:10010"));
  ASSERT_EQ(own.acls.size(), 1u);
  ASSERT_EQ(own.acls[0].rules.size(), 3u);
  const AclRule nfs{10, AclAction::permit, "tcp", "10.10.0.0/24", "10.200.0.7/32", 2049, 0};
  EXPECT_EQ(own.acls[0].rules[0], nfs);
  ASSERT_EQ(own.ports.size(), 2u);
  EXPECT_EQ(own.ports[0].vlan, 110);
  EXPECT_EQ(own.ports[1].mode, PortMode::quarantine);
  EXPECT_THAT(seen.foreign.vrfs, ElementsAre("blue", "mgmt"));
  EXPECT_THAT(seen.foreign.vnis, ElementsAre(4000, 4001));
  EXPECT_THAT(seen.foreign.vlans, ElementsAre(1, 3400));
  EXPECT_THAT(seen.foreign.route_targets, ElementsAre("65000:4000", "65000:4001"));
}

TEST(SwitchFrr, network_namespaces_that_somebody_else_wrote_read_right) {
  const auto files = data_files("frr_netns", {"frr.conf", "kernel"});
  const auto seen = *item_of("frr_netns").parse(files, ports({"swp1", "swp2"}));
  EXPECT_THAT(seen.unclear, IsEmpty());
  ASSERT_EQ(seen.own.vrfs.size(), 1u);
  EXPECT_EQ(seen.own.vrfs[0].l3vni, 50010);
  EXPECT_EQ(seen.own.vrfs[0].l3vlan, 0);
  ASSERT_EQ(seen.own.segments.size(), 1u);
  EXPECT_EQ(seen.own.segments[0].vlan, 110);
  ASSERT_EQ(seen.own.ports.size(), 2u);
  EXPECT_EQ(seen.own.ports[0].mode, PortMode::access);
  EXPECT_EQ(seen.own.ports[1].description, "node02 eth0");
  EXPECT_THAT(seen.foreign.vrfs, ElementsAre("probe"));
  EXPECT_THAT(seen.foreign.vnis, ElementsAre(4000));
}

/// The files of a state with frr.conf as a bgpd shows it that was started without our part; `-n`
/// zebra lists the namespaces as VRFs all the same.
SwitchFiles forgotten(const SwitchItem& item, const SwitchState& state) {
  SwitchFiles files = *item.render(state);
  std::string conf = "router bgp " + std::to_string(state.asn) + "\n bgp router-id " +
                     state.router_id + "\nexit\n";
  for (const auto& vrf : state.vrfs) conf += "!\nvrf " + vrf.name + "\nexit-vrf\n";
  for (auto& file : files) {
    if (file.name == "frr.conf") file.text = conf;
  }
  return files;
}

std::string all_steps(const std::vector<SwitchStep>& steps) {
  std::string out;
  for (const auto& step : steps) out += "# " + step.what + "\n" + step.text;
  return out;
}

TEST(SwitchFrr, what_frr_forgot_and_the_kernel_kept_is_told_to_frr_and_to_nobody_else) {
  for (const char* name : both) {
    const SwitchItem& item = item_of(name);
    const SwitchState state = stored(item);
    const auto seen = item.parse(forgotten(item, state), ownership_for_test(state));
    ASSERT_TRUE(seen);
    EXPECT_THAT(seen->unclear, IsEmpty()) << name;
    ASSERT_EQ(seen->own.vrfs.size(), state.vrfs.size());
    EXPECT_EQ(seen->own.vrfs[0].rd, "");
    EXPECT_EQ(seen->own.vrfs[0].l3vni, state.vrfs[0].l3vni);
    EXPECT_THAT(seen->own.segments[0].import_targets, IsEmpty());
    EXPECT_EQ(seen->own.ports, state.ports);
    const auto steps = item.steps(seen->own, state);
    ASSERT_TRUE(steps);
    const std::string text = all_steps(*steps);
    const std::string asn = std::to_string(state.asn);
    for (const auto& vrf : state.vrfs) {
      EXPECT_THAT(text, HasSubstr("router bgp " + asn + " vrf " + vrf.name)) << name;
      EXPECT_THAT(text, HasSubstr("grep -Eq '^" + vrf.name + " +" + std::to_string(vrf.l3vni)));
    }
    EXPECT_THAT(text, HasSubstr("  vni 10010\n   rd 10.0.0.1:110\n"));
    for (const char* never : {"ip netns add", "type bridge", "type vxlan", "type vrf", "no rd ",
                              "table ip tundish"}) {
      EXPECT_THAT(text, Not(HasSubstr(never))) << name;
    }
    // Whoever has a network beside the forgotten one is not refused for it.
    EXPECT_TRUE(item.accept(seen->own)) << name;
    SwitchState nothing = seen->own;
    nothing.vrfs.clear();
    nothing.segments.clear();
    nothing.acls.clear();
    for (auto& port : nothing.ports) port = {port.name, PortMode::quarantine, 0, "", "", ""};
    const auto gone = item.steps(seen->own, nothing);
    ASSERT_TRUE(gone);
    EXPECT_THAT(all_steps(*gone), Not(HasSubstr("no router bgp"))) << name;
  }
}

TEST(SwitchFrr, where_a_tunnel_sends_to_is_read_for_our_tunnels_only) {
  const SwitchItem& item = item_of("frr_netns");
  const SwitchState state = stored(item);
  SwitchFiles files = *item.render(state);
  for (auto& file : files) {
    if (file.name != "kernel") continue;
    file.text +=
        "peer 10.0.0.2 dev vx10010 netns Vrf00010\npeer 10.0.0.9 dev vx10010 netns Vrf00010\n"
        "peer 10.0.0.2 dev vx50010 netns Vrf00010\npeer 10.0.0.9 dev vx7 netns other\n";
  }
  const auto seen = item.parse(files, ownership_for_test(state));
  ASSERT_TRUE(seen);
  EXPECT_THAT(seen->unclear, IsEmpty());
  EXPECT_EQ(seen->own, state);
  EXPECT_THAT(seen->peers, ElementsAre(TunnelPeer{10010, "10.0.0.2"}, TunnelPeer{10010, "10.0.0.9"},
                                       TunnelPeer{50010, "10.0.0.2"}));
}

/// One line changed by hand in what was rendered, and the file it is in.
struct HandMade {
  const char* file;
  const char* from;
  const char* to;
};

TEST(SwitchFrr, a_change_by_hand_is_read_as_a_difference_or_as_unclear) {
  const SwitchItem& item = item_of("frr_netns");
  const SwitchState state = stored(item);
  const HandMade changes[] = {
      {"frr.conf", "   rd 10.0.0.1:110", "   rd 10.0.0.1:111"},
      {"frr.conf", "  route-target import 65000:50010", "  route-target import 65000:60001"},
      {"frr.conf", "  advertise ipv4 unicast\n", ""},
      {"frr.conf", " vni 50010\n", " vni 50011\n"},
      {"frr.conf", "permit 100.64.0.1/32", "permit 10.10.0.0/24 le 32"},
      {"frr.conf", " ip route 10.200.0.0/24 ", " ip route 10.0.0.0/8 "},
      {"frr.conf", "deny 169.254.0.0/16", "permit 169.254.0.0/16"},
      {"kernel", "link swp1 netns Vrf00010", "link swp1 netns Vrf60001"},
      {"kernel", "link swp2 netns Vrf00010 type port master br110", "link swp2 type port"},
      {"kernel", "id 10010 local", "id 10012 local"},
      {"kernel", "id 50010 local", "id 60001 local"},
      {"kernel", "addr 10.10.0.1/24", "addr 10.10.0.2/24"},
      {"kernel", "link lk10a netns Vrf00010", "link lk10a netns Vrf60001"},
      {"kernel", "link swp3 type port down", "link swp3 type port up"},
      {"nft", "10.200.0.0/24 tcp dport 22 drop", "10.200.0.0/24 tcp dport 22 accept"},
      {"nft", "\t\tdrop\n", ""},
      {"nft", "\"br110\"", "\"br111\""},
  };
  for (const auto& change : changes) {
    SwitchFiles files = *item.render(state);
    for (auto& file : files) {
      if (file.name == change.file) file.text = replaced(file.text, change.from, change.to);
    }
    const auto seen = *item.parse(files, ownership_for_test(state));
    EXPECT_TRUE(!(seen.own == state) || !seen.unclear.empty()) << change.from << change.to;
  }
}

/// As a stanza by hand: it has no L3VNI that could be taken away, and 0 is none.
TEST(SwitchFrr, a_vrf_without_an_l3vni_goes_without_losing_one) {
  for (const char* name : both) {
    const SwitchItem& item = item_of(name);
    const SwitchState to = stored(item);
    SwitchState from = to;
    VrfState by_hand;
    by_hand.name = "Vrf00099";
    by_hand.vrf_id = 99;
    from.vrfs.push_back(by_hand);
    const auto steps = item.steps(from, to);
    ASSERT_TRUE(steps) << steps.error().message();
    std::string text;
    for (const auto& step : *steps) text += step.text;
    EXPECT_THAT(text, HasSubstr("Vrf00099"));
    EXPECT_THAT(text, Not(HasSubstr("vni 0"))) << name;
  }
}

/// A table is replaced as a whole: the step says which of its rules come and go.
TEST(SwitchFrr, a_changed_list_is_told_rule_by_rule) {
  for (const char* name : both) {
    const SwitchItem& item = item_of(name);
    const SwitchState from = stored(item);
    SwitchState to = from;
    ASSERT_GE(to.acls.front().rules.size(), 2u);
    AclRule added = to.acls.front().rules.back();
    to.acls.front().rules.pop_back();
    added.source = "10.77.0.0/24";
    to.acls.front().rules.push_back(added);
    const auto steps = item.steps(from, to);
    ASSERT_TRUE(steps) << steps.error().message();
    ASSERT_EQ(steps->size(), 1u) << name;
    std::vector<std::string> told;
    for (const auto line : lines_of(steps->front().text)) {
      if (line.starts_with("# - ") || line.starts_with("# + ")) told.emplace_back(line);
    }
    ASSERT_EQ(told.size(), 2u) << name;
    EXPECT_THAT(told[0], HasSubstr("# - " + to.acls.front().name + ": "));
    EXPECT_THAT(told[1], HasSubstr("ip saddr 10.77.0.0/24"));
  }
}

/// What an emptied chain of nft does is not what an empty list of a switch does: all pass.
TEST(SwitchFrr, a_chain_is_read_by_what_it_lets_through) {
  const SwitchItem& item = item_of("frr_netns");
  const SwitchState state = stored(item);
  const auto list = [&](const std::string& from, const std::string& to) {
    SwitchFiles files = *item.render(state);
    for (auto& file : files) {
      if (file.name == "nft") file.text = replaced(file.text, from, to);
    }
    const auto seen = *item.parse(files, ownership_for_test(state));
    EXPECT_THAT(seen.unclear, testing::IsEmpty());
    return seen.own.acls.at(0).rules;
  };
  const auto own = state.acls.at(0).rules;
  const auto open = list("\t\tdrop\n", "");
  ASSERT_EQ(open.size(), own.size() + 1);
  EXPECT_EQ(open.back().action, AclAction::permit);
  EXPECT_EQ(open.back().destination + open.back().source, "");
  const std::string first = "\tchain " + state.acls.at(0).name + " {\n";
  const auto more = list(first, first + "\t\tip daddr 10.255.0.0/16 accept\n");
  ASSERT_EQ(more.size(), own.size() + 1);
  EXPECT_LT(more[0].sequence, own[0].sequence);
  EXPECT_EQ(more[0].destination, "10.255.0.0/16");
  EXPECT_EQ(more[0].action, AclAction::permit);
}

TEST(SwitchFrr, an_order_beside_an_emptied_list_is_taken) {
  const SwitchItem& item = item_of("frr_netns");
  SwitchState state = stored(item);
  state.acls.at(0).rules.clear();
  EXPECT_TRUE(item.accept(state)) << item.accept(state).error().message();
}

TEST(SwitchFrr, what_linux_cannot_hold_is_refused_with_the_object_and_a_remedy) {
  const SwitchItem& item = item_of("frr_netns");
  const auto refused = [&](auto change, const char* object, const char* what) {
    SwitchState state = stored(item);
    change(state);
    const auto result = item.accept(state);
    ASSERT_FALSE(result.has_value()) << object << " " << what;
    EXPECT_EQ(result.error().object, object);
    EXPECT_THAT(result.error().what, HasSubstr(what));
    EXPECT_FALSE(result.error().remedy.empty());
    EXPECT_FALSE(item.render(state).has_value());
  };
  refused([](auto& s) { s.vrfs[0].rd = "10.0.0.1:70000"; }, "vrf/Vrf00010", "distinguisher");
  refused([](auto& s) { s.vrfs[0].rd = "4200000101:10"; }, "vrf/Vrf00010", "distinguisher");
  refused([](auto& s) { s.vrfs[0].import_targets = {"4200000101:5"}; }, "vrf/Vrf00010", "target");
  refused([](auto& s) { s.vrfs[0].import_targets.clear(); }, "vrf/Vrf00010", "empty");
  refused([](auto& s) { s.vrfs[0].l3vni = 16777216; }, "vrf/Vrf00010", "VNI");
  refused([](auto& s) { s.vrfs[0].l3vni = 10010; }, "segment/vlan 110", "twice");
  refused([](auto& s) { s.segments[0].vlan = 4095; }, "segment/vlan 4095", "does not exist");
  refused([](auto& s) { s.segments[0].gateway = "10.10.0.0/24"; }, "segment/vlan 110", "gateway");
  refused([](auto& s) { s.segments[0].gateway = "10.200.0.9/16"; }, "vrf/Vrf00010", "overlaps");
  refused([](auto& s) { s.segments[0].acl_in = "T-11-IN"; }, "segment/vlan 110", "access list");
  refused([](auto& s) { s.ports[0].name = "a-name-of-16-chars"; }, "port/a-name-of-16-chars",
          "hold");
  refused([](auto& s) { s.ports[0].vlan = 115; }, "port/swp1", "no segment");
  refused([](auto& s) { s.vrfs[0].description = "a \"quoted\" word"; }, "vrf/Vrf00010", "descr");
  refused([](auto& s) { s.vrfs[0].l3vlan = 2010; }, "vrf/Vrf00010", "needs none");
  refused([](auto& s) { s.acls[0].rules[0].port_to = 22; }, "acl/T-10-IN rule 10", "range");
}

TEST(SwitchFrr, a_revoke_never_leaves_an_empty_import_list) {
  for (const char* name : both) {
    const SwitchItem& item = item_of(name);
    const auto cases = golden_cases(item.capabilities(), {});
    const auto steps = steps_between(item, cases[4].from, cases[4].to);
    ASSERT_FALSE(steps.empty());
    EXPECT_EQ(steps[0].what, "vrf Vrf00010 imports from nobody");
    const std::size_t guard = steps[0].text.find("route-target import 65535:4294967295");
    const std::size_t gone = steps[0].text.find("no route-target import 65000:50010");
    EXPECT_LT(guard, gone) << "an empty list would import from any AS";
  }
}

TEST(SwitchFrr, another_switch_than_declared_is_a_conflict) {
  const SwitchItem& item = item_of("frr");
  SwitchState to = stored(item), from = to;
  from.asn = 65099;
  const auto steps = item.steps(from, to);
  ASSERT_FALSE(steps.has_value());
  EXPECT_EQ(steps.error().code, Code::conflict);
}

}  // namespace
}  // namespace tundish::switches
