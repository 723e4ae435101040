#include "control/network/probe_leaf.hpp"

#include <algorithm>

namespace tundish::control::network {
namespace {

const std::string gateway_ping = "gateway ICMP";

/// Where a switch's own programs listen: ssh, BGP, FRR's zebra and bgpd, https.
/// Source: IANA service name and port registry; FRR 8.4 user guide, setup.rst; checked 2026-11.
constexpr int gateway_ports[] = {22, 179, 443, 2601, 2605};
constexpr int other_ports[] = {22, 179};

std::string plain(const std::string& address) { return address.substr(0, address.find('/')); }

class Calls {
 public:
  explicit Calls(NetProbe& probe) : probe_(probe) {}
  void ping(const std::string& what, const std::string& address) {
    add(what + " ICMP", address, 0);
  }
  void connect(const std::string& what, const std::string& address, int port) {
    add(what + " port " + std::to_string(port), address, port);
  }

 private:
  void add(const std::string& name, const std::string& address, int port) {
    const bool known = std::any_of(
        probe_.leaf.begin(), probe_.leaf.end(),
        [&](const ProbeService& one) { return one.address == address && one.port == port; });
    if (!address.empty() && !known) probe_.leaf.push_back({name, address, port});
  }
  NetProbe& probe_;
};

}  // namespace

void plan_leaf(const View& view, ProbePlan& plan) {
  for (auto& one : plan.participants) {
    const auto seen = view.seen.switches.find(one.switch_name);
    const bool read = seen != view.seen.switches.end() && seen->second.reading.has_config;
    if (!read || one.probe.gateway.empty()) continue;
    Calls calls(one.probe);
    calls.ping("gateway", one.probe.gateway);
    for (const int port : gateway_ports) calls.connect("gateway", one.probe.gateway, port);
    const SwitchState& own = seen->second.reading.seen.own;
    std::vector<std::pair<std::string, std::string>> others = {
        {"tunnel end", own.vtep_address}, {"router id", own.router_id}};
    for (const auto& port : own.ports) {
      if (port.mode != PortMode::routed) continue;
      others.emplace_back("port " + port.name, plain(port.address));
    }
    for (const auto& [what, address] : others) {
      calls.ping(what, address);
      for (const int port : other_ports) calls.connect(what, address, port);
    }
  }
}

std::vector<ProbeLeaf> judge_leaf(const Registry& reg, const ProbePlan& plan,
                                  const std::map<std::string, ProbeAnswer>& answers) {
  std::map<std::pair<std::string, std::string>, ProbeLeaf> rows;
  for (const auto& one : plan.participants) {
    const auto& asked = one.probe.leaf;
    if (asked.empty()) continue;
    const std::string cluster = cluster_label(reg, one.cluster);
    ProbeLeaf& row = rows[{cluster, one.switch_name}];
    row.cluster = cluster;
    row.switch_name = one.switch_name;
    const auto answer = answers.find(one.id);
    const bool told = answer != answers.end() && answer->second.answered &&
                      answer->second.seen.leaf.size() == asked.size();
    if (!told) {
      row.detail = one.name + " gave no answer";
      continue;
    }
    for (const auto& seen : answer->second.seen.leaf) {
      const bool answered =
          seen.reach == ProbeReach::reached || seen.reach == ProbeReach::refused;
      if (seen.name == gateway_ping) {
        if (!answered) row.detail = one.name + " got no answer of its gateway to ICMP";
        continue;
      }
      ++row.tried;
      if (answered) row.open.push_back(seen.name + " to " + one.name);
      if (seen.reach == ProbeReach::failed) row.detail = one.name + " could not try all";
    }
  }
  std::vector<ProbeLeaf> out;
  for (auto& [key, row] : rows) {
    row.cell = !row.open.empty()    ? ProbeCell::open
               : row.detail.empty() ? ProbeCell::closed
                                    : ProbeCell::unknown;
    out.push_back(std::move(row));
  }
  return out;
}

}  // namespace tundish::control::network
