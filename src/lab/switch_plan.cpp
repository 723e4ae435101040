#include "lab/switch_plan.hpp"

namespace tundish::lab {
namespace {

constexpr std::int64_t leaf_asn = 65000;  // plus the leaf's number
constexpr std::int64_t spine_asn = 65100;
const std::string daemon_address = "10.88.0.1";

std::string text(int number) { return std::to_string(number); }

/// Network i of leaf and spine: the leaf has the even address, the spine the odd one.
SwitchLink link_of(int leaf, int spine, SwitchRole role) {
  const std::string net = "10.254." + text(leaf) + ".";
  const std::string low = net + text(2 * (spine - 1));
  const std::string high = net + text(2 * (spine - 1) + 1);
  const std::string leaf_port = "up" + text(spine);
  const std::string spine_port = "swp" + text(leaf);
  if (role == SwitchRole::leaf) return {leaf_port, low, "spine" + text(spine), spine_port, high};
  return {spine_port, high, "leaf" + text(leaf), leaf_port, low};
}

}  // namespace

std::vector<std::string> LabSwitch::hardware() const {
  std::vector<std::string> all = ports;
  for (const auto& link : links) all.push_back(link.port);
  all.push_back(management_port);
  return all;
}

std::vector<LabSwitch> switches_of(const LabSpec& spec) {
  std::vector<LabSwitch> all;
  if (spec.fabric != FabricKind::frr) return all;
  const int leaves = static_cast<int>(leaves_of(spec).size());
  for (int i = 1; i <= leaves; ++i) {
    LabSwitch leaf{SwitchRole::leaf,
                   "leaf" + text(i),
                   "10.88.2." + text(i),
                   "10.255.0." + text(i),
                   leaf_asn + i,
                   {},
                   {}};
    for (int k = 1; k <= spec.spines; ++k) leaf.links.push_back(link_of(i, k, leaf.role));
    all.push_back(std::move(leaf));
  }
  for (const auto& node : hardware_of(spec)) {
    for (const auto& port : node.ports) {
      for (auto& leaf : all) {
        if (leaf.name == port.leaf) leaf.ports.push_back(port.port);
      }
    }
  }
  for (int k = 1; k <= spec.spines; ++k) {
    LabSwitch spine{SwitchRole::spine,
                    "spine" + text(k),
                    "10.88.3." + text(k),
                    "10.255.1." + text(k),
                    spine_asn,
                    {},
                    {}};
    for (int i = 1; i <= leaves; ++i) spine.links.push_back(link_of(i, k, spine.role));
    all.push_back(std::move(spine));
  }
  return all;
}

std::string_view role_name(SwitchRole role) {
  switch (role) {
    case SwitchRole::leaf: return "leaf";
    case SwitchRole::spine: return "spine";
    case SwitchRole::manager: return "manager";
    case SwitchRole::storage: return "storage";
  }
  return "";
}

std::vector<LabSwitch> boxes_of(const LabSpec& spec) {
  std::vector<LabSwitch> all = switches_of(spec);
  if (all.empty()) return all;
  const auto add = [&](SwitchRole role, const std::string& name, const std::string& management) {
    LabSwitch box;
    box.role = role;
    box.name = name;
    box.management = management;
    all.push_back(std::move(box));
  };
  if (spec.hcas > 0) add(SwitchRole::manager, manager_name, "10.88.4.1");
  if (!spec.storage_box) return all;
  const StorageCable cable = storage_cable_of(spec);
  for (auto& one : all) {
    if (one.name == cable.leaf) one.ports.push_back(cable.port);
  }
  add(SwitchRole::storage, storage_name, "10.88.5.1");
  return all;
}

StorageCable storage_cable_of(const LabSpec& spec) {
  const std::string leaf = "leaf1";
  int used = 0;
  for (const auto& node : hardware_of(spec)) {
    for (const auto& port : node.ports) used += port.leaf == leaf ? 1 : 0;
  }
  return {"eth1", "02:4c:5a:00:00:01", leaf, "swp" + text(used + 1)};
}

std::string management_peer(const std::string& switch_name) { return "m-" + switch_name; }

std::string render_underlay(const LabSwitch& plan) {
  std::string out = "frr defaults datacenter\nhostname " + plan.name +
                    "\nservice integrated-vtysh-config\n!\nrouter bgp " + std::to_string(plan.asn) +
                    "\n bgp router-id " + plan.loopback +
                    "\n no bgp default ipv4-unicast\n no bgp ebgp-requires-policy\n"
                    " bgp bestpath as-path multipath-relax\n neighbor FABRIC peer-group\n"
                    " neighbor FABRIC remote-as external\n neighbor FABRIC timers 1 3\n"
                    " neighbor FABRIC timers connect 1\n"
                    " neighbor FABRIC advertisement-interval 0\n";
  for (const auto& link : plan.links) {
    out += " neighbor " + link.peer_address + " peer-group FABRIC\n neighbor " + link.peer_address +
           " description " + link.peer + "\n";
  }
  out += " address-family ipv4 unicast\n  network " + plan.loopback +
         "/32\n  neighbor FABRIC activate\n exit-address-family\n"
         " address-family l2vpn evpn\n  neighbor FABRIC activate\n";
  if (plan.role == SwitchRole::leaf) out += "  advertise-all-vni\n";
  return out + " exit-address-family\nexit\n!\n";
}

std::string render_addresses(const LabSwitch& plan) {
  std::string lines = "link set lo up\naddr add " + plan.management + "/32 dev " + management_port +
                      "\nlink set " + management_port + " up\nroute add " + daemon_address +
                      "/32 dev " + management_port + " src " + plan.management + "\n";
  if (!plan.loopback.empty()) lines += "addr add " + plan.loopback + "/32 dev lo\n";
  for (const auto& link : plan.links) {
    lines +=
        "addr add " + link.address + "/31 dev " + link.port + "\nlink set " + link.port + " up\n";
  }
  return lines;
}

}  // namespace tundish::lab
