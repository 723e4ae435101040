// What a stranger put into the kernel of a leaf beside our part: addresses, pairs of links, routes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "families/switches/driver_frr_live.hpp"
#include "families/switches/driver_frr_routes.hpp"
#include "families/switches/item_for_test.hpp"

namespace tundish::switches {
namespace {

using frr_parts::Kernel;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

SwitchOwnership ports() {
  SwitchOwnership out;
  out.ports = {"swp1", "swp2"};
  return out;
}

const SwitchItem& item_of(const char* name) { return *find_switch_item(name); }

std::string& file(SwitchFiles& files, const std::string& name) {
  for (auto& one : files) {
    if (one.name == name) return one.text;
  }
  return files.front().text;
}

/// Two tenants on one leaf, as the item itself would show them.
SwitchState two_tenants(const SwitchItem& item) {
  return golden_cases(item.capabilities(), {})[2].to;
}

std::vector<std::string> unclear_of(const SwitchItem& item, SwitchFiles files,
                                    const SwitchState& state) {
  return item.parse(files, ownership_for_test(state))->unclear;
}

TEST(FrrStrays, nobody_gets_an_ipv6_address_by_what_a_tenant_sends) {
  for (const char* name : {"frr", "frr_netns"}) {
    const SwitchItem& item = item_of(name);
    SwitchState nothing;
    const SwitchState state = two_tenants(item);
    nothing.asn = state.asn;
    nothing.router_id = state.router_id;
    nothing.vtep_address = state.vtep_address;
    std::string kernel, nft;
    const auto steps = item.steps(nothing, state);
    ASSERT_TRUE(steps);
    for (const auto& step : *steps) {
      (step.file == "kernel" ? kernel : nft) += step.text;
    }
    const bool spaces = std::string(name) == "frr_netns";
    const auto& vrf = state.vrfs.front().name;
    const std::string off =
        spaces ? "ip netns exec " + vrf + " sysctl -qw net.ipv6.conf.default.disable_ipv6=1"
               : "echo 1 >/proc/sys/net/ipv6/conf/" + vrf + "/disable_ipv6";
    const auto begins = kernel.find(off);
    ASSERT_NE(begins, std::string::npos) << kernel;
    const auto up = kernel.find(spaces ? "ip -n " + vrf + " link set dev lo up"
                                       : "ip link set dev " + vrf);
    EXPECT_LT(begins, up) << "before anything of it is up";
    for (const auto& segment : state.segments) {
      const std::string link =
          (spaces ? "br" : "vlan") + std::to_string(segment.vlan);
      if (!spaces) {
        EXPECT_THAT(kernel, HasSubstr("/conf/" + link + "/disable_ipv6"));
      }
      if (!segment.acl_in.empty()) {
        EXPECT_THAT(nft, HasSubstr("iifname \"" + link + "\" drop"));
      }
    }
  }
}

TEST(FrrStrays, a_segment_that_lets_ipv6_in_is_named) {
  for (const char* name : {"frr", "frr_netns"}) {
    const SwitchItem& item = item_of(name);
    const SwitchState state = two_tenants(item);
    SwitchFiles files = *item.render(state);
    EXPECT_THAT(unclear_of(item, files, state), IsEmpty());
    std::string& nft = file(files, "nft");
    const auto at = nft.find(" drop\n", nft.find("table ip6 tundish"));
    ASSERT_NE(at, std::string::npos);
    const auto from = nft.rfind('\n', at) + 1;
    SwitchFiles open = files;
    file(open, "nft").erase(from, nft.find('\n', from) + 1 - from);
    EXPECT_THAT(unclear_of(item, open, state), Contains(HasSubstr("lets IPv6 in")));
    SwitchFiles other = files;
    file(other, "nft").insert(from, "\t\tip6 saddr ::/0 accept\n");
    EXPECT_THAT(unclear_of(item, other, state), Contains(HasSubstr("ip6 saddr ::/0 accept")));
  }
}

const char* const root = R"([
 {"ifname":"lo","flags":["UP"],"mtu":65536,"link_type":"loopback",
  "addr_info":[{"family":"inet","local":"10.255.0.1","prefixlen":32,"scope":"global"},
               {"family":"inet6","local":"::1","prefixlen":128,"scope":"host"}]},
 {"ifname":"swp9","flags":["UP"],"mtu":1500,"link_type":"ether","linkinfo":{"info_kind":"veth"},
  "addr_info":[{"family":"inet6","local":"fe80::9","prefixlen":64,"scope":"link"}]}])";

/// Bridge and tunnel of a tenant, and the end of a pair that a stranger put beside them.
std::string space(int tenant, int index, int far) {
  const std::string t = std::to_string(tenant);
  return R"([{"ifname":"br1)" + t + R"(","flags":["UP"],"mtu":9000,"address":"00:00:5e:00:01:10",
    "linkinfo":{"info_kind":"bridge"},"addr_info":[
      {"family":"inet","local":"10.1.0.254","prefixlen":24,"scope":"global"},
      {"family":"inet6","local":"2001:db8:66::5","prefixlen":64,"scope":"global"}]},
   {"ifname":"vx100)" + t + R"(","flags":["UP"],"mtu":9000,"master":"br1)" + t + R"(",
    "linkinfo":{"info_kind":"vxlan","info_data":{"id":100)" + t +
         R"(,"local":"10.255.0.1","port":4789,"learning":false}},"addr_info":[]},
   {"ifname":"x)" + t + R"(","ifindex":)" + std::to_string(index) + R"(,"link_index":)" +
         std::to_string(far) + R"(,"link_netnsid":3,"flags":["UP"],"mtu":9000,"master":"br1)" + t +
         R"(","linkinfo":{"info_kind":"veth"},"addr_info":[]}])";
}

std::string other(const std::string& netns) {
  return "nsid 3 (iproute2 netns name: " + netns + ")\n";
}

const char* const speak =
    "/proc/sys/net/ipv6/conf/br110/disable_ipv6\n/proc/sys/net/ipv6/conf/lo/disable_ipv6\n";

TEST(FrrStrays, addresses_and_pairs_between_two_networks_are_named) {
  const auto read = read_frr_sections({{"conf", "-", ""},
                                       {"addr", "-", root},
                                       {"addr", "Vrf00010", space(10, 41, 52)},
                                       {"six", "Vrf00010", speak},
                                       {"nsid", "Vrf00010", other("Vrf00020")},
                                       {"nsid", "Vrf00020", other("Vrf00010")},
                                       {"addr", "Vrf00020", space(20, 52, 41)}},
                                      Kernel::netns_per_vni);
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_THAT(read->files[1].text, Not(HasSubstr("fe80::9")));
  const auto seen = frr_parts::parse_for(Kernel::netns_per_vni, read->files, ports());
  ASSERT_TRUE(seen);
  ASSERT_GE(seen->unclear.size(), 2u);
  // The pair comes first: a reason tells three lines.
  for (const auto& line : {seen->unclear[0], seen->unclear[1]}) {
    EXPECT_THAT(line, HasSubstr("type port"));
    EXPECT_THAT(line, HasSubstr("Vrf00010"));
    EXPECT_THAT(line, HasSubstr("Vrf00020"));
  }
  EXPECT_THAT(seen->unclear, Contains("kernel: addr 2001:db8:66::5/64 dev br110 in Vrf00010, "
                                      "where nobody has IPv6"));
  EXPECT_THAT(seen->unclear, Contains("kernel: IPv6 is on in Vrf00010: br110"));
  ASSERT_EQ(seen->own.segments.size(), 2u);
  EXPECT_EQ(seen->own.segments[0].gateway, "10.1.0.254/24") << "it is no second gateway";
}

TEST(FrrStrays, a_pair_of_which_one_end_was_not_read_leads_nowhere_known) {
  const auto read = read_frr_sections({{"conf", "-", ""},
                                       {"addr", "-", root},
                                       {"addr", "Vrf00010", space(10, 41, 52)},
                                       {"nsid", "Vrf00010", "nsid 0 \n" + other("elsewhere")},
                                       {"addr", "Vrf00020", space(20, 52, 41)}},
                                      Kernel::netns_per_vni);
  ASSERT_TRUE(read);
  EXPECT_THAT(read->files[1].text, Not(HasSubstr(" peer ")));
}

// As in a lab: each end went to a bridge in a namespace that `unshare` made.
TEST(FrrStrays, links_of_two_networks_into_a_namespace_without_a_name_are_told_together) {
  const auto lines_of_two = [](const std::string& second) {
    const auto read = read_frr_sections({{"conf", "-", ""},
                                         {"addr", "-", root},
                                         {"addr", "Vrf00010", space(10, 41, 7)},
                                         {"addr", "Vrf00020", second}},
                                        Kernel::netns_per_vni);
    EXPECT_TRUE(read);
    return frr_parts::parse_for(Kernel::netns_per_vni, read->files, ports())->unclear;
  };
  EXPECT_THAT(lines_of_two(space(20, 52, 8)),
              Contains("kernel: links x10 in Vrf00010 and x20 in Vrf00020 lead to where nobody "
                       "looks"));
  EXPECT_THAT(lines_of_two("[]"), Not(Contains(HasSubstr("nobody looks")))) << "one joins nobody";
}

const char* const rib = R"(VRF Vrf00010:
C>* 10.1.0.0/24 is directly connected, br110, 00:10:00
B>* 10.70.0.5/32 [20/0] via 10.255.0.2, br50010 onlink, weight 1, 00:00:10
  *                     via 10.255.0.3, br50010 onlink, weight 1, 00:00:10
S>* 10.200.0.0/24 [1/0] via 169.254.1.2, lk10a onlink, weight 1, 00:01:00
S>  100.64.0.5/32 [1/0] via 10.1.0.17 (recursive), weight 1, 00:01:00
  *                     via 10.1.0.17, br110, weight 1, 00:01:00

VRF Vrf00020:
K>* 10.71.0.0/24 [0/0] via 169.254.1.2, lk20a, 00:00:09
)";

std::vector<std::string> strays(const std::string& vrf, const std::string& routes) {
  FrrRoutes out;
  out.take_rib(rib);
  EXPECT_TRUE(out.take_kernel(routes, vrf, RouteFamily::ipv4));
  std::vector<std::string> told;
  for (const auto& route : out.kernel()) {
    if (!out.is_explained(route, vrf)) told.push_back(route.to + route.way());
  }
  return told;
}

TEST(FrrStrays, a_route_is_explained_by_what_frr_wants_and_by_no_number_that_it_bears) {
  EXPECT_THAT(strays("Vrf00010", R"([
    {"dst":"10.1.0.0/24","dev":"br110","protocol":"2"},
    {"dst":"10.70.0.5","protocol":"186","nhid":7,"nexthops":[
      {"gateway":"10.255.0.2","dev":"br50010"},{"gateway":"10.255.0.3","dev":"br50010"}]},
    {"dst":"10.200.0.0/24","gateway":"169.254.1.2","dev":"lk10a","protocol":"196"},
    {"dst":"100.64.0.5","gateway":"10.1.0.17","dev":"br110","protocol":"196"}])"),
              IsEmpty());
  EXPECT_THAT(strays("Vrf00010", R"([
    {"dst":"10.71.0.0/24","gateway":"169.254.1.2","dev":"lk10a","protocol":"196"},
    {"dst":"10.200.0.0/24","gateway":"169.254.1.2","dev":"lk99a","protocol":"196"},
    {"dst":"10.70.0.5","gateway":"10.255.0.2","dev":"br50010","protocol":"99"},
    {"dst":"default","gateway":"10.1.0.7","dev":"br110","protocol":"16"}])"),
              ElementsAre("10.71.0.0/24 via 169.254.1.2 dev lk10a",
                          "10.200.0.0/24 via 169.254.1.2 dev lk99a",
                          "10.70.0.5 via 10.255.0.2 dev br50010",
                          "default via 10.1.0.7 dev br110"));
  // What zebra found in the kernel explains nothing, nor does another VRF's table.
  EXPECT_THAT(strays("Vrf00020", R"([
    {"dst":"10.71.0.0/24","gateway":"169.254.1.2","dev":"lk20a","protocol":"186"},
    {"dst":"10.200.0.0/24","gateway":"169.254.1.2","dev":"lk10a","protocol":"196"}])"),
              testing::SizeIs(2));
}

TEST(FrrStrays, every_ipv6_route_but_the_kernels_own_is_one) {
  FrrRoutes out;
  out.take_rib(rib);
  ASSERT_TRUE(out.take_kernel(R"([{"dst":"fe80::/64","dev":"br110","protocol":"2"},
    {"dst":"default","gateway":"fe80::1","dev":"br110","protocol":"9"}])",
                              "Vrf00010", RouteFamily::ipv6));
  ASSERT_EQ(out.kernel().size(), 1u);
  EXPECT_FALSE(out.is_explained(out.kernel()[0], "Vrf00010"));
}

TEST(FrrStrays, a_route_out_of_a_network_is_told_from_one_to_its_own_nodes) {
  const SwitchItem& item = item_of("frr_netns");
  const SwitchState state = two_tenants(item);
  const auto& segment = state.segments.front();
  SwitchFiles files = *item.render(state);
  const std::string own = "br" + std::to_string(segment.vlan);
  file(files, "kernel") += "route 10.71.0.0/24 via 10.9.9.9 dev " + own + " vrf " + segment.vrf +
                           "\nroute 10.72.0.0/24 via 10.9.9.9 dev lk7a vrf " + segment.vrf + "\n";
  EXPECT_THAT(unclear_of(item, files, state),
              ElementsAre("kernel: route 10.71.0.0/24 via 10.9.9.9 dev " + own + " vrf " +
                              segment.vrf,
                          "kernel: route 10.72.0.0/24 via 10.9.9.9 dev lk7a vrf " + segment.vrf +
                              " leads out of its segments"));
}

TEST(FrrStrays, an_import_of_another_vrf_is_named_as_such) {
  const SwitchItem& item = item_of("frr_netns");
  const SwitchState state = two_tenants(item);
  SwitchFiles files = *item.render(state);
  std::string& conf = file(files, "frr.conf");
  const std::string open = "router bgp " + std::to_string(state.asn) + " vrf " +
                           state.vrfs.front().name + "\n";
  const auto at = conf.find(" address-family ipv4 unicast\n", conf.find(open));
  ASSERT_NE(at, std::string::npos);
  conf.insert(conf.find('\n', at) + 1, "  import vrf Vrf04098\n");
  EXPECT_THAT(unclear_of(item, files, state),
              ElementsAre("frr.conf: import vrf Vrf04098 (in " + state.vrfs.front().name + ")"));
}

}  // namespace
}  // namespace tundish::switches
