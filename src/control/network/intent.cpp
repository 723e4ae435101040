#include "control/network/intent.hpp"

#include <algorithm>

#include "model/ops/allocation_ops.hpp"
#include "model/prefix.hpp"

namespace tundish::control::network {

bool is_inside(const Allocation& allocation, const AllocationNode& member) {
  const auto phase = allocation.status.phase;
  if (phase == AllocationPhase::releasing || phase == AllocationPhase::released) return false;
  if (member.role == MemberRole::leaving) return member.joined && member.attached;
  return member.role != MemberRole::spare;
}

namespace {

/// On its way out, with the tenant's files still mounted: a job may run on, and what it wrote must
/// get there. The way to the storage goes when the node has left the cluster.
bool still_mounts(const Allocation& allocation, const AllocationNode& member) {
  const bool uses = member.role != MemberRole::spare && member.role != MemberRole::controller;
  return uses && member.joined && !is_inside(allocation, member);
}

AclRule rule(AclAction action, const std::string& source, const std::string& destination) {
  AclRule out;
  out.action = action;
  out.source = source;
  out.destination = destination;
  return out;
}

/// The switch answers its tenants' ARP, which no list sees, and ICMP to the gateway. Its routing
/// and management listen on the same addresses and are for nobody there; a tenant's prefix, and the
/// storage's, would open them.
void add_own_addresses(const FabricSpec& fabric, const NetworkSpec& spec,
                       const std::string& gateway, std::vector<AclRule>& out) {
  const auto alone = [](const std::string& address) {
    return address.substr(0, address.find('/')) + "/32";
  };
  if (!gateway.empty()) {
    for (const auto& from : spec.prefixes) {
      out.push_back(rule(AclAction::permit, from, alone(gateway)));
      out.back().protocol = "icmp";
    }
    out.push_back(rule(AclAction::deny, "", alone(gateway)));
  }
  for (const auto& port : fabric.storage_ports) {
    out.push_back(rule(AclAction::deny, "", alone(port.address)));
  }
  // A leaf's links between VRFs have such addresses, and no router hands them on.
  // Source: RFC 3927, section 7; checked 2026-11.
  out.push_back(rule(AclAction::deny, "", "169.254.0.0/16"));
}

/// Ours first: no rule of a tenant opens the underlay, management or other nodes' addresses.
std::vector<AclRule> common_rules(const FabricSpec& fabric, const NetworkSpec& spec,
                                  const std::string& gateway) {
  std::vector<AclRule> out;
  add_own_addresses(fabric, spec, gateway, out);
  for (const auto& prefix : fabric.underlay) out.push_back(rule(AclAction::deny, "", prefix));
  for (const auto& prefix : fabric.management) out.push_back(rule(AclAction::deny, "", prefix));
  if (!fabric.storage_prefix.empty()) {
    out.push_back(rule(AclAction::deny, "", fabric.storage_node_pool));
  }
  for (const auto& wanted : spec.firewall) {
    AclRule next = rule(wanted.action, wanted.source, wanted.destination);
    next.protocol = wanted.protocol;
    next.port_from = wanted.port_from;
    next.port_to = wanted.port_to;
    out.push_back(std::move(next));
  }
  for (const auto& from : spec.prefixes) {
    for (const auto& to : spec.prefixes) out.push_back(rule(AclAction::permit, from, to));
  }
  for (std::size_t i = 0; i < out.size(); ++i) out[i].sequence = static_cast<int>(i + 1) * 10;
  return out;
}

class IntentWriter {
 public:
  IntentWriter(const View& view, const std::string& fabric) : view_(view) {
    out_.fabric = fabric;
    if (const Fabric* found = view.reg.find_named<Fabric>(fabric)) out_.spec = found->spec;
    out_.storage_target = target(out_.spec.storage_l3vni);
  }

  Intent write() {
    add_switches();
    add_inventory();
    for (const auto& [id, network] : view_.reg.all<Network>()) {
      const auto& status = network.status;
      const bool here = status.fabric == out_.fabric || status.partition_fabric == out_.fabric ||
                        status.nvlink_fabric == out_.fabric;
      if (here) add_network(network);
    }
    for (auto& [name, device] : out_.switches) {
      std::sort(device.networks.begin(), device.networks.end());
      const auto end = std::unique(device.networks.begin(), device.networks.end());
      device.networks.erase(end, device.networks.end());
    }
    return std::move(out_);
  }

 private:
  std::string target(int number) const {
    return std::to_string(out_.spec.rt_admin) + ":" + std::to_string(number);
  }

  void add_switches() {
    for (const auto& [id, device] : view_.reg.all<Switch>()) {
      if (fabric_of(device) != out_.fabric) continue;
      WantedSwitch& wanted = out_.switches[device.meta.name];
      wanted.asn = device.spec.asn;
      wanted.router_id = device.spec.router_id;
      wanted.vtep_address = device.spec.vtep_address;
      wanted.needs_l3vlan = l3vlan_drivers().contains(device.spec.driver);
      const auto seen = view_.seen.switches.find(device.meta.name);
      if (seen == view_.seen.switches.end() || !seen->second.reading.has_config) continue;
      const SwitchState& own = seen->second.reading.seen.own;
      if (wanted.asn == 0) wanted.asn = own.asn;
      if (wanted.router_id.empty()) wanted.router_id = own.router_id;
      if (wanted.vtep_address.empty()) wanted.vtep_address = own.vtep_address;
    }
    for (const auto& port : out_.spec.storage_ports) {
      const auto device = out_.switches.find(port.switch_name);
      if (device != out_.switches.end()) device->second.storage.push_back(port);
    }
  }

  void add_inventory() {
    for (const auto& [id, node] : view_.reg.all<Node>()) {
      for (const auto& port : node.spec.ports) {
        if (!port.guid.empty()) out_.guids[port.guid] = {node.meta.name, nobody};
        if (port.role != PortRole::access) continue;
        const auto device = out_.switches.find(port.switch_name);
        if (device == out_.switches.end()) continue;
        device->second.ports[port.switch_port] = {node.meta.name, port.name, nobody};
      }
      for (const auto& gpu : gpus_of(node)) out_.gpus[gpu.uuid] = {node.meta.name, nobody};
    }
  }

  static const std::vector<ObservedGpu>& gpus_of(const Node& node) {
    return node.status.accepted_gpus.empty() ? node.status.hardware.gpus
                                             : node.status.accepted_gpus;
  }

  void add_network(const Network& network) {
    const auto& status = network.status;
    const Allocation* allocation = view_.reg.find(network.allocation);
    if (!allocation || status.segments.empty()) return;
    const int index = static_cast<int>(out_.networks.size());
    WantedNetwork wanted;
    wanted.id = network.id;
    const Tenant* tenant = view_.reg.find(network.meta.tenant);
    wanted.label =
        (tenant ? tenant->meta.name : network.meta.tenant.str()) + "/" + network.meta.name;
    wanted.version = network.meta.version;
    wanted.vrf_id = status.vrf_id;
    wanted.l3vni = status.l3vni;
    wanted.l2vni = status.segments.front().vni;
    wanted.segment = status.segments.front().name;
    wanted.gateway = status.segments.front().gateway;
    wanted.vrf = vrf_name(status.vrf_id);
    wanted.acl = acl_name(status.vrf_id);
    wanted.partition = partition_name(status.vrf_id);
    wanted.l3_target = target(wanted.l3vni);
    wanted.l2_target = target(wanted.l2vni);
    wanted.prefixes = network.spec.prefixes;
    wanted.mtu = network.spec.mtu;
    wanted.storage = network.spec.storage && !out_.spec.storage_prefix.empty();
    wanted.rules = common_rules(out_.spec, network.spec, wanted.gateway);
    wanted.partition_fabric = status.partition_fabric;
    wanted.nvlink_fabric = status.nvlink_fabric;
    wanted.pkey = status.pkey;
    wanted.nvlink_partition = status.nvlink_partition;
    for (const auto& numbers : status.switches) wanted.switches[numbers.switch_name] = numbers;
    out_.by_vrf.emplace(wanted.vrf, index);
    out_.by_acl.emplace(wanted.acl, index);
    out_.by_l2vni.emplace(wanted.l2vni, index);
    out_.by_l3vni.emplace(wanted.l3vni, index);
    if (wanted.pkey != 0) out_.by_pkey.emplace(wanted.pkey, index);
    if (wanted.nvlink_partition != 0) out_.by_nvlink.emplace(wanted.nvlink_partition, index);
    add_members(network, *allocation, index, wanted);
    out_.networks.push_back(std::move(wanted));
  }

  void add_members(const Network& network, const Allocation& allocation, int index,
                   WantedNetwork& wanted) {
    std::vector<std::uint32_t> addresses;
    for (const auto& member : allocation.status.nodes) {
      const Node* node = view_.reg.find(member.node);
      if (node && still_mounts(allocation, member)) {
        add_storage(network, member, stay(*node, member, index), wanted, addresses);
      }
      if (!node || !is_inside(allocation, member)) continue;
      std::string where;
      for (const auto& port : node->spec.ports) {
        if (port.name == member.interface) where = attach(*node, port, index);
        if (!port.guid.empty() && wanted.pkey != 0) {
          wanted.guids.insert(port.guid);
          out_.guids[port.guid].network = index;
        }
      }
      if (wanted.nvlink_partition != 0 && !node->spec.nvlink_domain.empty()) {
        add_gpus(*node, index, wanted);
        wanted.imex_nodes.insert(member.address);
      }
      // A controller uses no storage: it is not let there.
      if (member.role == MemberRole::controller) continue;
      add_storage(network, member, where, wanted, addresses);
    }
    wanted.storage_prefixes = cover_exactly(addresses);
    // As text, for so every state keeps its lists.
    std::sort(wanted.storage_prefixes.begin(), wanted.storage_prefixes.end());
    for (auto& [name, local] : wanted.local_storage) std::sort(local.begin(), local.end());
    if (wanted.storage_prefixes.empty()) return;
    for (auto& [name, device] : out_.switches) {
      if (!device.storage.empty()) device.networks.push_back(index);
    }
  }

  static void add_storage(const Network& network, const AllocationNode& member,
                          const std::string& where, WantedNetwork& wanted,
                          std::vector<std::uint32_t>& addresses) {
    if (!wanted.storage) return;
    for (const auto& own : network.status.storage) {
      const auto address = own.node == member.node ? parse_ipv4(own.address) : std::nullopt;
      if (!address) continue;
      addresses.push_back(*address);
      if (where.empty()) continue;
      wanted.local_storage[where].push_back(own.address);
      wanted.local_routes[where].push_back({own.address + "/32", member.address});
    }
  }

  /// The network stays on the leaf of a node that is on its way out; its port is nobody's already.
  std::string stay(const Node& node, const AllocationNode& member, int index) {
    for (const auto& port : node.spec.ports) {
      const auto device = out_.switches.find(port.switch_name);
      if (port.name != member.interface || device == out_.switches.end()) continue;
      device->second.networks.push_back(index);
      device->second.attached.insert(index);
      return port.switch_name;
    }
    return "";
  }

  std::string attach(const Node& node, const Port& port, int index) {
    const auto device = out_.switches.find(port.switch_name);
    if (device == out_.switches.end()) return "";
    device->second.ports[port.switch_port] = {node.meta.name, port.name, index};
    device->second.networks.push_back(index);
    device->second.attached.insert(index);
    return port.switch_name;
  }

  void add_gpus(const Node& node, int index, WantedNetwork& wanted) {
    for (const auto& gpu : gpus_of(node)) {
      wanted.gpus.insert(gpu.uuid);
      out_.gpus[gpu.uuid].network = index;
    }
  }

  const View& view_;
  Intent out_;
};

}  // namespace

const std::set<std::string>& l3vlan_drivers() {
  static const std::set<std::string> names = {"frr", "nxos", "sonic"};
  return names;
}

std::string fabric_of(const Switch& device) {
  return device.spec.fabric.empty() ? "access" : device.spec.fabric;
}

Intent intent_of(const View& view, const std::string& fabric) {
  return IntentWriter(view, fabric).write();
}

std::vector<AclRule> acl_rules(const Intent& intent, const WantedNetwork& network,
                               const std::string& switch_name) {
  std::vector<AclRule> out = network.rules;
  const auto local = network.local_storage.find(switch_name);
  if (local == network.local_storage.end()) return out;
  for (const auto& address : local->second) {
    AclRule next = rule(AclAction::permit, address + "/32", intent.spec.storage_prefix);
    next.sequence = static_cast<int>(out.size() + 1) * 10;
    out.push_back(std::move(next));
  }
  return out;
}

std::vector<std::string> keep_vrfs(const Intent& intent, const std::string& switch_name) {
  const auto device = intent.switches.find(switch_name);
  if (device == intent.switches.end() || device->second.storage.empty()) return {};
  return {intent.spec.storage_vrf};
}

std::vector<std::string> storage_switches(const View& view, const std::string& fabric) {
  std::set<std::string> out;
  if (const Fabric* found = view.reg.find_named<Fabric>(fabric)) {
    for (const auto& port : found->spec.storage_ports) out.insert(port.switch_name);
  }
  return {out.begin(), out.end()};
}

}  // namespace tundish::control::network
