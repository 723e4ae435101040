#include "families/switches/frr_parts/frr_parts.hpp"

namespace tundish::switches::frr_parts {
namespace {

std::string in(const std::string& netns) { return "ip -n " + netns + " "; }

std::string alias(const std::string& text) { return " alias \"" + text + "\""; }

/// A tenant's router advertisement would give the link an address and the leaf's daemons a door.
/// `addrgenmode none` keeps off the link-local one only. Before the link is up.
/// Source: Linux, Documentation/networking/ip-sysctl.rst, accept_ra, disable_ipv6; checked 2026-11.
std::string no_ipv6(const std::string& link) {
  const std::string folder = "/proc/sys/net/ipv6/conf/" + link;
  return "[ ! -e " + folder + " ] || echo 1 >" + folder + "/disable_ipv6\n";
}

/// In a namespace whatever comes later begins with `default`, ports that move in as well.
std::string no_ipv6_in(const std::string& netns) {
  return "[ ! -e /proc/sys/net/ipv6 ] || ip netns exec " + netns +
         " sysctl -qw net.ipv6.conf.default.disable_ipv6=1 net.ipv6.conf.all.disable_ipv6=1"
         " net.ipv6.conf.default.accept_ra=0 net.ipv6.conf.all.accept_ra=0\n";
}

/// A VXLAN device begins in the namespace of the underlay and is then moved: its socket stays.
std::string make_tunnel(const SwitchState& state, const std::string& vrf, int vni,
                        const std::string& bridge, const std::string& more) {
  const std::string name = "vx" + std::to_string(vni);
  return "ip link add name " + name + " type vxlan id " + std::to_string(vni) + " local " +
         state.vtep_address + " dstport 4789 nolearning\nip link set dev " + name +
         " addrgenmode none netns " + vrf + "\n" + in(vrf) + "link set dev " + name + more +
         " master " + bridge + "\nbridge -n " + vrf + " link set dev " + name +
         " neigh_suppress on learning off\n" + in(vrf) + "link set dev " + name + " up\n";
}

std::string make_bridge(const std::string& vrf, const std::string& name, const std::string& more) {
  return in(vrf) + "link add name " + name + " type bridge stp_state 0 forward_delay 0\n" +
         in(vrf) + "link set dev " + name + " addrgenmode none" + more + " up\n";
}

std::string make_svi(const std::string& vlan, const std::string& vrf, const std::string& more) {
  return "bridge vlan add vid " + vlan + " dev br_default self\nip link add name vlan" + vlan +
         " link br_default type vlan id " + vlan + "\n" + no_ipv6("vlan" + vlan) +
         "ip link set dev vlan" + vlan + " addrgenmode none master " + vrf + more + " up\n";
}

std::string map_vni(const std::string& vlan, int vni) {
  const std::string number = std::to_string(vni);
  return "bridge vni add vni " + number + " dev vxlan48\nbridge vlan add vid " + vlan +
         " dev vxlan48\nbridge vlan add vid " + vlan + " dev vxlan48 tunnel_info id " + number +
         "\n";
}

std::string unmap_vni(const std::string& vlan, int vni) {
  return "bridge vni del vni " + std::to_string(vni) + " dev vxlan48\nbridge vlan del vid " + vlan +
         " dev vxlan48\n";
}

std::string drop_svi(const std::string& vlan) {
  return "ip link del dev vlan" + vlan + "\nbridge vlan del vid " + vlan + " dev br_default self\n";
}

/// "ip" for the namespace that the port is in while it is in its place.
std::string at_port(Kernel kernel, const SwitchState& state, const SwitchPortState& port) {
  if (kernel == Kernel::vrf_vlan_aware || port.mode == PortMode::quarantine) return "ip ";
  if (port.mode == PortMode::routed) return in(port.vrf);
  const SegmentState* segment = find_segment(state, port.vlan);
  return segment == nullptr ? "ip " : in(segment->vrf);
}

}  // namespace

std::string make_vrf(Kernel kernel, const SwitchState& state, const VrfState& vrf) {
  static_cast<void>(state);
  if (kernel == Kernel::vrf_vlan_aware) {
    return "ip link add name " + vrf.name + " type vrf table " +
           std::to_string(table_base + vrf.vrf_id) + "\n" + no_ipv6(vrf.name) +
           "ip link set dev " + vrf.name +
           (vrf.description.empty() ? "" : alias(vrf.description)) + " up\n";
  }
  return "ip netns add " + vrf.name + "\n" + no_ipv6_in(vrf.name) + in(vrf.name) +
         "link set dev lo up\nip netns exec " + vrf.name +
         " sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0\n";
}

std::string make_l3(Kernel kernel, const SwitchState& state, const VrfState& vrf) {
  if (kernel == Kernel::vrf_vlan_aware) {
    const std::string vlan = std::to_string(vrf.l3vlan);
    return make_svi(vlan, vrf.name, "") + map_vni(vlan, vrf.l3vni);
  }
  return make_bridge(vrf.name, l3_bridge(vrf),
                     vrf.description.empty() ? "" : alias(vrf.description)) +
         make_tunnel(state, vrf.name, vrf.l3vni, l3_bridge(vrf), "");
}

std::string drop_l3(Kernel kernel, const VrfState& vrf) {
  if (kernel == Kernel::vrf_vlan_aware) {
    const std::string vlan = std::to_string(vrf.l3vlan);
    return unmap_vni(vlan, vrf.l3vni) + drop_svi(vlan);
  }
  return in(vrf.name) + "link del dev " + l3_vxlan(vrf) + "\n" + in(vrf.name) + "link del dev " +
         l3_bridge(vrf) + "\n";
}

std::string drop_vrf(Kernel kernel, const VrfState& vrf) {
  return kernel == Kernel::vrf_vlan_aware ? "ip link del dev " + vrf.name + "\n"
                                          : "ip netns del " + vrf.name + "\n";
}

std::string set_vrf_text(Kernel kernel, const VrfState& vrf) {
  return kernel == Kernel::vrf_vlan_aware
             ? "ip link set dev " + vrf.name + alias(vrf.description) + "\n"
             : in(vrf.name) + "link set dev " + l3_bridge(vrf) + alias(vrf.description) + "\n";
}

std::string make_segment(Kernel kernel, const SwitchState& state, const SegmentState& segment) {
  std::string more = segment.gateway.empty() ? "" : " address " + state.anycast_mac;
  const std::string mtu = " mtu " + std::to_string(segment.mtu);
  const std::string link = segment_link(kernel, segment);
  if (kernel == Kernel::vrf_vlan_aware) {
    const std::string vlan = std::to_string(segment.vlan);
    std::string out = make_svi(vlan, segment.vrf, more + mtu) + map_vni(vlan, segment.l2vni);
    if (!segment.gateway.empty()) out += "ip addr add " + segment.gateway + " dev " + link + "\n";
    return out;
  }
  std::string out = make_bridge(segment.vrf, link, more) +
                    make_tunnel(state, segment.vrf, segment.l2vni, link, mtu) + in(segment.vrf) +
                    "link set dev " + link + mtu + "\n";
  if (!segment.gateway.empty()) {
    out += in(segment.vrf) + "addr add " + segment.gateway + " dev " + link + "\n";
  }
  return out;
}

std::string drop_segment(Kernel kernel, const SegmentState& segment) {
  const std::string vlan = std::to_string(segment.vlan);
  if (kernel == Kernel::vrf_vlan_aware) return unmap_vni(vlan, segment.l2vni) + drop_svi(vlan);
  return in(segment.vrf) + "link del dev " + segment_vxlan(segment) + "\n" + in(segment.vrf) +
         "link del dev " + segment_link(kernel, segment) + "\n";
}

std::string change_segment(Kernel kernel, const SwitchState& to, const SegmentState& from,
                           const SegmentState& now) {
  const bool spaces = kernel == Kernel::netns_per_vni;
  const std::string ip = spaces ? in(now.vrf) : "ip ";
  const std::string link = segment_link(kernel, now);
  std::string out;
  if (from.mtu != now.mtu) {
    const std::string mtu = " mtu " + std::to_string(now.mtu) + "\n";
    for (const auto& port : to.ports) {
      if (port.mode != PortMode::access || port.vlan != now.vlan) continue;
      // A port that joins in the same change gets it then.
      out += ip + "link show dev " + port.name + " >/dev/null 2>&1 && " + ip + "link set dev " +
             port.name + mtu.substr(0, mtu.size() - 1) + " || true\n";
    }
    if (spaces) out += ip + "link set dev " + segment_vxlan(now) + mtu;
    out += ip + "link set dev " + link + mtu;
  }
  if (from.gateway != now.gateway) {
    if (!from.gateway.empty()) out += ip + "addr del " + from.gateway + " dev " + link + "\n";
    if (!now.gateway.empty()) {
      out += ip + "link set dev " + link + " address " + to.anycast_mac + "\n" + ip + "addr add " +
             now.gateway + " dev " + link + "\n";
    }
  }
  return out;
}

std::string port_leaves(Kernel kernel, const SwitchState& from, const SwitchPortState& port) {
  const std::string ip = at_port(kernel, from, port);
  std::string out = ip + "link set dev " + port.name + " down nomaster\n";
  if (port.mode == PortMode::routed) {
    out += ip + "addr del " + port.address + " dev " + port.name + "\n";
  }
  // Process 1 of the switch lives in the namespace of the underlay.
  if (ip != "ip ") out += ip + "link set dev " + port.name + " netns 1\n";
  return out;
}

std::string port_joins(Kernel kernel, const SwitchState& to, const SwitchPortState& port) {
  const std::string ip = at_port(kernel, to, port);
  std::string out;
  const SegmentState* segment = find_segment(to, port.vlan);
  const bool spaces = kernel == Kernel::netns_per_vni;
  if (spaces && ip != "ip ") {
    out += "ip link set dev " + port.name + " netns " +
           (port.mode == PortMode::routed ? port.vrf : segment->vrf) + "\n";
  }
  const std::string set = ip + "link set dev " + port.name + alias(port.description);
  if (port.mode == PortMode::access && segment != nullptr) {
    out += set + " mtu " + std::to_string(segment->mtu) + " master " +
           (spaces ? segment_link(kernel, *segment) : std::string(vlan_bridge)) + "\n";
    if (!spaces) {
      out += "bridge vlan del vid 1 dev " + port.name +
             " 2>/dev/null || true\nbridge vlan add vid " + std::to_string(port.vlan) + " dev " +
             port.name + " pvid untagged\n";
    }
    return out + ip + "link set dev " + port.name + " up\n";
  }
  if (port.mode == PortMode::routed) {
    if (!spaces) out += no_ipv6(port.name);
    return out + set + (spaces ? "" : " master " + port.vrf) + " up\n" + ip + "addr add " +
           port.address + " dev " + port.name + "\n";
  }
  return out + set + " nomaster down\n";
}

std::string set_port_text(Kernel kernel, const SwitchState& to, const SwitchPortState& port) {
  return at_port(kernel, to, port) + "link set dev " + port.name + alias(port.description) + "\n";
}

/// Each end has a way to the other: FRR 8.4's staticd takes a route whose next hop zebra cannot
/// resolve for good only when its interface comes up, so that what is added later would be nowhere.
/// Source: seen with FRR 8.4.4, `show ip nht`; checked 2026-11.
std::string make_leak_link(const VrfState& tenant, const VrfState& other) {
  const std::string a = leak_end(tenant.vrf_id, other.vrf_id);
  const std::string b = leak_end(other.vrf_id, tenant.vrf_id);
  const std::string near(leak_address_a), far(leak_address_b);
  return in(tenant.name) + "link add name " + a + " type veth peer name " + b + " netns " +
         other.name + "\n" + in(tenant.name) + "addr add " + near + " peer " + far + "/32 dev " +
         a + "\n" + in(other.name) + "addr add " + far + " peer " + near + "/32 dev " + b + "\n" +
         in(tenant.name) + "link set dev " + a + " addrgenmode none up\n" + in(other.name) +
         "link set dev " + b + " addrgenmode none up\n";
}

std::string drop_leak_link(const VrfState& tenant, const VrfState& other) {
  return in(tenant.name) + "link del dev " + leak_end(tenant.vrf_id, other.vrf_id) + "\n";
}

}  // namespace tundish::switches::frr_parts
