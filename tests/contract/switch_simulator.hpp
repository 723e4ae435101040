#pragma once
// Simulators of switches as processes, and what somebody else has configured on them before us.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <memory>

#include "base/text.hpp"
#include "codec/json.hpp"
#include "families/switches/driver_http.hpp"
#include "ports/exec.hpp"
#include "ports/wire.hpp"
#include "runtime/net/http_client.hpp"
#include "runtime/process/process.hpp"

namespace tundish {

struct Vendor {
  std::string item;
  std::string sim;
  std::string port;     ///< name of port 1 without the number
  std::string foreign;  ///< somebody else's configuration, in which ours begins
};

inline const char* const eos_foreign = R"(hostname leaf1
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

inline const char* const nxos_foreign = R"(hostname leaf1
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

inline const char* const junos_foreign = R"(set system host-name leaf1
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

inline const char* const nvue_foreign = R"({
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

inline const char* const sonic_foreign = R"({
 "config_db": {
  "DEVICE_METADATA": {"localhost": {"hostname": "leaf1", "docker_routing_config_mode": "split"}},
  "INTERFACE": {"Ethernet48": {}, "Ethernet48|10.254.1.0/31": {}},
  "LOOPBACK_INTERFACE": {"Loopback0": {}, "Loopback0|10.255.0.1/32": {}},
  "PORT": {
   "Ethernet1": {"admin_status": "down", "lanes": "1", "mtu": "9100", "speed": "100000"},
   "Ethernet2": {"admin_status": "down", "lanes": "2", "mtu": "9100", "speed": "100000"},
   "Ethernet48": {"admin_status": "up", "description": "to the spine", "lanes": "48"}},
  "SAG": {"GLOBAL": {"gateway_mac": "00:00:5e:00:01:10"}},
  "VLAN": {"Vlan3000": {"description": "operators", "vlanid": "3000"}},
  "VXLAN_EVPN_NVO": {"nvo1": {"source_vtep": "vtep1"}},
  "VXLAN_TUNNEL": {"vtep1": {"src_ip": "10.255.0.1"}},
  "VXLAN_TUNNEL_MAP": {"vtep1|map_900_Vlan3000": {"vlan": "Vlan3000", "vni": "900"}}
 },
 "frr": {
  "router bgp 65001": {
   "bgp router-id 10.255.0.1": {},
   "neighbor 10.254.1.1 remote-as 65100": {},
   "address-family l2vpn evpn": {
    "neighbor 10.254.1.1 activate": {}, "advertise-all-vni": {},
    "vni 900": {"rd 192.0.2.1:900": {}}}}
 }
})";

inline void PrintTo(const Vendor& vendor, std::ostream* out) { *out << vendor.item; }

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

/// Programs for a switch that is reached over SSH: the simulator runs them in its own namespace.
class SimulatorExec final : public Exec {
 public:
  explicit SimulatorExec(Wire& wire) : wire_(wire) {}
  void start(ExecRequest request, Duration limit, Done done) override {
    std::string argv;
    for (const auto& word : request.argv)
      argv += (argv.empty() ? "" : ",") + switches::json_text(word);
    HttpRequest http;
    http.method = "POST";
    http.url = request.target + "/exec";
    http.body = "{\"argv\":[" + argv + "],\"input\":" + switches::json_text(request.input) + "}";
    wire_.start(std::move(http), limit, [done = std::move(done)](Result<HttpResponse> answer) {
      if (!answer) return done(answer.error());
      const auto root = JsonValue::parse(answer->body);
      if (!root) return done(root.error());
      ExecOutput out;
      out.rc = static_cast<int>(root->at("rc").as_integer().value_or(-1));
      out.out = root->at("out").as_text().value_or("");
      out.err = root->at("err").as_text().value_or("");
      done(std::move(out));
    });
  }

 private:
  Wire& wire_;
};

}  // namespace tundish
