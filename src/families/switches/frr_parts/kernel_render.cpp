#include <algorithm>

#include "families/switches/frr_parts/frr_parts.hpp"

namespace tundish::switches::frr_parts {
namespace {

std::string alias(const std::string& text) { return text.empty() ? "" : " alias \"" + text + "\""; }

std::string vxlan(const SwitchState& state, int vni) {
  return " type vxlan id " + std::to_string(vni) + " local " + state.vtep_address +
         " dstport 4789 nolearning";
}

std::string netns_vrf(const SwitchState& state, const VrfState& vrf) {
  const std::string in = " netns " + vrf.name;
  return "netns " + vrf.name + "\nlink " + l3_bridge(vrf) + in + " type bridge up" +
         alias(vrf.description) + "\nlink " + l3_vxlan(vrf) + in + vxlan(state, vrf.l3vni) +
         " master " + l3_bridge(vrf) + " up\n";
}

std::string netns_segment(const SwitchState& state, const SegmentState& segment) {
  const std::string bridge = segment_link(Kernel::netns_per_vni, segment);
  const std::string in = " netns " + segment.vrf;
  const std::string mtu = " mtu " + std::to_string(segment.mtu) + " up\n";
  std::string out = "link " + bridge + in + " type bridge";
  if (!segment.gateway.empty()) out += " address " + state.anycast_mac;
  out += mtu + "link " + segment_vxlan(segment) + in + vxlan(state, segment.l2vni) + " master " +
         bridge + mtu;
  if (!segment.gateway.empty()) out += "addr " + segment.gateway + " dev " + bridge + in + "\n";
  return out;
}

std::string vlan_vrf(const VrfState& vrf) {
  const std::string vlan = std::to_string(vrf.l3vlan);
  return "link " + vrf.name + " type vrf table " + std::to_string(table_base + vrf.vrf_id) + " up" +
         alias(vrf.description) + "\nlink vlan" + vlan + " type vlan id " + vlan +
         " parent br_default master " + vrf.name + " up\nvlan " + vlan +
         " dev br_default self\nvlan " + vlan + " dev vxlan48\nvni " + std::to_string(vrf.l3vni) +
         " dev vxlan48 vlan " + vlan + "\n";
}

std::string vlan_segment(const SwitchState& state, const SegmentState& segment) {
  const std::string vlan = std::to_string(segment.vlan);
  std::string out =
      "link vlan" + vlan + " type vlan id " + vlan + " parent br_default master " + segment.vrf;
  if (!segment.gateway.empty()) out += " address " + state.anycast_mac;
  out += " mtu " + std::to_string(segment.mtu) + " up\nvlan " + vlan +
         " dev br_default self\nvlan " + vlan + " dev vxlan48\nvni " +
         std::to_string(segment.l2vni) + " dev vxlan48 vlan " + vlan + "\n";
  if (!segment.gateway.empty()) out += "addr " + segment.gateway + " dev vlan" + vlan + "\n";
  return out;
}

std::string port_lines(Kernel kernel, const SwitchState& state, const SwitchPortState& port) {
  std::string out = "link " + port.name;
  const bool spaces = kernel == Kernel::netns_per_vni;
  const SegmentState* segment = find_segment(state, port.vlan);
  if (port.mode == PortMode::access && segment != nullptr) {
    if (spaces) out += " netns " + segment->vrf;
    out += " type port master " +
           (spaces ? segment_link(kernel, *segment) : std::string(vlan_bridge)) + " mtu " +
           std::to_string(segment->mtu) + " up" + alias(port.description) + "\n";
    if (!spaces) {
      out += "vlan " + std::to_string(port.vlan) + " dev " + port.name + " pvid untagged\n";
    }
  } else if (port.mode == PortMode::routed) {
    const std::string in = spaces ? " netns " + port.vrf : "";
    out += in + " type port" + (spaces ? "" : " master " + port.vrf) + " up" +
           alias(port.description) + "\naddr " + port.address + " dev " + port.name + in + "\n";
  } else {
    out += " type port down" + alias(port.description) + "\n";
  }
  return out;
}

std::string leak_lines(const VrfState& tenant, const VrfState& other) {
  std::string out;
  for (const auto& [vrf, far, address] :
       {std::tuple(&tenant, &other, leak_address_a), std::tuple(&other, &tenant, leak_address_b)}) {
    const std::string end = leak_end(vrf->vrf_id, far->vrf_id);
    out += "link " + end + " netns " + vrf->name + " type veth up\naddr " + std::string(address) +
           "/32 dev " + end + " netns " + vrf->name + "\n";
  }
  return out;
}

}  // namespace

std::string l3_bridge(const VrfState& vrf) { return "br" + std::to_string(vrf.l3vni); }
std::string l3_vxlan(const VrfState& vrf) { return "vx" + std::to_string(vrf.l3vni); }
std::string segment_vxlan(const SegmentState& s) { return "vx" + std::to_string(s.l2vni); }
std::string segment_link(Kernel kernel, const SegmentState& segment) {
  return (kernel == Kernel::netns_per_vni ? "br" : "vlan") + std::to_string(segment.vlan);
}

std::vector<std::pair<const VrfState*, const VrfState*>> leak_pairs(const SwitchState& state) {
  std::vector<std::pair<const VrfState*, const VrfState*>> out;
  for (const auto& vrf : state.vrfs) {
    for (const auto& leak : vrf.leaks) {
      const VrfState* other = find_vrf(state, leak.from_vrf);
      if (other == nullptr) continue;
      auto pair = vrf.vrf_id < other->vrf_id ? std::pair(&vrf, other) : std::pair(other, &vrf);
      if (std::find(out.begin(), out.end(), pair) == out.end()) out.push_back(pair);
    }
  }
  return out;
}

std::string render_kernel(Kernel kernel, const SwitchState& state) {
  const bool spaces = kernel == Kernel::netns_per_vni;
  std::string out = std::string("switch kernel ") + (spaces ? "netns_per_vni" : "vrf_vlan_aware") +
                    " vtep " + state.vtep_address + " anycast_mac " + state.anycast_mac + "\n";
  if (!spaces) {
    out +=
        "link br_default type bridge vlan_filtering up\nlink vxlan48 type vxlan external "
        "vnifilter local " +
        state.vtep_address + " dstport 4789 nolearning master br_default up\n";
  }
  for (const auto& vrf : state.vrfs) out += spaces ? netns_vrf(state, vrf) : vlan_vrf(vrf);
  for (const auto& segment : state.segments) {
    out += spaces ? netns_segment(state, segment) : vlan_segment(state, segment);
  }
  for (const auto& port : state.ports) out += port_lines(kernel, state, port);
  if (spaces) {
    for (const auto& [tenant, other] : leak_pairs(state)) out += leak_lines(*tenant, *other);
  }
  return out;
}

}  // namespace tundish::switches::frr_parts
