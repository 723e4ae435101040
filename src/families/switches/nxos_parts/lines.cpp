// Lines as `show running-config` writes them. What is empty was not seen (a switch half way) and
// has no line.
#include <array>

#include "base/text.hpp"
#include "families/switches/nxos_parts/parts.hpp"
#include "families/switches/parts/acl_line.hpp"

namespace tundish::switches::nexus {
namespace {

constexpr int routed_mtu =
    9000;                       // as SegmentState::mtu: a node's frames fit on either kind of port
constexpr int core_mtu = 9216;  // of the interface that only carries the L3VNI

std::string bgp_header(const SwitchState& state) {
  return "router bgp " + std::to_string(state.asn);
}

/// 00:00:5e:00:01:10 as 0000.5e00.0110.
std::string dotted(const std::string& mac) {
  std::string out;
  int digits = 0;
  for (const char c : mac) {
    if (c == ':') continue;
    if (digits > 0 && digits % 4 == 0) out += '.';
    out += c;
    ++digits;
  }
  return out;
}

void add_target_list(LineTree& root, const std::string& name,
                     const std::vector<std::string>& targets) {
  int sequence = 0;
  for (const auto& target : targets) {
    root.add("ip extcommunity-list standard " + name + " seq " + std::to_string(sequence += 10) +
             " permit rt " + target);
  }
}

const std::vector<std::string>& targets_of(const std::string& vrf, const SwitchState& state) {
  static const std::vector<std::string> none;
  const VrfState* found = find_vrf(state, vrf);
  return found == nullptr ? none : found->export_targets;
}

/// A leak is an import of what its source exports on this switch, through a map that lets only the
/// leak's prefixes pass. Routes of the VRF itself pass by their own targets.
void add_import_map(LineTree& root, const VrfState& vrf, const SwitchState& state) {
  add_target_list(root, own_targets_name(vrf.name), vrf.import_targets);
  root.at("route-map " + import_map_name(vrf.name) + " permit 10")
      .add("match extcommunity " + own_targets_name(vrf.name));
  for (const auto& leak : vrf.leaks) {
    const std::string name = leak_name(vrf.name, leak.from_vrf);
    add_target_list(root, name, targets_of(leak.from_vrf, state));
    for (const auto& [number, prefix] : number_prefixes(leak.prefixes)) {
      root.add("ip prefix-list " + name + " seq " + std::to_string(number) + " permit " + prefix +
               (prefix.ends_with("/32") ? "" : " le 32"));
    }
    root.add("ip prefix-list " + name + " seq " + std::to_string(last_prefix_number) +
             " deny 0.0.0.0/0 le 32");
    // The source's number keeps an entry in its place whatever leaks come and go.
    const std::string number = leak.from_vrf.substr(leak.from_vrf.size() - 5);
    LineTree& entry = root.at("route-map " + import_map_name(vrf.name) + " permit " +
                              std::to_string(100 + parse_integer(number).value_or(0)));
    entry.add("match extcommunity " + name);
    entry.add("match ip address prefix-list " + name);
  }
}

void add_family(LineTree& family, const VrfState& vrf, const SwitchState& state) {
  // Each target twice: for routes of EVPN and for those of this switch.
  for (const auto& target : vrf.import_targets) {
    family.add("route-target import " + target);
    family.add("route-target import " + target + " evpn");
  }
  for (const auto& target : vrf.export_targets) {
    family.add("route-target export " + target);
    family.add("route-target export " + target + " evpn");
  }
  if (vrf.leaks.empty()) return;
  // The map first: no moment without it.
  family.add("import map " + import_map_name(vrf.name));
  for (const auto& leak : vrf.leaks) {
    for (const auto& target : targets_of(leak.from_vrf, state)) {
      family.at("route-target import " + target);
    }
  }
}

LineTree vrf_lines(const VrfState& vrf, const SwitchState& state) {
  LineTree root;
  const std::string vlan = std::to_string(vrf.l3vlan), vni = std::to_string(vrf.l3vni);
  if (vrf.l3vlan != 0) {
    LineTree& node = root.at("vlan " + vlan);
    node.add("name " + vrf.name);
    if (vrf.l3vni != 0) node.add("vn-segment " + vni);
  }
  root.add("route-map " + direct_map_name(vrf.name) + " permit 10");
  if (!vrf.leaks.empty()) add_import_map(root, vrf, state);
  LineTree& context = root.at("vrf context " + vrf.name);
  if (!vrf.description.empty()) context.add("description " + vrf.description);
  if (vrf.l3vni != 0) context.add("vni " + vni);
  if (!vrf.rd.empty()) context.add("rd " + vrf.rd);
  for (const auto& route : vrf.routes) context.add("ip route " + route.prefix + " " + route.via);
  add_family(context.at("address-family ipv4 unicast"), vrf, state);
  if (vrf.l3vlan != 0) {
    LineTree& core = root.at("interface Vlan" + vlan);
    core.add("no shutdown");
    core.add("mtu " + std::to_string(core_mtu));
    core.add("vrf member " + vrf.name);
    core.add("ip forward");
  }
  if (vrf.l3vni != 0) root.at("interface nve1").add("member vni " + vni + " associate-vrf");
  LineTree& family =
      root.at(bgp_header(state)).at("vrf " + vrf.name).at("address-family ipv4 unicast");
  for (const auto& route : vrf.routes) family.add("network " + route.prefix);
  family.add("advertise l2vpn evpn");
  family.add("redistribute direct route-map " + direct_map_name(vrf.name));
  return root;
}

LineTree segment_lines(const SegmentState& segment, const SwitchState&) {
  const std::string vlan = std::to_string(segment.vlan), vni = std::to_string(segment.l2vni);
  LineTree root;
  LineTree& node = root.at("vlan " + vlan);
  node.add("name seg" + vni);
  if (segment.l2vni != 0) node.add("vn-segment " + vni);
  LineTree& svi = root.at("interface Vlan" + vlan);
  svi.add("no shutdown");
  if (segment.mtu != 1500) svi.add("mtu " + std::to_string(segment.mtu));
  if (!segment.vrf.empty()) svi.add("vrf member " + segment.vrf);
  if (!segment.gateway.empty()) svi.add("ip address " + segment.gateway);
  if (!segment.acl_in.empty()) svi.add("ip access-group " + segment.acl_in + " in");
  if (!segment.gateway.empty()) svi.add("fabric forwarding mode anycast-gateway");
  if (segment.l2vni == 0) return root;
  root.at("interface nve1").at("member vni " + vni).add("ingress-replication protocol bgp");
  LineTree& evpn = root.at("evpn").at("vni " + vni + " l2");
  if (!segment.rd.empty()) evpn.add("rd " + segment.rd);
  for (const auto& target : segment.import_targets) evpn.add("route-target import " + target);
  for (const auto& target : segment.export_targets) evpn.add("route-target export " + target);
  return root;
}

LineTree acl_lines(const AclState& acl) {
  LineTree root;
  LineTree& list = root.at("ip access-list " + acl.name);
  for (const auto& rule : acl.rules) list.add(render_acl_rule(rule, AclHosts::prefixed));
  return root;
}

LineTree port_lines(const SwitchPortState& port) {
  LineTree root;
  LineTree& node = root.at("interface " + port.name);
  if (!port.description.empty()) node.add("description " + port.description);
  switch (port.mode) {
    case PortMode::access:
      node.add("switchport");
      node.add("switchport access vlan " + std::to_string(port.vlan));
      break;
    case PortMode::routed:
      node.add("no switchport");
      node.add("mtu " + std::to_string(routed_mtu));
      if (!port.vrf.empty()) node.add("vrf member " + port.vrf);
      if (!port.address.empty()) node.add("ip address " + port.address);
      break;
    case PortMode::quarantine:
      node.add("no switchport");  // a switched port is in VLAN 1; a routed one is nowhere
      break;
  }
  return root;
}

LineTree fabric_lines(const SwitchState& state) {
  LineTree root;
  if (!state.anycast_mac.empty()) {
    root.add("fabric forwarding anycast-gateway-mac " + dotted(state.anycast_mac));
  }
  return root;
}

LineTree declared_lines(const SwitchState& state) {
  LineTree root;
  root.at("interface loopback1").add("ip address " + state.vtep_address + "/32");
  root.at("interface nve1").add("source-interface loopback1");
  root.at(bgp_header(state)).add("router-id " + state.router_id);
  return root;
}

std::string negate(const std::string& line) {
  if (line.starts_with("no ")) return line.substr(3);
  // These take back whatever value is there; the rest is taken back word for word.
  static constexpr std::array<std::string_view, 4> keys = {"description", "switchport access vlan",
                                                           "mtu", "name"};
  for (const auto key : keys) {
    if (line.starts_with(std::string(key) + " ")) return "no " + std::string(key);
  }
  const auto words = words_of_line(line);
  if (!words.empty() && parse_integer(words[0])) return "no " + words[0];
  return "no " + line;
}

bool is_shared(const std::string& header) {
  return header == "interface nve1" || header == "evpn" || header.starts_with("router bgp ") ||
         header.starts_with("interface Ethernet");
}

bool restarts(const std::string& line) { return line.starts_with("vrf member "); }

int rank(const std::string& line) {
  static constexpr std::array<std::string_view, 12> order = {
      "fabric forwarding",  "ip access-list",       "vlan ",
      "ip prefix-list",     "ip extcommunity-list", "route-map",
      "vrf context",        "interface Vlan",       "interface nve",
      "interface Ethernet", "interface loopback",   "router bgp"};
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (line.starts_with(order[i])) return static_cast<int>(i);
  }
  return static_cast<int>(order.size());
}

}  // namespace

const LineDialect& dialect() {
  static const LineDialect rules = {{2, negate, is_shared, restarts},
                                    vrf_lines,
                                    segment_lines,
                                    acl_lines,
                                    port_lines,
                                    fabric_lines,
                                    declared_lines,
                                    rank};
  return rules;
}

}  // namespace tundish::switches::nexus
