// What is empty was not seen (a switch half way) and has no line. Lines as `show running-config`
// writes them: defaults (no shutdown, switchport) are not shown.
#include <array>

#include "base/text.hpp"
#include "families/switches/arista_eos_parts/parts.hpp"
#include "families/switches/parts/acl_line.hpp"

namespace tundish::switches::eos {
namespace {

constexpr int routed_mtu =
    9000;  // as SegmentState::mtu: a node's frames fit on either kind of port

std::string bgp_header(const SwitchState& state) {
  return "router bgp " + std::to_string(state.asn);
}

std::string leak_name(const VrfState& vrf, const LeakState& leak) {
  return vrf.name + "-FROM-" + leak.from_vrf;
}

void add_targets(LineTree& node, const std::string& words, const std::vector<std::string>& list) {
  for (const auto& target : list) node.add("route-target " + words + target);
}

void add_leak(LineTree& root, const VrfState& vrf, const LeakState& leak) {
  const std::string name = leak_name(vrf, leak);
  LineTree& list = root.at("ip prefix-list " + name);
  for (const auto& [number, prefix] : number_prefixes(leak.prefixes)) {
    list.add("seq " + std::to_string(number) + " permit " + prefix +
             (prefix.ends_with("/32") ? "" : " le 32"));
  }
  list.add("seq " + std::to_string(last_prefix_number) + " deny 0.0.0.0/0 le 32");
  root.at("route-map " + name + " permit 10").add("match ip address prefix-list " + name);
  root.at("router general")
      .at("vrf " + vrf.name)
      .add("leak routes source-vrf " + leak.from_vrf + " subscribe-policy " + name);
}

LineTree vrf_lines(const VrfState& vrf, const SwitchState& state) {
  LineTree root;
  LineTree& instance = root.at("vrf instance " + vrf.name);
  if (!vrf.description.empty()) instance.add("description " + vrf.description);
  root.add("ip routing vrf " + vrf.name);
  for (const auto& leak : vrf.leaks) add_leak(root, vrf, leak);
  for (const auto& route : vrf.routes) {
    root.add("ip route vrf " + vrf.name + " " + route.prefix + " " + route.via);
  }
  if (vrf.l3vni != 0) {
    root.at("interface Vxlan1").add("vxlan vrf " + vrf.name + " vni " + std::to_string(vrf.l3vni));
  }
  LineTree& bgp = root.at(bgp_header(state)).at("vrf " + vrf.name);
  if (!vrf.rd.empty()) bgp.add("rd " + vrf.rd);
  add_targets(bgp, "import evpn ", vrf.import_targets);
  add_targets(bgp, "export evpn ", vrf.export_targets);
  for (const auto& route : vrf.routes) bgp.add("network " + route.prefix);
  // Leaked routes must reach the far leaves too, which know nothing of the leak.
  if (!vrf.leaks.empty()) bgp.add("redistribute bgp leaked");
  bgp.add(vrf.leaks.empty() ? "redistribute connected" : "redistribute connected include leaked");
  return root;
}

LineTree segment_lines(const SegmentState& segment, const SwitchState& state) {
  const std::string vlan = std::to_string(segment.vlan);
  LineTree root;
  root.at("vlan " + vlan).add("name seg" + std::to_string(segment.l2vni));
  LineTree& svi = root.at("interface Vlan" + vlan);
  if (segment.mtu != 1500) svi.add("mtu " + std::to_string(segment.mtu));
  if (!segment.vrf.empty()) svi.add("vrf " + segment.vrf);
  if (!segment.gateway.empty()) svi.add("ip address virtual " + segment.gateway);
  if (!segment.acl_in.empty()) svi.add("ip access-group " + segment.acl_in + " in");
  if (segment.l2vni != 0) {
    root.at("interface Vxlan1").add("vxlan vlan " + vlan + " vni " + std::to_string(segment.l2vni));
  }
  LineTree& bgp = root.at(bgp_header(state)).at("vlan " + vlan);
  if (!segment.rd.empty()) bgp.add("rd " + segment.rd);
  add_targets(bgp, "import ", segment.import_targets);
  add_targets(bgp, "export ", segment.export_targets);
  bgp.add("redistribute learned");
  return root;
}

LineTree acl_lines(const AclState& acl) {
  LineTree root;
  LineTree& list = root.at("ip access-list " + acl.name);
  for (const auto& rule : acl.rules) list.add(render_acl_rule(rule, AclHosts::named));
  return root;
}

LineTree port_lines(const SwitchPortState& port) {
  LineTree root;
  LineTree& node = root.at("interface " + port.name);
  if (!port.description.empty()) node.add("description " + port.description);
  switch (port.mode) {
    case PortMode::access: node.add("switchport access vlan " + std::to_string(port.vlan)); break;
    case PortMode::routed:
      node.add("mtu " + std::to_string(routed_mtu));
      node.add("no switchport");
      if (!port.vrf.empty()) node.add("vrf " + port.vrf);
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
  if (!state.anycast_mac.empty()) root.add("ip virtual-router mac-address " + state.anycast_mac);
  return root;
}

LineTree declared_lines(const SwitchState& state) {
  LineTree root;
  root.at("interface Loopback1").add("ip address " + state.vtep_address + "/32");
  root.at("interface Vxlan1").add("vxlan source-interface Loopback1");
  root.at(bgp_header(state)).add("router-id " + state.router_id);
  return root;
}

std::string negate(const std::string& line) {
  if (line.starts_with("no ")) return line.substr(3);
  // These take back whatever value is there; the rest is taken back word for word.
  static constexpr std::array<std::string_view, 4> keys = {"description", "switchport access vlan",
                                                           "mtu", "vrf"};
  for (const auto key : keys) {
    if (line.starts_with(std::string(key) + " ") && !line.starts_with("vrf instance ")) {
      return key == "vrf" ? "no " + line : "no " + std::string(key);
    }
  }
  const auto words = words_of_line(line);
  if (!words.empty() && parse_integer(words[0])) return "no " + words[0];
  if (words.size() > 2 && words[0] == "seq") return "no seq " + words[1];
  return "no " + line;
}

bool is_shared(const std::string& header) {
  return header == "interface Vxlan1" || header == "router general" ||
         header.starts_with("router bgp ") || header.starts_with("interface Ethernet") ||
         header.starts_with("interface Port-Channel");
}

bool restarts(const std::string& line) {
  return line.starts_with("vrf ") && !line.starts_with("vrf instance ");
}

int rank(const std::string& line) {
  static constexpr std::array<std::string_view, 14> order = {"ip access-list",
                                                             "vlan",
                                                             "vrf instance",
                                                             "interface Ethernet",
                                                             "interface Port-Channel",
                                                             "interface Loopback",
                                                             "interface Vlan",
                                                             "interface Vxlan",
                                                             "ip virtual-router",
                                                             "ip routing",
                                                             "ip prefix-list",
                                                             "route-map",
                                                             "router bgp",
                                                             "router general"};
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (line.starts_with(order[i])) return static_cast<int>(i);
  }
  return static_cast<int>(order.size());
}

}  // namespace

const LineDialect& dialect() {
  static const LineDialect rules = {{3, negate, is_shared, restarts},
                                    vrf_lines,
                                    segment_lines,
                                    acl_lines,
                                    port_lines,
                                    fabric_lines,
                                    declared_lines,
                                    rank};
  return rules;
}

}  // namespace tundish::switches::eos
