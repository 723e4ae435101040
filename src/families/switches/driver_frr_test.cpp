// The FRR transport without a switch: its programs, and what it makes of iproute2's and lldpcli's
// answers. On real switches: tests/netns/frr_driver.sh.
#include "families/switches/driver_frr.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "families/switches/driver_frr_live.hpp"
#include "families/switches/driver_frr_scripts.hpp"

namespace tundish::switches {
namespace {

using frr_parts::Kernel;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string section(const std::string& kind, const std::string& netns, const std::string& text) {
  return "@@ " + kind + " " + netns + " " + std::to_string(text.size()) + "\n" + text + "\n";
}

const char* const conf = R"(Building configuration...
vrf Vrf00010
 netns /run/netns/Vrf00010
 vni 50010
exit-vrf
vrf other
 netns /run/netns/elsewhere
exit-vrf
router bgp 65001
 bgp router-id 10.255.0.1
)";

const char* const root_links = R"([
 {"ifname":"lo","flags":["LOOPBACK","UP","LOWER_UP"],"mtu":65536,"link_type":"loopback",
  "addr_info":[{"family":"inet","local":"127.0.0.1","prefixlen":8,"scope":"host"},
               {"family":"inet","local":"10.255.9.9","prefixlen":32,"scope":"global"},
               {"family":"inet","local":"10.255.0.1","prefixlen":32,"scope":"global"}]},
 {"ifname":"swp2","flags":["BROADCAST","MULTICAST"],"mtu":1500,"link_type":"ether",
  "linkinfo":{"info_kind":"veth"},"ifalias":"spare \"two\"","addr_info":[]}])";

const char* const vrf_links = R"([
 {"ifname":"br110","flags":["UP","LOWER_UP"],"mtu":9000,"link_type":"ether",
  "address":"00:00:5e:00:01:10","linkinfo":{"info_kind":"bridge","info_data":{"vlan_filtering":0}},
  "addr_info":[{"family":"inet","local":"10.10.0.1","prefixlen":24,"scope":"global"},
               {"family":"inet6","local":"fe80::1","prefixlen":64,"scope":"link"}]},
 {"ifname":"vx10010","flags":["UP","LOWER_UP"],"mtu":9000,"link_type":"ether","master":"br110",
  "linkinfo":{"info_kind":"vxlan","info_data":{"id":10010,"local":"10.255.0.1","port":4789,
              "learning":false}},"addr_info":[]},
 {"ifname":"lk10a","flags":["UP"],"mtu":1500,"link_type":"ether","linkinfo":{"info_kind":"veth"},
  "addr_info":[]},
 {"ifname":"swp1","flags":["UP","LOWER_UP"],"mtu":9000,"link_type":"ether","master":"br110",
  "linkinfo":{"info_kind":"veth"},"addr_info":[]}])";

TEST(FrrSections, an_answer_that_is_cut_off_is_refused) {
  const std::string whole = section("conf", "-", "a\nb") + section("addr", "-", "[]");
  const auto parsed = parse_frr_sections(whole);
  ASSERT_TRUE(parsed);
  ASSERT_EQ(parsed->size(), 2u);
  EXPECT_EQ((*parsed)[0].text, "a\nb");
  const std::size_t first = section("conf", "-", "a\nb").size();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    // A cut between two sections is noticed by the exit status of the program.
    if (length == first) continue;
    EXPECT_FALSE(parse_frr_sections(whole.substr(0, length))) << length;
  }
  EXPECT_FALSE(parse_frr_sections("@@ conf - -1\n\n"));
  EXPECT_FALSE(parse_frr_sections("@@ conf - 99999999999999999999\n\n"));
  EXPECT_FALSE(parse_frr_sections("motd of the switch\n" + whole));
}

TEST(FrrLive, namespaces_become_the_kernel_file) {
  const std::vector<FrrSection> sections = {
      {"conf", "-", conf},
      {"addr", "-", root_links},
      {"addr", "Vrf00010", vrf_links},
      {"nft", "Vrf00010", "table ip tundish {\n}"},
      {"lldp", "-",
       R"({"lldp":[{"interface":[{"name":"swp1","chassis":[{"name":[{"value":"n01"}]}],)"
       R"("port":[{"id":[{"type":"mac","value":"02:00:00:00:00:01"}],)"
       R"("descr":[{"value":"eth0"}]}]}]}]})"}};
  const auto read = read_frr_sections(sections, Kernel::netns_per_vni);
  ASSERT_TRUE(read);
  EXPECT_THAT(read->files[0].text, Not(HasSubstr("netns /run/netns/Vrf00010")));
  EXPECT_THAT(read->files[0].text, HasSubstr(" netns /run/netns/elsewhere\n"));
  EXPECT_EQ(read->files[1].text,
            "switch kernel netns_per_vni vtep 10.255.0.1 anycast_mac 00:00:5e:00:01:10\n"
            "netns Vrf00010\n"
            "link lo type loopback mtu 65536 up\n"
            "link swp2 type port mtu 1500 down alias \"spare ?two?\"\n"
            "link br110 netns Vrf00010 type bridge address 00:00:5e:00:01:10 mtu 9000 up\n"
            "addr 10.10.0.1/24 dev br110 netns Vrf00010\n"
            "addr fe80::1/64 dev br110 netns Vrf00010\n"
            "link lk10a netns Vrf00010 type veth mtu 1500 up\n"
            "link swp1 netns Vrf00010 type port master br110 mtu 9000 up\n"
            "link vx10010 netns Vrf00010 type vxlan id 10010 local 10.255.0.1 dstport 4789 "
            "nolearning master br110 mtu 9000 up\n");
  EXPECT_EQ(read->files[2].text, "# netns Vrf00010\ntable ip tundish {\n}\n");
  EXPECT_THAT(read->facts.ports_up, ElementsAre("swp1"));
  ASSERT_EQ(read->facts.neighbours.size(), 1u);
  EXPECT_EQ(read->facts.neighbours[0].device, "n01");
  EXPECT_EQ(read->facts.neighbours[0].device_port, "eth0");
  EXPECT_FALSE(read->is_interrupted);
}

/// What a hand set beside our part, in the forms that the tools print.
TEST(FrrLive, a_route_and_a_table_by_hand_within_a_network_are_named) {
  const char* const routes = R"([{"dst":"10.10.0.0/24","dev":"br110","protocol":"2","flags":[]},
    {"dst":"10.9.0.0/24","gateway":"10.10.0.7","dev":"br110","protocol":"3","flags":[]},
    {"dst":"10.6.0.0/24","gateway":"10.10.0.8","dev":"br110","protocol":"2","flags":["onlink"]},
    {"type":"blackhole","dst":"10.8.0.0/16","protocol":"4","flags":[]},
    {"dst":"10.7.0.0/16","dev":"br110","protocol":"186","flags":[]},
    {"dst":"100.64.0.1","gateway":"10.10.0.9","dev":"br110","protocol":"196","flags":[]}])";
  const char* const rib = R"(Codes: K - kernel route, C - connected, S - static, B - BGP,

VRF Vrf00010:
K>* 10.9.0.0/24 [0/0] via 10.10.0.7, br110, 00:00:05
C>* 10.10.0.0/24 is directly connected, br110, 00:10:00
B>* 10.7.0.0/16 [20/0] is directly connected, br110, weight 1, 00:09:00
S>* 100.64.0.1/32 [1/0] via 10.10.0.9, br110, weight 1, 00:09:00
)";
  const auto read = read_frr_sections(
      {{"conf", "-", ""},
       {"rib", "-", rib},
       {"addr", "-", root_links},
       {"route", "-", R"([{"dst":"default","gateway":"192.0.2.1","protocol":"3"}])"},
       {"addr", "Vrf00010", vrf_links},
       {"route", "Vrf00010", routes},
       {"nft", "Vrf00010", "table inet filter {\n\tchain input {\n\t\tdrop\n\t}\n}"}},
      Kernel::netns_per_vni);
  ASSERT_TRUE(read);
  SwitchOwnership ownership;
  ownership.ports = {"swp1", "swp2"};
  const auto seen = frr_parts::parse_for(Kernel::netns_per_vni, read->files, ownership);
  ASSERT_TRUE(seen);
  std::vector<std::string> told;
  for (const auto& line : seen->unclear) {
    if (line.find("route") != std::string::npos || line.find("nft") != std::string::npos) {
      told.push_back(line);
    }
  }
  EXPECT_THAT(told,
              testing::UnorderedElementsAre(
                  "kernel: route 10.9.0.0/24 via 10.10.0.7 dev br110 vrf Vrf00010",
                  "kernel: route 10.6.0.0/24 via 10.10.0.8 dev br110 vrf Vrf00010",
                  "kernel: route 10.8.0.0/16 blackhole vrf Vrf00010",
                  "nft: netns Vrf00010: table inet filter {"));
}

TEST(FrrLive, a_switch_without_a_loopback_address_is_named) {
  const auto read =
      read_frr_sections({{"conf", "-", ""}, {"addr", "-", "[]"}}, Kernel::netns_per_vni);
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message(), HasSubstr("loopback"));
}

// What a VLAN-aware kernel shows, in the form of iproute2's bridge/vlan.c.
const char* const aware_links = R"([
   {"ifname":"lo","flags":["UP"],"mtu":65536,"link_type":"loopback",
    "addr_info":[{"family":"inet","local":"10.255.0.1","prefixlen":32,"scope":"global"}]},
   {"ifname":"br_default","flags":["UP"],"mtu":9216,"address":"02:00:00:00:00:09",
    "linkinfo":{"info_kind":"bridge","info_data":{"vlan_filtering":1}},"addr_info":[]},
   {"ifname":"vxlan48","flags":["UP"],"mtu":9216,"master":"br_default",
    "linkinfo":{"info_kind":"vxlan","info_data":{"external":true,"vnifilter":true,
    "local":"10.255.0.1","port":4789,"learning":false}},"addr_info":[]},
   {"ifname":"Vrf00010","flags":["UP"],"mtu":65575,
    "linkinfo":{"info_kind":"vrf","info_data":{"table":100010}},"addr_info":[]},
   {"ifname":"vlan2001","link":"br_default","flags":["UP"],"mtu":9216,"master":"Vrf00010",
    "address":"02:00:00:00:00:09","linkinfo":{"info_kind":"vlan","info_data":{"id":2001}},
    "addr_info":[]},
   {"ifname":"vlan110","link":"br_default","flags":["UP"],"mtu":9000,"master":"Vrf00010",
    "address":"00:00:5e:00:01:10","linkinfo":{"info_kind":"vlan","info_data":{"id":110}},
    "addr_info":[{"family":"inet","local":"10.10.0.1","prefixlen":24,"scope":"global"}]},
   {"ifname":"swp1","flags":["UP","LOWER_UP"],"mtu":9000,"master":"br_default","addr_info":[]}])";
const char* const aware_vlans = R"([
   {"ifname":"br_default","vlans":[{"vlan":110,"flags":["PVID"]},{"vlan":2001}]},
   {"ifname":"vxlan48","vlans":[{"vlan":110},{"vlan":2001}]},
   {"ifname":"swp1","vlans":[{"vlan":110,"flags":["PVID","Egress Untagged"]}]}])";
const char* const aware_tunnels = R"([{"ifname":"vxlan48","tunnels":[{"vlan":110,"tunid":10010},
   {"vlan":2001,"tunid":50010}]}])";

TEST(FrrLive, a_route_by_hand_in_the_table_of_a_vrf_device_is_named) {
  const auto read = read_frr_sections(
      {{"conf", "-", ""},
       {"addr", "-", aware_links},
       {"route", "-",
        R"([{"dst":"10.9.0.0/24","gateway":"10.10.0.7","table":"100010","protocol":"3"},
           {"dst":"default","gateway":"192.0.2.1","protocol":"3"}])"}},
      Kernel::vrf_vlan_aware);
  ASSERT_TRUE(read);
  EXPECT_THAT(read->files[1].text, HasSubstr("route 10.9.0.0/24 via 10.10.0.7 vrf Vrf00010\n"));
  EXPECT_THAT(read->files[1].text, Not(HasSubstr("192.0.2.1")));
}

TEST(FrrLive, far_ends_of_tunnels_are_carried_by_device_or_by_vni) {
  const auto aware = read_frr_sections({{"conf", "-", ""},
                                        {"addr", "-", aware_links},
                                        {"peer", "-", "vxlan48 10.255.0.2 10010\n"}},
                                       Kernel::vrf_vlan_aware);
  ASSERT_TRUE(aware);
  EXPECT_THAT(aware->files[1].text, HasSubstr("peer 10.255.0.2 dev vxlan48 vni 10010\n"));
  const auto spaces = read_frr_sections({{"conf", "-", ""},
                                         {"addr", "-", root_links},
                                         {"peer", "Vrf00010", "vx10010 10.255.0.2 \n"}},
                                        Kernel::netns_per_vni);
  ASSERT_TRUE(spaces);
  EXPECT_THAT(spaces->files[1].text, HasSubstr("peer 10.255.0.2 dev vx10010 netns Vrf00010\n"));
}

SwitchState one_tenant() {
  SwitchState state;
  state.asn = 65001;
  state.router_id = state.vtep_address = "10.255.0.1";
  VrfState vrf;
  vrf.name = "Vrf00010";
  vrf.vrf_id = 10;
  vrf.l3vni = 50010;
  vrf.l3vlan = 2001;
  vrf.rd = "10.255.0.1:10";
  vrf.import_targets = vrf.export_targets = {"65000:50010"};
  SegmentState segment;
  segment.vrf = vrf.name;
  segment.vlan = 110;
  segment.l2vni = 10010;
  segment.rd = "10.255.0.1:110";
  segment.import_targets = segment.export_targets = {"65000:10010"};
  segment.gateway = "10.10.0.1/24";
  SwitchPortState port;
  port.name = "swp1";
  port.mode = PortMode::access;
  port.vlan = 110;
  state.vrfs = {vrf};
  state.segments = {segment};
  state.ports = {port};
  return state;
}

TEST(FrrLive, a_vlan_aware_kernel_reads_back_as_its_item_rendered_it) {
  const SwitchState state = one_tenant();
  const auto rendered = frr_parts::render_for(Kernel::vrf_vlan_aware, state);
  ASSERT_TRUE(rendered);
  // A container's namespace is none of the switch's.
  const auto read = read_frr_sections({{"conf", "-", (*rendered)[0].text},
                                       {"addr", "-", aware_links},
                                       {"addr", "container", root_links},
                                       {"vlan", "-", aware_vlans},
                                       {"tunnel", "-", aware_tunnels}},
                                      Kernel::vrf_vlan_aware);
  ASSERT_TRUE(read);
  SwitchOwnership ownership;
  ownership.ports = {"swp1"};
  const auto seen = frr_parts::parse_for(Kernel::vrf_vlan_aware, read->files, ownership);
  ASSERT_TRUE(seen);
  EXPECT_THAT(seen->unclear, IsEmpty());
  EXPECT_EQ(seen->own, state) << read->files[1].text;
}

TEST(FrrScripts, every_program_is_one_that_a_shell_takes) {
  const std::vector<SwitchStep> steps = {{"a", "kernel", "ip link set lo up\n"},
                                         {"b", "vtysh", "router bgp 65001\nEND-OF-TEXT\n"},
                                         {"c", "nft", "# netns Vrf00010\ntable ip tundish\n"}};
  for (const std::string& program :
       {frr_read_program(seconds(5)), frr_run_program(steps, StepMode::strict, seconds(5)),
        frr_run_program({}, StepMode::tolerant, seconds(5)), frr_resume_program(seconds(5)),
        frr_save_program(steps, seconds(5))}) {
    FILE* const shell = ::popen("sh -n 2>/dev/null", "w");
    ASSERT_NE(shell, nullptr);
    std::fputs(program.c_str(), shell);
    EXPECT_EQ(::pclose(shell), 0) << program;
    // Cut off anywhere before its last line, nothing of it runs.
    EXPECT_TRUE(program.ends_with("}\nmain\n"));
    EXPECT_EQ(program.find("\nmain\n"), program.size() - 6);
  }
}

class FakeExec final : public Exec {
 public:
  ExecRequest asked;
  Result<ExecOutput> answer = ExecOutput{};
  void start(ExecRequest request, Duration, Done done) override {
    asked = std::move(request);
    done(answer);
  }
};

TEST(FrrTransport, names_the_step_that_failed) {
  FakeExec exec;
  FrrTransport transport(exec, Kernel::netns_per_vni);
  exec.answer = ExecOutput{3, "@failed 1002\nRTNETLINK answers: File exists\n", ""};
  Result<> told;
  transport.run({"leaf1", "ssh://root@leaf1"}, {{"one", "kernel", "x\n"}, {"two", "vtysh", "y\n"}},
                StepMode::strict, seconds(5), [&](const Result<>& done) { told = done; });
  ASSERT_FALSE(told);
  EXPECT_THAT(told.error().message(), HasSubstr("\"two\" failed: RTNETLINK answers: File exists"));
  EXPECT_THAT(exec.asked.argv, ElementsAre("sh", "-s"));
  exec.answer = ExecOutput{2, "", "bgpd does not run\n"};
  transport.fetch({"leaf1", "ssh://root@leaf1"}, seconds(5),
                  [&](const Result<SwitchFetched>& read) { EXPECT_FALSE(read); });
  exec.answer = make_error(Code::timeout, "no answer");
  transport.confirm({"leaf1", "ssh://root@leaf1"}, {}, seconds(5), [&](const Result<>& done) {
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Code::timeout);
  });
}

}  // namespace
}  // namespace tundish::switches
