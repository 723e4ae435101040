#pragma once
// What a switch carries for tenants, without a vendor's words. Desired and observed are both this:
// families/switches render it and parse it back, control/network audits it.
// Numbering rules: facts/cloud.md section 3.2. Route targets and distinguishers are always written
// out, never automatic.
#include <cstdint>
#include <string>
#include <vector>

#include "base/describe.hpp"
#include "base/result.hpp"

namespace tundish {

enum class AclAction { permit, deny };
inline std::span<const std::string_view> enum_names(AclAction) {
  static constexpr std::string_view names[] = {"permit", "deny"};
  return names;
}

struct AclRule {
  int sequence = 0;
  AclAction action = AclAction::permit;
  std::string protocol = "ip";
  std::string source, destination;
  int port_from = 0, port_to = 0;
  bool operator==(const AclRule&) const = default;
  void fields(Fields& f) {
    f(1, "sequence", sequence, "order within the list, 10, 20, ...");
    f(2, "action", action, "permit or deny");
    f(3, "protocol", protocol, "ip, tcp, udp or icmp");
    f(4, "source", source, "IPv4 prefix; empty: any");
    f(5, "destination", destination, "IPv4 prefix; empty: any");
    f(6, "port_from", port_from, "first destination port; 0: any");
    f(7, "port_to", port_to, "last destination port; 0: as port_from");
  }
};

/// An ordered list that ends with an unwritten deny.
struct AclState {
  std::string name;
  std::vector<AclRule> rules;
  bool operator==(const AclState&) const = default;
  void fields(Fields& f) {
    f(1, "name", name, "at most 31 characters");
    f(2, "rules", rules, "in order of sequence");
  }
};

/// Routes of another VRF of this switch that enter this one, and only these prefixes.
struct LeakState {
  std::string from_vrf;
  std::vector<std::string> prefixes;
  bool operator==(const LeakState&) const = default;
  void fields(Fields& f) {
    f(1, "from_vrf", from_vrf, "VRF on the same switch");
    f(2, "prefixes", prefixes, "IPv4 prefixes that may enter; longer ones inside them too");
  }
};

/// Where one address is: behind another one, which the switch finds in a segment of its own. The
/// switch tells it to every other one that has the VRF.
struct AddressRoute {
  std::string prefix;
  std::string via;
  bool operator==(const AddressRoute&) const = default;
  void fields(Fields& f) {
    f(1, "prefix", prefix, "IPv4 prefix of 32 bits");
    f(2, "via", via, "IPv4 address in a segment of the VRF");
  }
};

struct VrfState {
  std::string name;
  std::string description;
  int vrf_id = 0;
  int l3vni = 0;
  int l3vlan = 0;
  std::string rd;
  std::vector<std::string> import_targets, export_targets;
  std::vector<LeakState> leaks;
  std::vector<AddressRoute> routes;
  bool operator==(const VrfState&) const = default;
  void fields(Fields& f) {
    f(1, "name", name, "Vrf00010: from vrf_id, at most 15 characters, a limit of Linux");
    f(2, "description", description, "tenant and cluster, for people; may be lost by a vendor");
    f(3, "vrf_id", vrf_id, "1..65535; the number of its route distinguisher");
    f(4, "l3vni", l3vni, "1..16777215, unique over the fabric");
    f(5, "l3vlan", l3vlan, "VLAN that carries the L3VNI on vendors that need one; else 0");
    f(6, "rd", rd, "router-id:vrf_id");
    f(7, "import_targets", import_targets, "AS:number, sorted");
    f(8, "export_targets", export_targets, "AS:number, sorted");
    f(9, "leaks", leaks, "sorted by from_vrf");
    f(10, "routes", routes, "sorted by prefix: nodes' addresses towards the storage");
  }
};

struct SegmentState {
  std::string vrf;
  int vlan = 0;
  int l2vni = 0;
  std::string rd;
  std::vector<std::string> import_targets, export_targets;
  std::string gateway;
  std::string acl_in;
  int mtu = 9000;
  bool operator==(const SegmentState&) const = default;
  void fields(Fields& f) {
    f(1, "vrf", vrf, "VRF that routes it");
    f(2, "vlan", vlan, "2..4094, local to the switch");
    f(3, "l2vni", l2vni, "1..16777215, unique over the fabric");
    f(4, "rd", rd, "router-id:vlan");
    f(5, "import_targets", import_targets, "AS:number, sorted");
    f(6, "export_targets", export_targets, "AS:number, sorted");
    f(7, "gateway", gateway, "anycast gateway with length, 10.10.0.1/24; empty: no gateway");
    f(8, "acl_in", acl_in, "list applied to what enters from its nodes; empty: none");
    f(9, "mtu", mtu, "bytes of IP; the underlay carries 54 more");
  }
};

enum class PortMode { quarantine, access, routed };
inline std::span<const std::string_view> enum_names(PortMode) {
  static constexpr std::string_view names[] = {"quarantine", "access", "routed"};
  return names;
}

struct SwitchPortState {
  std::string name;
  PortMode mode = PortMode::quarantine;
  int vlan = 0;
  std::string vrf;
  std::string address;
  std::string description;
  bool operator==(const SwitchPortState&) const = default;
  void fields(Fields& f) {
    f(1, "name", name, "as the vendor writes it");
    f(2, "mode", mode, "quarantine (shut, in no network), access (untagged in vlan) or routed");
    f(3, "vlan", vlan, "of an access port");
    f(4, "vrf", vrf, "of a routed port");
    f(5, "address", address, "of a routed port, with length, for example one end of a /31");
    f(6, "description", description, "node and interface at the other end");
  }
};

/// Everything Tundish owns on one switch. Lists are sorted by their key (name, vlan).
struct SwitchState {
  std::int64_t asn = 0;
  std::string router_id;
  std::string vtep_address;
  std::string anycast_mac = "00:00:5e:00:01:10";
  std::vector<VrfState> vrfs;
  std::vector<SegmentState> segments;
  std::vector<SwitchPortState> ports;
  std::vector<AclState> acls;
  bool operator==(const SwitchState&) const = default;
  void fields(Fields& f) {
    f(1, "asn", asn, "AS number of the switch, 1..4294967295; declared, never changed by us");
    f(2, "router_id", router_id, "IPv4; declared");
    f(3, "vtep_address", vtep_address, "IPv4 of the tunnel end; declared");
    f(4, "anycast_mac", anycast_mac, "MAC of every gateway of the fabric");
    f(5, "vrfs", vrfs, "sorted by name");
    f(6, "segments", segments, "sorted by vlan");
    f(7, "ports", ports, "sorted by name; only listed ports are ours");
    f(8, "acls", acls, "sorted by name");
  }
};

/// What Tundish may touch on a switch. All else is foreign and stays byte for byte.
struct SwitchOwnership {
  int vlan_from = 2, vlan_to = 1999;
  int l3vlan_from = 2000, l3vlan_to = 2999;
  int vni_from = 10000, vni_to = 99999;
  std::string vrf_prefix = "Vrf";
  std::string acl_prefix = "T-";
  std::vector<std::string> ports;
  void fields(Fields& f) {
    f(1, "vlan_from", vlan_from, "first VLAN of segments");
    f(2, "vlan_to", vlan_to, "last VLAN of segments");
    f(3, "l3vlan_from", l3vlan_from, "first VLAN for L3VNIs");
    f(4, "l3vlan_to", l3vlan_to, "last VLAN for L3VNIs");
    f(5, "vni_from", vni_from, "first VNI");
    f(6, "vni_to", vni_to, "last VNI");
    f(7, "vrf_prefix", vrf_prefix, "VRFs whose name is this and five digits are ours");
    f(8, "acl_prefix", acl_prefix, "access lists whose name starts so are ours");
    f(9, "ports", ports, "ports that are ours");
  }
};

/// Numbers and names that others use on the switch; they are taken out of the pools.
struct ForeignNumbers {
  std::vector<int> vlans, vnis;
  std::vector<std::string> vrfs, route_targets, acls;
  void fields(Fields& f) {
    f(1, "vlans", vlans, "sorted");
    f(2, "vnis", vnis, "sorted");
    f(3, "vrfs", vrfs, "sorted");
    f(4, "route_targets", route_targets, "sorted");
    f(5, "acls", acls, "sorted");
  }
};

/// A place that a tunnel's frames are sent to, as the switch's forwarding table has it, whoever put
/// it there.
struct TunnelPeer {
  int vni = 0;
  std::string address;
  bool operator==(const TunnelPeer&) const = default;
  auto operator<=>(const TunnelPeer&) const = default;
  void fields(Fields& f) {
    f(1, "vni", vni, "of the segment or the VRF");
    f(2, "address", address, "IPv4 of the far tunnel end");
  }
};

/// A switch's configuration as read. `unclear` holds every line inside an object of ours that was
/// not understood: a switch with one is never called in step.
struct SwitchSeen {
  SwitchState own;
  ForeignNumbers foreign;
  std::vector<std::string> unclear;
  std::vector<TunnelPeer> peers;
  void fields(Fields& f) {
    f(1, "own", own, "what we own, as read");
    f(2, "foreign", foreign, "numbers and names of others");
    f(3, "unclear", unclear, "lines within our objects that were not understood");
    f(4, "peers", peers, "where our tunnels send to, sorted; of switches that show it");
  }
};

/// One order's change of one switch: objects to have, ports to put out, in one transaction.
struct SwitchPatch {
  std::vector<VrfState> vrfs;
  std::vector<SegmentState> segments;
  std::vector<AclState> acls;
  std::vector<SwitchPortState> ports;
};

void sort_state(SwitchState& state);
/// `state` with the patch; then segments without a port, VRFs without segment, routed port or leak
/// to them, and lists that nothing applies are gone; but `keep_vrfs` stay with what is in them.
SwitchState merge_patch(SwitchState state, const SwitchPatch& patch,
                        const std::vector<std::string>& keep_vrfs);
const VrfState* find_vrf(const SwitchState& state, std::string_view name);
const SegmentState* find_segment(const SwitchState& state, int vlan);
const SwitchPortState* find_port(const SwitchState& state, std::string_view name);
const AclState* find_acl(const SwitchState& state, std::string_view name);

}  // namespace tundish
