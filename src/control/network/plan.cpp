// Plans: the states that an intent means, and one order's part of them.
#include <algorithm>

#include "control/network/intent.hpp"
#include "model/ops/allocation_ops.hpp"

namespace tundish::control::network {
namespace {

constexpr std::string_view no_router_id = "has no router id";

int index_of(const Intent& intent, const WantedNetwork& network) {
  return static_cast<int>(&network - intent.networks.data());
}

VrfState make_vrf(const Intent& intent, const WantedNetwork& network,
                  const std::string& switch_name, const SwitchNumbers& numbers) {
  const WantedSwitch& device = intent.switches.at(switch_name);
  VrfState vrf;
  vrf.name = network.vrf;
  vrf.description = network.label;
  vrf.vrf_id = network.vrf_id;
  vrf.l3vni = network.l3vni;
  vrf.l3vlan = device.needs_l3vlan ? numbers.l3vlan : 0;
  vrf.rd = device.router_id + ":" + std::to_string(network.vrf_id);
  vrf.import_targets = {network.l3_target};
  vrf.export_targets = {network.l3_target};
  if (network.storage && !network.storage_prefixes.empty() && !device.storage.empty()) {
    vrf.leaks.push_back({intent.spec.storage_vrf, {intent.spec.storage_prefix}});
  }
  const auto routes = network.local_routes.find(switch_name);
  if (routes != network.local_routes.end() && device.attached.contains(index_of(intent, network))) {
    vrf.routes = routes->second;
  }
  return vrf;
}

SegmentState make_segment(const WantedNetwork& network, const WantedSwitch& device,
                          const SwitchNumbers& numbers) {
  SegmentState segment;
  segment.vrf = network.vrf;
  segment.vlan = numbers.vlan;
  segment.l2vni = network.l2vni;
  segment.rd = device.router_id + ":" + std::to_string(numbers.vlan);
  segment.import_targets = {network.l2_target};
  segment.export_targets = {network.l2_target};
  segment.gateway = network.gateway;
  segment.acl_in = network.acl;
  segment.mtu = network.mtu;
  return segment;
}

SwitchPortState make_port(const Intent& intent, const std::string& switch_name,
                          const std::string& name, const WantedPort& wanted) {
  SwitchPortState port;
  port.name = name;
  port.description = wanted.node + " " + wanted.interface;
  if (wanted.network == nobody) return port;
  const auto& network = intent.networks[static_cast<std::size_t>(wanted.network)];
  const auto numbers = network.switches.find(switch_name);
  if (numbers == network.switches.end() || numbers->second.vlan == 0) return port;
  port.mode = PortMode::access;
  port.vlan = numbers->second.vlan;
  return port;
}

/// The storage VRF takes in the addresses of each tenant's nodes and nothing else of it.
VrfState make_storage_vrf(const Intent& intent, const WantedSwitch& device) {
  VrfState vrf;
  vrf.name = intent.spec.storage_vrf;
  vrf.description = "storage";
  vrf.vrf_id = intent.spec.storage_vrf_id;
  vrf.l3vni = intent.spec.storage_l3vni;
  vrf.l3vlan = device.needs_l3vlan ? intent.spec.storage_l3vlan : 0;
  vrf.rd = device.router_id + ":" + std::to_string(vrf.vrf_id);
  vrf.import_targets = {intent.storage_target};
  vrf.export_targets = {intent.storage_target};
  for (const int index : device.networks) {
    const auto& network = intent.networks[static_cast<std::size_t>(index)];
    if (!network.storage || network.storage_prefixes.empty()) continue;
    vrf.leaks.push_back({network.vrf, network.storage_prefixes});
  }
  return vrf;
}

void add_network(const Intent& intent, const std::string& switch_name, int index,
                 SwitchState& out) {
  const WantedSwitch& device = intent.switches.at(switch_name);
  const WantedNetwork& network = intent.networks[static_cast<std::size_t>(index)];
  const auto found = network.switches.find(switch_name);
  const SwitchNumbers numbers = found == network.switches.end() ? SwitchNumbers{} : found->second;
  out.vrfs.push_back(make_vrf(intent, network, switch_name, numbers));
  if (!device.attached.contains(index) || numbers.vlan == 0) return;
  out.segments.push_back(make_segment(network, device, numbers));
  out.acls.push_back({network.acl, acl_rules(intent, network, switch_name)});
}

struct Place {
  const Node* node = nullptr;
  const Port* port = nullptr;
};

Result<Place> find_place(const View& view, const NodeId& id, const std::string& interface) {
  const Node* node = view.reg.find(id);
  if (!node) return make_error(Code::not_found, "node " + id.str() + " does not exist");
  for (const auto& port : node->spec.ports) {
    if (port.name == interface && !port.switch_name.empty()) return Place{node, &port};
  }
  return make_error(Code::invalid,
                    "port " + interface + " of node " + node->meta.name + " is on no switch")
      .about("node/" + node->meta.name)
      .with_remedy("import its cable");
}

/// The parts of a plan that belong to one network.
SwitchPatch part_of(const SwitchState& plan, const WantedNetwork& network,
                    const std::string& storage_vrf) {
  SwitchPatch out;
  for (const auto& vrf : plan.vrfs) {
    if (vrf.name == network.vrf || vrf.name == storage_vrf) out.vrfs.push_back(vrf);
  }
  for (const auto& segment : plan.segments) {
    if (segment.vrf == network.vrf) out.segments.push_back(segment);
  }
  for (const auto& acl : plan.acls) {
    if (acl.name == network.acl) out.acls.push_back(acl);
  }
  return out;
}

const WantedNetwork* network_of(const Intent& intent, const Allocation& allocation) {
  for (const auto& network : intent.networks) {
    if (network.id == allocation.status.network) return &network;
  }
  return nullptr;
}

}  // namespace

Result<SwitchState> plan_switch(const Intent& intent, const std::string& switch_name) {
  const auto found = intent.switches.find(switch_name);
  if (found == intent.switches.end()) {
    return make_error(Code::not_found,
                      "switch " + switch_name + " is not in fabric " + intent.fabric)
        .about("switch/" + switch_name);
  }
  const WantedSwitch& device = found->second;
  if (device.router_id.empty()) {
    return make_error(Code::unavailable, "switch " + switch_name + " " + std::string(no_router_id))
        .about("switch/" + switch_name)
        .with_remedy("declare it, or wait until the switch was read");
  }
  SwitchState out;
  out.asn = device.asn;
  out.router_id = device.router_id;
  out.vtep_address = device.vtep_address;
  for (const int index : device.networks) {
    add_network(intent, switch_name, index, out);
  }
  if (!device.storage.empty()) out.vrfs.push_back(make_storage_vrf(intent, device));
  for (const auto& [name, port] : device.ports) {
    out.ports.push_back(make_port(intent, switch_name, name, port));
  }
  for (const auto& storage : device.storage) {
    SwitchPortState port;
    port.name = storage.port;
    port.mode = PortMode::routed;
    port.vrf = intent.spec.storage_vrf;
    port.address = storage.address;
    port.description = "storage";
    out.ports.push_back(std::move(port));
  }
  sort_state(out);
  return out;
}

Result<SwitchState> plan_switch(const View& view, const std::string& switch_name) {
  const Switch* device = view.reg.find_named<Switch>(switch_name);
  if (!device) {
    return make_error(Code::not_found, "switch " + switch_name + " does not exist")
        .about("switch/" + switch_name);
  }
  return plan_switch(intent_of(view, fabric_of(*device)), switch_name);
}

Result<SwitchPatch> patch_for(const View& view, const Allocation& allocation, const NodeId& id,
                              const std::string& interface, PatchTarget target) {
  const Place place = TRY(find_place(view, id, interface));
  const Switch* device = view.reg.find_named<Switch>(place.port->switch_name);
  if (!device) {
    return make_error(Code::not_found, "switch " + place.port->switch_name + " does not exist")
        .about("node/" + place.node->meta.name);
  }
  const Intent intent = intent_of(view, fabric_of(*device));
  const SwitchState plan = TRY(plan_switch(intent, device->meta.name));
  const WantedNetwork* network = network_of(intent, allocation);
  SwitchPatch out;
  if (network) out = part_of(plan, *network, intent.spec.storage_vrf);
  SwitchPortState port;
  port.name = place.port->switch_port;
  port.description = place.node->meta.name + " " + interface;
  if (target == PatchTarget::attach) {
    const SwitchPortState* wanted = find_port(plan, port.name);
    const WantedPort& owner = intent.switches.at(device->meta.name).ports.at(port.name);
    const bool ours = network && owner.network != nobody &&
                      &intent.networks[static_cast<std::size_t>(owner.network)] == network;
    if (!ours || !wanted || wanted->mode != PortMode::access) {
      return make_error(Code::conflict, "node " + place.node->meta.name +
                                            " is not wanted in the network of allocation " +
                                            allocation.meta.name)
          .about("node/" + place.node->meta.name)
          .with_remedy("decide anew: the registry changed");
    }
    port = *wanted;
  }
  out.ports.push_back(std::move(port));
  return out;
}

Result<SwitchPatch> storage_patch(const View& view, const Allocation& allocation,
                                  const std::string& switch_name) {
  const Switch* device = view.reg.find_named<Switch>(switch_name);
  if (!device) {
    return make_error(Code::not_found, "switch " + switch_name + " does not exist")
        .about("switch/" + switch_name);
  }
  const Intent intent = intent_of(view, fabric_of(*device));
  const SwitchState plan = TRY(plan_switch(intent, switch_name));
  SwitchPatch out;
  if (const WantedNetwork* network = network_of(intent, allocation)) {
    out = part_of(plan, *network, intent.spec.storage_vrf);
  }
  for (const auto& port : plan.ports) {
    if (port.mode == PortMode::routed) out.ports.push_back(port);
  }
  return out;
}

FabricState plan_fabric(const Intent& intent, const std::string& fabric) {
  FabricState out;
  for (const auto& network : intent.networks) {
    if (network.partition_fabric == fabric && network.pkey != 0 && !network.guids.empty()) {
      IbPartitionState partition;
      partition.name = network.partition;
      partition.pkey = network.pkey;
      partition.ipoib = true;
      partition.index0 = true;
      for (const auto& guid : network.guids) {
        partition.members.push_back({guid, IbMembership::full});
      }
      out.partitions.push_back(std::move(partition));
    }
    if (network.nvlink_fabric == fabric && network.nvlink_partition != 0 && !network.gpus.empty()) {
      NvlinkPartitionState partition;
      partition.name = network.partition;
      partition.partition_id = network.nvlink_partition;
      partition.gpus = {network.gpus.begin(), network.gpus.end()};
      partition.imex_nodes = {network.imex_nodes.begin(), network.imex_nodes.end()};
      out.nvlink.push_back(std::move(partition));
    }
  }
  std::ranges::sort(out.partitions, {}, &IbPartitionState::pkey);
  std::ranges::sort(out.nvlink, {}, &NvlinkPartitionState::partition_id);
  return out;
}

FabricState plan_fabric(const View& view, const std::string& fabric) {
  return plan_fabric(intent_of(view, fabric), fabric);
}

}  // namespace tundish::control::network
