// Render, read back and difference of a whole fabric for each kind of switch: 256 leaves and 200
// tenants, each tenant on 8 leaves with 2 ports each, so 6.25 tenants a leaf; and, as the worst
// case, one leaf that carries all 200. One thread. Aim (design 9): render + audit + diff <= 1 s.
#include <cstdio>
#include <string>

#include "bench/figures.hpp"
#include "families/switches/switch_item.hpp"

using namespace tundish;
using namespace tundish::switches;

namespace {

constexpr int leaves = 256, tenants = 200, leaves_of_tenant = 8;

std::string port_name(std::string_view item, int number) {
  if (item == "sonic") return "Ethernet" + std::to_string(4 * number);
  if (item == "arista_eos") return "Ethernet" + std::to_string(number + 1);
  if (item == "nxos") return "Ethernet1/" + std::to_string(number + 1);
  if (item == "junos") return "et-0/0/" + std::to_string(number);
  return "swp" + std::to_string(number + 1);
}

void add_tenant(const SwitchItem& item, SwitchState& leaf, int tenant) {
  const int at = static_cast<int>(leaf.segments.size());
  VrfState vrf;
  vrf.vrf_id = 10 + tenant;
  vrf.name = "Vrf" + std::to_string(100000 + vrf.vrf_id).substr(1);
  vrf.l3vni = 50001 + tenant;
  if (item.capabilities().needs_l3vlan) vrf.l3vlan = 2000 + at;
  vrf.rd = leaf.router_id + ":" + std::to_string(vrf.vrf_id);
  vrf.import_targets = vrf.export_targets = {"65000:" + std::to_string(vrf.l3vni)};
  SegmentState segment;
  segment.vrf = vrf.name;
  segment.vlan = 100 + at;
  segment.l2vni = 10001 + tenant;
  segment.rd = leaf.router_id + ":" + std::to_string(segment.vlan);
  segment.import_targets = segment.export_targets = {"65000:" + std::to_string(segment.l2vni)};
  segment.gateway = "10.10.0.1/16";
  segment.acl_in = "T-" + std::to_string(vrf.vrf_id) + "-IN";
  leaf.acls.push_back({segment.acl_in,
                       {{10, AclAction::deny, "ip", "", "10.88.0.0/16", 0, 0},
                        {20, AclAction::permit, "ip", "", "", 0, 0}}});
  for (int port = 0; port < 2; ++port) {
    leaf.ports.push_back({port_name(item.name, static_cast<int>(leaf.ports.size())),
                          PortMode::access, segment.vlan, "", "", "node eth0"});
  }
  leaf.vrfs.push_back(std::move(vrf));
  leaf.segments.push_back(std::move(segment));
}

SwitchState make_leaf(int number) {
  SwitchState leaf;
  leaf.asn = 65001 + number;
  leaf.router_id = leaf.vtep_address = "10.255.1." + std::to_string(number);
  return leaf;
}

struct Times {
  double render = 0, parse = 0, diff = 0;
  std::size_t bytes = 0, faults = 0;
};

/// The difference is taken against a leaf that lost its first port, so that there is one to find.
Times measure(const SwitchItem& item, const std::vector<SwitchState>& fabric) {
  Times out;
  for (const auto& leaf : fabric) {
    const double begin = bench::cpu_s();
    const auto files = item.render(leaf);
    const double rendered = bench::cpu_s();
    if (!files) {
      std::fprintf(stderr, "%s\n", files.error().message().c_str());
      return {0, 0, 0, 0, 1};
    }
    SwitchOwnership ownership;
    for (const auto& port : leaf.ports) ownership.ports.push_back(port.name);
    const double before = bench::cpu_s();
    auto seen = item.parse(*files, ownership);
    const double parsed = bench::cpu_s();
    if (!seen || !(seen->own == leaf)) ++out.faults;
    const double begin_diff = bench::cpu_s();
    SwitchState wanted = leaf;
    wanted.ports[0] = {leaf.ports[0].name, PortMode::quarantine, 0, "", "", ""};
    const auto steps = item.steps(seen->own, wanted);
    out.diff += bench::cpu_s() - begin_diff;
    if (!steps || steps->empty()) ++out.faults;
    out.render += rendered - begin;
    out.parse += parsed - before;
    for (const auto& file : *files) out.bytes += file.text.size();
  }
  return out;
}

}  // namespace

int main() {
  std::size_t faults = 0;
  for (const SwitchItem* item : all_switch_items()) {
    std::vector<SwitchState> fabric;
    for (int leaf = 0; leaf < leaves; ++leaf) fabric.push_back(make_leaf(leaf));
    for (int tenant = 0; tenant < tenants; ++tenant) {
      for (int n = 0; n < leaves_of_tenant; ++n) {
        const int leaf = (tenant * leaves_of_tenant + n) % leaves;
        add_tenant(*item, fabric[static_cast<std::size_t>(leaf)], tenant);
      }
    }
    SwitchState full = make_leaf(1);
    for (int tenant = 0; tenant < tenants; ++tenant) add_tenant(*item, full, tenant);
    sort_state(full);
    for (auto& leaf : fabric) sort_state(leaf);
    const Times all = measure(*item, fabric), one = measure(*item, {full});
    faults += all.faults + one.faults;
    std::printf(
        "%-10s 256 leaves: render %4.0f ms, read back %4.0f ms, steps %4.0f ms (%zu KiB); "
        "one leaf of 200 tenants: %3.0f + %3.0f + %3.0f ms\n",
        std::string(item->name).c_str(), all.render * 1e3, all.parse * 1e3, all.diff * 1e3,
        all.bytes / 1024, one.render * 1e3, one.parse * 1e3, one.diff * 1e3);
    const std::string name = "switches_" + std::string(item->name) + "_s";
    bench::print_figure(name.c_str(), all.render + all.parse + all.diff);
  }
  return faults == 0 ? 0 : 1;
}
