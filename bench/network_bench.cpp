// Plan, audit and difference of a whole fabric: 256 leaves x 200 tenants, each tenant with a node
// on every leaf. Aim (design 9): render + audit + diff <= 1 s.
#include <cstdio>
#include <ctime>

#include "bench/figures.hpp"
#include "control/network/audit.hpp"
#include "control/network/difference.hpp"

using namespace tundish;
using namespace tundish::control::network;

namespace {

constexpr int leaves = 256, tenants = 200;

/// CPU time: what else runs on the machine does not count.
double ms_since(std::clock_t start) {
  return 1000.0 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

AclRule deny(const std::string& destination, int sequence) {
  AclRule rule;
  rule.sequence = sequence;
  rule.action = AclAction::deny;
  rule.destination = destination;
  return rule;
}

WantedNetwork make_network(int index) {
  WantedNetwork out;
  out.id = NetworkId("network-" + std::to_string(index));
  out.label = "tenant" + std::to_string(index) + "/train";
  out.vrf_id = 10 + index;
  out.l3vni = 50001 + index;
  out.l2vni = 10001 + index;
  out.vrf = vrf_name(out.vrf_id);
  out.acl = acl_name(out.vrf_id);
  out.segment = segment_name(out.l2vni);
  out.l3_target = "65000:" + std::to_string(out.l3vni);
  out.l2_target = "65000:" + std::to_string(out.l2vni);
  out.gateway = "10.10.0.1/16";
  out.prefixes = {"10.10.0.0/16"};
  out.mtu = 9000;
  out.storage = true;
  out.rules = {deny("10.255.0.0/16", 10), deny("10.88.0.0/16", 20), deny("100.64.0.0/16", 30)};
  AclRule own;
  own.sequence = 40;
  own.source = own.destination = "10.10.0.0/16";
  out.rules.push_back(own);
  out.storage_prefixes = {"100.64." + std::to_string(index) + ".0/24"};
  return out;
}

Intent make_intent() {
  Intent out;
  out.fabric = "access";
  out.spec.underlay = {"10.255.0.0/16"};
  out.spec.management = {"10.88.0.0/16"};
  out.spec.storage_prefix = "10.200.0.0/24";
  out.storage_target = "65000:60001";
  for (int i = 0; i < tenants; ++i) {
    out.networks.push_back(make_network(i));
    out.by_vrf[out.networks.back().vrf] = i;
    out.by_acl[out.networks.back().acl] = i;
    out.by_l2vni[out.networks.back().l2vni] = i;
    out.by_l3vni[out.networks.back().l3vni] = i;
  }
  for (int leaf = 0; leaf < leaves; ++leaf) {
    const std::string name = "leaf" + std::to_string(leaf);
    WantedSwitch& device = out.switches[name];
    device.asn = 65001 + leaf;
    device.needs_l3vlan = true;
    device.router_id = device.vtep_address = "10.255.1." + std::to_string(leaf);
    if (leaf < 2) device.storage.push_back({name, "swp999", "10.200.0.1/24"});
    for (int i = 0; i < tenants; ++i) {
      device.networks.push_back(i);
      device.attached.insert(i);
      device.ports["swp" + std::to_string(i)] = {"n", "eth0", i};
      auto& network = out.networks[static_cast<std::size_t>(i)];
      network.switches[name] = {name, 100 + i, 2000 + i};
      network.local_storage[name] = {"100.64." + std::to_string(i) + "." + std::to_string(leaf)};
    }
  }
  return out;
}

}  // namespace

int main() {
  const Intent intent = make_intent();
  auto start = std::clock();
  SwitchesSeen seen;
  for (const auto& [name, device] : intent.switches) seen[name].own = *plan_switch(intent, name);
  const double plan_ms = ms_since(start);
  start = std::clock();
  const auto findings = audit(intent, seen, {});
  const double audit_ms = ms_since(start);
  start = std::clock();
  std::size_t differ = 0;
  for (auto& [name, one] : seen) {
    const auto wanted = *plan_switch(intent, name);
    if (wanted != one.own) ++differ;
  }
  const double diff_ms = ms_since(start);
  start = std::clock();
  const auto& leaf = seen["leaf7"];
  const auto lines = differences(intent, "leaf7", leaf.own, leaf.own);
  const double words_ms = ms_since(start);
  std::printf(
      "%d leaves x %d tenants: plan %.0f ms, audit %.0f ms (%zu findings), plan again and "
      "compare %.0f ms (%zu differ), one leaf in words %.1f ms (%zu)\n",
      leaves, tenants, plan_ms, audit_ms, findings.size(), diff_ms, differ, words_ms, lines.size());
  bench::print_figure("network_plan_s", plan_ms / 1e3);
  bench::print_figure("network_audit_s", audit_ms / 1e3);
  bench::print_figure("network_diff_s", diff_ms / 1e3);
  return findings.empty() && differ == 0 ? 0 : 1;
}
