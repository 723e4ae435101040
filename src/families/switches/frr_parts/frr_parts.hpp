#pragma once
// Linux with FRR, in two shapes of kernel. A switch is three files:
//
// frr.conf: as `vtysh -c 'show running-config'` prints it (parts/frr_conf).
// kernel: one object a line, as the driver reads them back, in any order:
//   switch kernel netns_per_vni vtep 10.255.0.1 anycast_mac 00:00:5e:00:01:10
//   netns Vrf00010
//   link NAME [netns N] type bridge|vxlan|vrf|vlan|veth|port [id N] [parent P] [table N]
//        [external vnifilter] [vlan_filtering] [local A] [dstport P] [nolearning] [master M]
//        [address MAC] [peer NAME [peer_netns N]] [ipv6] [mtu N] up|down [alias "TEXT"]
//        (peer: the other end of a veth pair, where it was read too; ipv6: the link speaks it)
//   addr 10.10.0.1/24 dev br110 [netns N]
//   vlan 110 dev swp1 [pvid] [untagged] [self]       (vrf_vlan_aware)
//   vni 10010 dev vxlan48 vlan 110                   (vrf_vlan_aware)
//   peer 10.255.0.2 dev vx10010 netns Vrf00010       (where a tunnel sends to, whoever wrote it)
//   peer 10.255.0.2 dev vxlan48 vni 10010            (vrf_vlan_aware)
//   route 10.9.0.0/24 via 10.10.0.7 vrf Vrf00010     (one that FRR does not know; we set none)
// Addresses: IPv4 of scope global, and IPv6, but no link-local one of a port. Loopbacks are
// `type loopback` or left out.
// nft: `nft -nn list table ip tundish` and the same of ip6; with netns_per_vni the whole ruleset of
// each other network namespace too, each behind a line `# netns NAME`.
//
// Steps: `vtysh` runs with `vtysh -f`, `kernel` with `sh -eu`, `nft` with `nft -f` (within the
// namespace that a first line `# netns NAME` names).
// Sources: ip-link(8), bridge(8) of iproute2 6.1; FRR evpn.rst (one VXLAN device with a VNI filter
// needs FRR 9 and Linux 5.18); facts/cloud.md 3.3 and 3.9, facts/lab.md 2; checked 2026-11.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "families/switches/parts/changes.hpp"
#include "families/switches/parts/frr_conf.hpp"
#include "families/switches/switch_item.hpp"

namespace tundish::switches::frr_parts {

enum class Kernel { vrf_vlan_aware, netns_per_vni };

FrrDialect dialect_of(Kernel kernel);
SwitchCapabilities capabilities_of(Kernel kernel);
Result<> accept_for(Kernel kernel, const SwitchState& desired);
Result<SwitchFiles> render_for(Kernel kernel, const SwitchState& desired);
Result<SwitchSeen> parse_for(Kernel kernel, const SwitchFiles& files,
                             const SwitchOwnership& ownership);
Result<std::vector<SwitchStep>> steps_for(Kernel kernel, const SwitchState& from,
                                          const SwitchState& to);

std::string render_kernel(Kernel kernel, const SwitchState& state);
std::string render_nft(Kernel kernel, const SwitchState& state);
/// One chain of a list, without the table around it.
std::string nft_chain(const AclState& acl);
/// The chain that sends each segment's packets to its list, for the segments of one namespace.
std::string nft_segments(Kernel kernel, const std::vector<const SegmentState*>& segments);

/// The kernel's links of a state; the same names serve render, parse and steps.
std::string l3_bridge(const VrfState& vrf);                      ///< br50010
std::string l3_vxlan(const VrfState& vrf);                       ///< vx50010
std::string segment_link(Kernel kernel, const SegmentState& s);  ///< br110 or vlan110
std::string segment_vxlan(const SegmentState& segment);          ///< vx10010
inline constexpr std::string_view vlan_bridge = "br_default";
inline constexpr std::string_view vlan_vxlan = "vxlan48";
/// A VRF device routes by the table of its number; 253..255 are the kernel's own, so all are moved.
inline constexpr int table_base = 100000;

/// What the kernel file says of our objects.
struct KernelSeen {
  std::string vtep_address, anycast_mac;
  std::map<std::string, VrfState> vrfs;  ///< name, l3vni, l3vlan, description
  std::vector<SegmentState> segments;    ///< vrf, vlan, l2vni, gateway, mtu
  std::vector<SwitchPortState> ports;
  std::vector<TunnelPeer> peers;         ///< of our tunnels
  std::vector<std::string> leak_links;  ///< "lk10 Vrf00010 Vrf60001", both ends up
  ForeignNumbers foreign;
  std::vector<std::string> unclear;
};
KernelSeen parse_kernel(Kernel kernel, std::string_view text, const SwitchOwnership& ownership);

struct NftSeen {
  std::vector<AclState> acls;
  std::map<std::string, std::string> applied;  ///< "Vrf00010 br110" (netns, link) -> list
  std::vector<std::string> foreign_acls, unclear;
};
NftSeen parse_nft(std::string_view text, const SwitchOwnership& ownership);

// Commands of one object's life in the kernel, for `sh -eu`.
std::string make_vrf(Kernel kernel, const SwitchState& state, const VrfState& vrf);
std::string make_l3(Kernel kernel, const SwitchState& state, const VrfState& vrf);
std::string drop_l3(Kernel kernel, const VrfState& vrf);
std::string drop_vrf(Kernel kernel, const VrfState& vrf);
std::string set_vrf_text(Kernel kernel, const VrfState& vrf);
std::string make_segment(Kernel kernel, const SwitchState& state, const SegmentState& segment);
std::string drop_segment(Kernel kernel, const SegmentState& segment);
/// Gateway and MTU from one to the other, on the same VRF, VLAN and VNI.
std::string change_segment(Kernel kernel, const SwitchState& to, const SegmentState& from,
                           const SegmentState& now);
std::string port_leaves(Kernel kernel, const SwitchState& from, const SwitchPortState& port);
std::string port_joins(Kernel kernel, const SwitchState& to, const SwitchPortState& port);
std::string set_port_text(Kernel kernel, const SwitchState& to, const SwitchPortState& port);
std::string make_leak_link(const VrfState& tenant, const VrfState& other);
std::string drop_leak_link(const VrfState& tenant, const VrfState& other);
/// The kernel has it and FRR has forgotten it: no distinguisher, no target.
bool is_lost(const VrfState& vrf);
bool is_lost(const SegmentState& segment);
/// Pairs of VRFs that a leak joins, the smaller number first, each once.
std::vector<std::pair<const VrfState*, const VrfState*>> leak_pairs(const SwitchState& state);

}  // namespace tundish::switches::frr_parts
