// Runs the shipped FRR driver against the switches of a lab, for frr_driver.sh: in the lab's root
// network, over the shipped ssh.
//   frr_driver attach LEAF PORT=TENANT...   tenant's number, or - for quarantine; all at once
//   frr_driver read LEAF                    what the switch shows
// KEY, KNOWN_HOSTS and SOCKETS say how to log in; PORTS names the leaf's ports that are ours.
// KILL_AFTER=MS ends the process while it works.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "codec/json.hpp"
#include "families/switches/driver_configured.hpp"
#include "families/switches/driver_frr.hpp"
#include "runtime/net/loop.hpp"
#include "runtime/net/ssh_exec.hpp"

namespace tundish {
namespace {

std::string variable(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? "" : text;
}

std::string five(int number) { return std::to_string(100000 + number).substr(1); }

SwitchOwnership ownership() {
  SwitchOwnership out;
  out.ports = split(variable("PORTS"), ' ');
  return out;
}

/// Every tenant of the test has the same prefix and gateway.
SwitchPatch patch_of(const std::string& leaf, const std::string& port, int tenant) {
  const std::string router_id = "10.255.0." + leaf.substr(4);
  VrfState vrf;
  vrf.name = "Vrf" + five(tenant);
  vrf.description = "tenant " + std::to_string(tenant);
  vrf.vrf_id = tenant;
  vrf.l3vni = 50000 + tenant;
  vrf.rd = router_id + ":" + std::to_string(tenant);
  vrf.import_targets = vrf.export_targets = {"65000:" + std::to_string(vrf.l3vni)};
  SegmentState segment;
  segment.vrf = vrf.name;
  segment.vlan = 100 + tenant;
  segment.l2vni = 10000 + tenant;
  segment.rd = router_id + ":" + std::to_string(segment.vlan);
  segment.import_targets = segment.export_targets = {"65000:" + std::to_string(segment.l2vni)};
  segment.gateway = "10.1.0.254/24";
  segment.acl_in = "T-" + std::to_string(tenant) + "-IN";
  AclState acl;
  acl.name = segment.acl_in;
  acl.rules.resize(2);
  acl.rules[0].sequence = 10;
  acl.rules[0].action = AclAction::deny;
  acl.rules[0].protocol = "udp";
  acl.rules[0].port_from = 7779;
  acl.rules[1].sequence = 20;
  SwitchPortState access;
  access.name = port;
  access.mode = PortMode::access;
  access.vlan = segment.vlan;
  access.description = "node of " + std::to_string(tenant);
  return {{vrf}, {segment}, {acl}, {access}};
}

PortIntent intent_of(const std::string& leaf, const std::string& port, const std::string& tenant) {
  PortIntent out;
  out.ownership = ownership();
  const auto number = parse_integer(tenant);
  if (!number) {
    SwitchPortState quarantine;
    quarantine.name = port;
    out.patch.ports = {quarantine};
    return out;
  }
  out.patch = patch_of(leaf, port, static_cast<int>(*number));
  out.segment = "seg" + std::to_string(out.patch.segments.front().l2vni);
  return out;
}

class Session {
 public:
  explicit Session(const std::string& leaf)
      : leaf_(leaf),
        exec_(loop_, {variable("KEY"), variable("KNOWN_HOSTS"), variable("SOCKETS")}),
        transport_(exec_, switches::frr_parts::Kernel::netns_per_vni),
        driver_(*switches::find_switch_item("frr_netns"), transport_, loop_) {
    const auto kill_after = parse_integer(variable("KILL_AFTER"));
    if (kill_after) loop_.at(loop_.now() + milliseconds(*kill_after), [] { raise(SIGKILL); });
  }

  int attach(const std::vector<std::string>& words) {
    const Instant begin = loop_.now();
    std::size_t open = words.size();
    for (const auto& word : words) {
      const std::string port = word.substr(0, word.find('='));
      const std::string tenant = word.substr(word.find('=') + 1);
      driver_.attach(ref(port), intent_of(leaf_, port, tenant), seconds(20),
                     [this, begin, word, &open](const Result<>& done) {
                       std::printf("%s %s in %lld ms\n", word.c_str(),
                                   done ? "done" : done.error().message().c_str(),
                                   static_cast<long long>((loop_.now() - begin).ms()));
                       if (!done) rc_ = 3;
                       if (--open == 0) loop_.stop();
                     });
    }
    loop_.run();
    return rc_;
  }

  int read() {
    driver_.read(ref(""), ownership(), seconds(20), [this](const Result<SwitchReading>& reading) {
      if (reading) {
        print(*reading);
      } else {
        std::printf("%s\n", reading.error().message().c_str());
        rc_ = 3;
      }
      loop_.stop();
    });
    loop_.run();
    return rc_;
  }

 private:
  PortRef ref(const std::string& port) const {
    return {leaf_, "ssh://root@10.88.2." + leaf_.substr(4), port, "frr_netns"};
  }

  static void print(const SwitchReading& reading) {
    for (const auto& port : reading.ports) {
      std::printf("port %s %s %s\n", port.port.c_str(),
                  port.segment.empty() ? "-" : port.segment.c_str(), port.link_up ? "up" : "down");
    }
    for (const auto& peer : reading.seen.peers) {
      std::printf("peer %d %s\n", peer.vni, peer.address.c_str());
    }
    for (const auto& line : reading.seen.unclear) std::printf("unclear %s\n", line.c_str());
    for (const auto& far : reading.neighbours) {
      std::printf("neighbour %s %s/%s\n", far.port.c_str(), far.device.c_str(),
                  far.device_port.c_str());
    }
    std::printf("own %s\n", render_json(reading.seen.own).c_str());
  }

  std::string leaf_;
  net::Loop loop_;
  net::SshExec exec_;
  switches::FrrTransport transport_;
  switches::ConfiguredSwitch driver_;
  int rc_ = 0;
};

}  // namespace
}  // namespace tundish

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() < 2) return 2;
  tundish::Session session(words[1]);
  if (words[0] == "read") return session.read();
  if (words[0] == "attach") return session.attach({words.begin() + 2, words.end()});
  return 2;
}
