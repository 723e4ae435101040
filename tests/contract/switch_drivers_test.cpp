// What every switch transport must hold, against a simulator of each vendor's protocol
// (tests/sims) that shares no code with families/ and keeps accepted, applied and saved apart.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <memory>

#include "base/text.hpp"
#include "codec/json.hpp"
#include "families/switches/driver_configured.hpp"
#include "families/switches/driver_eos.hpp"
#include "families/switches/driver_junos.hpp"
#include "families/switches/driver_nvue.hpp"
#include "families/switches/driver_nxos.hpp"
#include "runtime/net/http_client.hpp"
#include "runtime/process/process.hpp"

namespace tundish {
namespace {

using switches::ConfiguredSwitch;
using switches::SwitchItem;
using switches::SwitchTransport;
using testing::HasSubstr;

struct Vendor {
  std::string item;
  std::string sim;
  std::string port;     ///< name of port 1 without the number
  std::string foreign;  ///< somebody else's configuration, in which ours begins
};

const char* const eos_foreign = R"(hostname leaf1
spanning-tree mode mstp
vlan 3000
   name operators
!
vrf instance MGMT
   rd 192.0.2.1:9
!
interface Ethernet1
   no switchport
   shutdown
!
interface Ethernet2
   no switchport
   shutdown
!
interface Ethernet48
   description to the spine
   no switchport
   ip address 10.254.1.0/31
!
interface Loopback1
   ip address 10.255.0.1/32
!
interface Vxlan1
   vxlan source-interface Loopback1
   vxlan vlan 3000 vni 900
!
ip virtual-router mac-address 00:00:5e:00:01:10
ip route 198.51.100.0/24 Null0
router bgp 65001
   router-id 10.255.0.1
   neighbor 10.254.1.1 remote-as 65100
   vlan 3000
      rd 192.0.2.1:3000
      route-target both 64999:900
      redistribute learned
!
)";

const char* const nxos_foreign = R"(hostname leaf1
nv overlay evpn
feature bgp
feature interface-vlan
feature vn-segment-vlan-based
feature nv overlay
fabric forwarding anycast-gateway-mac 0000.5e00.0110
vlan 3000
  vn-segment 900
vrf context management
  ip route 0.0.0.0/0 192.0.2.254
interface nve1
  no shutdown
  host-reachability protocol bgp
  source-interface loopback1
  member vni 900
    ingress-replication protocol bgp
interface Ethernet1/1
  no switchport
  shutdown
interface Ethernet1/2
  no switchport
  shutdown
interface Ethernet1/48
  description to the spine
  no switchport
  ip address 10.254.1.0/31
interface loopback1
  ip address 10.255.0.1/32
router bgp 65001
  router-id 10.255.0.1
  neighbor 10.254.1.1
    remote-as 65100
evpn
  vni 900 l2
    rd 192.0.2.1:900
)";

const char* const junos_foreign = R"(set system host-name leaf1
set chassis aggregated-devices ethernet device-count 4
set groups tundish-gateway interfaces irb unit <*> mac 00:00:5e:00:01:10
set interfaces et-0/0/1 disable
set interfaces et-0/0/2 disable
set interfaces et-0/0/48 description "to the <spine> & back"
set interfaces et-0/0/48 unit 0 family inet address 10.254.1.0/31
set interfaces lo0 unit 0 family inet address 10.255.0.1/32
set routing-options router-id 10.255.0.1
set routing-options autonomous-system 65001
set protocols bgp group spines type external
set protocols bgp group spines neighbor 10.254.1.1 peer-as 65100
set routing-instances operators instance-type mac-vrf
set routing-instances operators vlans v3000 vlan-id 3000
set routing-instances operators vlans v3000 vxlan vni 900
set routing-instances operators vrf-target target:64999:900
)";

const char* const nvue_foreign = R"({
 "bridge": {"domain": {"br_default": {"vlan": {"3000": {"vni": {"900": {}}}}}}},
 "evpn": {"enable": "on"},
 "interface": {
  "lo": {"ip": {"address": {"10.255.0.1/32": {}}}, "type": "loopback"},
  "swp1": {"link": {"state": {"down": {}}}, "type": "swp"},
  "swp2": {"link": {"state": {"down": {}}}, "type": "swp"},
  "swp48": {"description": "to the spine", "ip": {"address": {"10.254.1.0/31": {}}}, "type": "swp"}
 },
 "nve": {"vxlan": {"enable": "on", "source": {"address": "10.255.0.1"}}},
 "router": {"bgp": {"autonomous-system": 65001, "enable": "on", "router-id": "10.255.0.1"}},
 "system": {"global": {"fabric-mac": "00:00:5e:00:01:10"}, "hostname": "leaf1"},
 "vrf": {"default": {"router": {"bgp": {"enable": "on",
   "neighbor": {"10.254.1.1": {"remote-as": "external"}}}}}}
})";

void PrintTo(const Vendor& vendor, std::ostream* out) { *out << vendor.item; }

/// A simulator as a process; it ends when its standard input is closed.
class Simulator {
 public:
  Simulator(const Vendor& vendor, const std::string& config, const std::string& timer) {
    file_ = "/tmp/tundish-sim-" + std::to_string(::getpid()) + ".conf";
    EXPECT_TRUE(process::write_file_atomic(file_, config));
    int in[2], out[2];
    if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) std::abort();
    const std::string script = std::string(TUNDISH_SOURCE_DIR) + "/tests/sims/" + vendor.sim;
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(in[0], 0);
      ::dup2(out[1], 1);
      ::execlp("python3", "python3", "-B", script.c_str(), file_.c_str(),
               timer.empty() ? nullptr : timer.c_str(), nullptr);
      ::_exit(127);
    }
    ::close(in[0]);
    ::close(out[1]);
    in_ = in[1];
    char text[16] = {};
    const auto got = ::read(out[0], text, sizeof text - 1);
    ::close(out[0]);
    EXPECT_GT(got, 1) << "the simulator does not start";
    url_ = "http://127.0.0.1:" + std::string(trim(text));
  }
  ~Simulator() {
    ::close(in_);
    ::kill(pid_, SIGTERM);
    ::waitpid(pid_, nullptr, 0);
    ::unlink(file_.c_str());
  }
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;

  const std::string& url() const { return url_; }
  std::string get(const std::string& what) const {
    HttpRequest request;
    request.url = url_ + "/sim/" + what;
    const auto answer = net::http_call(request, seconds(5));
    EXPECT_TRUE(answer);
    return answer ? answer->body : "";
  }
  void post(const std::string& what, const std::string& body) const {
    HttpRequest request;
    request.method = "POST";
    request.url = url_ + "/sim/" + what;
    request.body = body;
    EXPECT_TRUE(net::http_call(request, seconds(5)));
  }
  void trouble(const std::string& name, const std::string& word = "") const {
    post("trouble", R"({"name":")" + name + R"(","word":")" + word + R"("})");
  }

 private:
  std::string file_, url_;
  pid_t pid_ = 0;
  int in_ = -1;
};

struct SwitchDrivers : testing::TestWithParam<Vendor> {
  net::Loop loop;
  net::HttpClient wire{loop, {}};
  std::unique_ptr<Simulator> sim;
  std::unique_ptr<SwitchTransport> transport;
  std::unique_ptr<ConfiguredSwitch> driver;
  Duration limit = seconds(2);

  void SetUp() override { begin(""); }
  void begin(const std::string& timer) {
    sim = std::make_unique<Simulator>(GetParam(), GetParam().foreign, timer);
    start_driver();
  }
  const SwitchItem& item() const {
    const SwitchItem* found = switches::find_switch_item(GetParam().item);
    if (found == nullptr) std::abort();
    return *found;
  }

  /// As after a restart of tundishd: nothing is remembered.
  void start_driver() {
    const std::string& name = GetParam().item;
    if (name == "arista_eos") {
      transport = std::make_unique<switches::EosTransport>(wire, loop, switches::HttpLogin{});
    } else if (name == "nxos") {
      transport = std::make_unique<switches::NxosTransport>(wire, switches::HttpLogin{});
    } else if (name == "junos") {
      transport = std::make_unique<switches::JunosTransport>(wire, switches::HttpLogin{});
    } else {
      transport = std::make_unique<switches::NvueTransport>(wire, loop, switches::HttpLogin{});
    }
    driver = std::make_unique<ConfiguredSwitch>(item(), *transport, loop);
  }

  std::string port(int number) const { return GetParam().port + std::to_string(number); }
  SwitchOwnership ownership() const {
    SwitchOwnership out;
    out.ports = {port(1), port(2)};
    return out;
  }

  /// Every tenant has the same prefix.
  PortIntent intent(int number, int tenant) const {
    PortIntent out;
    out.ownership = ownership();
    SwitchPortState place;
    place.name = port(number);
    if (tenant != 0) {
      VrfState vrf;
      vrf.name = "Vrf000" + std::to_string(tenant);
      vrf.vrf_id = tenant;
      vrf.l3vni = 50000 + tenant;
      if (item().capabilities().needs_l3vlan) vrf.l3vlan = 2000 + tenant;
      vrf.rd = "10.255.0.1:" + std::to_string(tenant);
      vrf.import_targets = vrf.export_targets = {"65000:" + std::to_string(vrf.l3vni)};
      SegmentState segment;
      segment.vrf = vrf.name;
      segment.vlan = 100 + tenant;
      segment.l2vni = 10000 + tenant;
      segment.rd = "10.255.0.1:" + std::to_string(segment.vlan);
      segment.import_targets = segment.export_targets = {"65000:" + std::to_string(segment.l2vni)};
      segment.gateway = "10.10.0.1/24";
      place.mode = PortMode::access;
      place.vlan = segment.vlan;
      out.patch.vrfs = {vrf};
      out.patch.segments = {segment};
    }
    out.patch.ports = {place};
    return out;
  }

  PortRef ref(int number) const { return {"leaf1", sim->url(), port(number), GetParam().item}; }

  /// Port and tenant; 0: quarantine. All at once.
  std::string attach(const std::vector<std::pair<int, int>>& wanted) {
    std::string out;
    std::size_t open = wanted.size();
    for (const auto& [number, tenant] : wanted) {
      driver->attach(ref(number), intent(number, tenant), limit, [&](const Result<>& done) {
        out += done ? "" : done.error().message() + "\n";
        if (--open == 0) loop.stop();
      });
    }
    loop.run();
    return out;
  }

  SwitchReading read() {
    SwitchReading out;
    driver->read(ref(1), ownership(), limit, [&](Result<SwitchReading> reading) {
      EXPECT_TRUE(reading) << (reading ? "" : reading.error().message());
      if (reading) out = std::move(*reading);
      loop.stop();
    });
    loop.run();
    return out;
  }
  std::string place(int number) {
    for (const auto& seen : read().ports) {
      if (seen.port == port(number)) return seen.segment.empty() ? "-" : seen.segment;
    }
    return "not seen";
  }
  void wait(Duration time) {
    loop.at(loop.now() + time, [this] { loop.stop(); });
    loop.run();
  }

  /// Every line of the others, in their order, whatever of ours is between them.
  bool others_are_whole() const {
    const std::string now = sim->get("applied");
    if (GetParam().item == "nvue") {
      const auto tree = JsonValue::parse(now), before = JsonValue::parse(GetParam().foreign);
      return tree && before && contains(*tree, *before);
    }
    const auto lines = split(now, '\n');
    auto at = lines.begin();
    for (const auto& line : split(GetParam().foreign, '\n')) {
      const bool port_line = line == "   no switchport" || line == "  no switchport" ||
                             trim(line) == "shutdown" || trim(line) == "!" ||
                             line.ends_with(" disable");
      if (port_line || trim(line).empty()) continue;
      const auto found = std::find(at, lines.end(), line);
      if (found == lines.end()) {
        ADD_FAILURE() << "lost: " << line << "\n" << now;
        return false;
      }
      at = found + 1;
    }
    return true;
  }
  static bool contains(const JsonValue& whole, const JsonValue& part) {
    for (const auto& [key, value] : part.members()) {
      if (key == "swp1" || key == "swp2") continue;
      if (whole.at(key).is_absent() || !contains(whole.at(key), value)) {
        ADD_FAILURE() << "lost: " << key;
        return false;
      }
    }
    return part.size() > 0 || whole.render() == part.render();
  }
};

TEST_P(SwitchDrivers, two_tenants_with_the_same_addresses_come_and_go) {
  EXPECT_EQ(place(1), "-");
  EXPECT_EQ(attach({{1, 10}}), "");
  EXPECT_EQ(place(1), "seg10010");
  EXPECT_EQ(attach({{2, 20}}), "");
  EXPECT_EQ(place(1), "seg10010");
  EXPECT_EQ(place(2), "seg10020");
  EXPECT_TRUE(others_are_whole());
  EXPECT_EQ(sim->get("saved"), sim->get("applied"));
  const auto seen = read();
  EXPECT_TRUE(seen.seen.unclear.empty()) << seen.seen.unclear.front();
  EXPECT_EQ(seen.seen.own.vrfs.size(), 2u);
  EXPECT_TRUE(std::any_of(seen.ports.begin(), seen.ports.end(),
                          [&](const auto& one) { return one.port == port(1) && one.link_up; }));

  EXPECT_EQ(attach({{1, 0}}), "");
  EXPECT_EQ(place(1), "-");
  EXPECT_EQ(place(2), "seg10020");
  EXPECT_EQ(attach({{2, 0}}), "");
  EXPECT_TRUE(read().seen.own.vrfs.empty());
  EXPECT_TRUE(others_are_whole());
  EXPECT_THAT(sim->get("applied"), testing::Not(HasSubstr("Vrf000")));
  EXPECT_EQ(sim->get("saved"), sim->get("applied"));
}

TEST_P(SwitchDrivers, a_batch_goes_in_one_change) {
  EXPECT_EQ(attach({{1, 10}, {2, 10}}), "");
  EXPECT_EQ(place(1), "seg10010");
  EXPECT_EQ(place(2), "seg10010");
  EXPECT_EQ(attach({{1, 20}}), "");
  EXPECT_EQ(place(1), "seg10020");
  EXPECT_EQ(place(2), "seg10010");
  EXPECT_TRUE(others_are_whole());
}

TEST_P(SwitchDrivers, accepted_is_not_applied) {
  EXPECT_EQ(attach({{2, 20}}), "");
  const std::string before = sim->get("applied");
  sim->trouble("unapplied");
  EXPECT_THAT(attach({{1, 10}}), HasSubstr("took the change but shows"));
  EXPECT_EQ(place(1), "-");
  EXPECT_EQ(sim->get("applied"), before);
}

TEST_P(SwitchDrivers, half_a_change_is_undone) {
  EXPECT_EQ(attach({{2, 20}}), "");
  sim->trouble("half");
  EXPECT_NE(attach({{1, 10}}), "");
  EXPECT_EQ(place(1), "-");
  EXPECT_EQ(place(2), "seg10020");
  EXPECT_EQ(read().seen.own.vrfs.size(), 1u);
  EXPECT_TRUE(others_are_whole());
  EXPECT_EQ(attach({{1, 10}}), "");
  EXPECT_EQ(place(1), "seg10010");
}

TEST_P(SwitchDrivers, a_late_change_is_waited_for) {
  sim->trouble("late");
  EXPECT_EQ(attach({{1, 10}}), "");
  EXPECT_EQ(place(1), "seg10010");
}

TEST_P(SwitchDrivers, a_change_whose_answer_is_lost_is_seen_as_done) {
  limit = milliseconds(800);
  sim->trouble("lost_answer");
  EXPECT_EQ(attach({{1, 10}}), "");
  EXPECT_EQ(place(1), "seg10010");
  EXPECT_EQ(sim->get("saved"), sim->get("applied"));
}

TEST_P(SwitchDrivers, a_refused_command_is_named_and_leaves_nothing) {
  const std::string before = sim->get("applied");
  sim->trouble("refuse", "10010");
  EXPECT_THAT(attach({{1, 10}}), HasSubstr("10010"));
  EXPECT_EQ(place(1), "-");
  EXPECT_TRUE(read().seen.own.vrfs.empty());
  EXPECT_EQ(sim->get("applied"), before);
  EXPECT_TRUE(others_are_whole());
  sim->trouble("none");
  EXPECT_EQ(attach({{1, 10}}), "");
}

TEST_P(SwitchDrivers, one_of_a_batch_is_refused_and_the_other_goes_on) {
  EXPECT_EQ(attach({{1, 30}}), "");
  sim->trouble("refuse", "10010");
  // The first runs alone, so the batch is the two behind it.
  EXPECT_THAT(attach({{1, 30}, {2, 20}, {1, 10}}), HasSubstr("10010"));
  EXPECT_EQ(place(2), "seg10020");
  EXPECT_NE(place(1), "seg10010");
}

TEST_P(SwitchDrivers, what_a_person_changed_is_seen_and_nothing_is_done_to_the_rest) {
  EXPECT_EQ(attach({{1, 10}}), "");
  std::string text = sim->get("applied");
  const auto at = text.find("10.255.0.1:10");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, 13, "10.255.0.1:99");
  sim->post("load", text);
  const auto seen = read();
  ASSERT_EQ(seen.seen.own.vrfs.size(), 1u);
  EXPECT_THAT(render_json(seen.seen.own), HasSubstr("10.255.0.1:99"));
  EXPECT_EQ(sim->get("applied"), text);  // a look changes nothing
  EXPECT_EQ(attach({{1, 10}}), "");
  EXPECT_THAT(sim->get("applied"), testing::Not(HasSubstr("10.255.0.1:99")));
}

TEST_P(SwitchDrivers, a_change_that_nobody_confirms_goes_away_where_the_switch_can) {
  if (!item().capabilities().confirmed_commit) GTEST_SKIP() << "it has no confirmed commit";
  sim.reset();
  begin("1.0");
  const std::string before = sim->get("applied");
  // We die between the commit and its confirmation: only the transport's run is called.
  const auto seen = read().seen.own;
  const auto wanted = merge_patch(seen, intent(1, 10).patch, {});
  const auto steps = item().steps(seen, wanted);
  ASSERT_TRUE(steps);
  transport->run({"leaf1", sim->url()}, *steps, switches::StepMode::strict, limit,
                 [&](const Result<>& done) {
                   EXPECT_TRUE(done) << (done ? "" : done.error().message());
                   loop.stop();
                 });
  loop.run();
  EXPECT_EQ(place(1), "seg10010");
  start_driver();
  wait(milliseconds(1500));
  EXPECT_EQ(place(1), "-");
  EXPECT_EQ(sim->get("applied"), before);
  // And a confirmed one stays.
  EXPECT_EQ(attach({{1, 10}}), "");
  wait(milliseconds(1500));
  EXPECT_EQ(place(1), "seg10010");
}

INSTANTIATE_TEST_SUITE_P(Sims, SwitchDrivers,
                         testing::Values(Vendor{"arista_eos", "eos_sim.py", "Ethernet",
                                                eos_foreign},
                                         Vendor{"junos", "junos_sim.py", "et-0/0/", junos_foreign},
                                         Vendor{"nxos", "nxos_sim.py", "Ethernet1/", nxos_foreign},
                                         Vendor{"nvue", "nvue_sim.py", "swp", nvue_foreign}),
                         [](const auto& tested) { return tested.param.item; });

}  // namespace
}  // namespace tundish
