#pragma once
// Fabrics with their ranges of numbers, and the network that each allocation gets on them.
#include <string>
#include <vector>

#include "model/allocation.hpp"
#include "model/fabric_state.hpp"
#include "model/switch_state.hpp"

namespace tundish {

class Registry;

enum class FabricTechnology { evpn, infiniband, nvlink };
inline std::span<const std::string_view> enum_names(FabricTechnology) {
  static constexpr std::string_view names[] = {"evpn", "infiniband", "nvlink"};
  return names;
}

struct NumberRange {
  int from = 0, to = 0;
  bool contains(int value) const { return value >= from && value <= to; }
  void fields(Fields& f) {
    f(1, "from", from, "first number of the pool");
    f(2, "to", to, "last number of the pool");
  }
};

/// Where the storage is cabled to: a routed port in the storage VRF.
struct StoragePort {
  std::string switch_name, port, address;
  void fields(Fields& f) {
    f(1, "switch_name", switch_name, "switch that holds the storage VRF");
    f(2, "port", port, "port towards the storage");
    f(3, "address", address, "of the switch, with length, inside the storage prefix");
  }
};

/// Ranges of one fabric. Numbers: facts/cloud.md section 3.2.
struct FabricSpec {
  FabricTechnology technology = FabricTechnology::evpn;
  int rt_admin = 65000;
  std::vector<std::string> underlay, management;
  std::string storage_prefix;
  std::string storage_vrf = "Vrf60001";
  int storage_vrf_id = 60001;
  int storage_l3vni = 60001;
  int storage_l3vlan = 2999;
  std::string storage_node_pool = "100.64.0.0/16";
  std::vector<StoragePort> storage_ports;
  std::string storage_url;
  std::string storage_mount_address;
  std::string access_prefix, access_router;
  NumberRange vrf_ids{4096, 59999};  ///< above every VLAN: both make route distinguishers
  NumberRange l3vnis{50001, 59999};
  NumberRange l2vnis{10001, 49999};
  NumberRange vlans{100, 1999};
  NumberRange l3vlans{2000, 2998};
  NumberRange pkeys{0x0100, 0x3fff};
  NumberRange nvlink_partitions{1, 32766};
  SwitchOwnership switches;
  FabricOwnership partitions;
  std::string driver;
  std::string management_url;
  void fields(Fields& f) {
    f(1, "technology", technology, "evpn, infiniband or nvlink");
    f(2, "rt_admin", rt_admin, "2-byte AS number that every route target begins with");
    f(3, "underlay", underlay, "IPv4 prefixes of the underlay: no tenant reaches or uses them");
    f(4, "management", management, "IPv4 prefixes of management and out-of-band, likewise");
    f(5, "storage_prefix", storage_prefix, "IPv4 prefix of the storage; empty: none");
    f(6, "storage_vrf", storage_vrf, "VRF of the storage");
    f(7, "storage_vrf_id", storage_vrf_id, "its number, outside the pool");
    f(8, "storage_l3vni", storage_l3vni, "its VNI, outside the pool");
    f(9, "storage_l3vlan", storage_l3vlan, "its VLAN on vendors that need one");
    f(10, "storage_node_pool", storage_node_pool,
      "IPv4 prefix of the addresses under which nodes reach the storage, one each");
    f(11, "storage_ports", storage_ports, "ports towards the storage");
    f(12, "vrf_ids", vrf_ids, "pool of VRF numbers");
    f(13, "l3vnis", l3vnis, "pool of VNIs for routing");
    f(14, "l2vnis", l2vnis, "pool of VNIs for segments");
    f(15, "vlans", vlans, "pool of VLANs for segments, of each switch");
    f(16, "l3vlans", l3vlans, "pool of VLANs for L3VNIs, of each switch");
    f(17, "pkeys", pkeys, "pool of partition keys");
    f(18, "nvlink_partitions", nvlink_partitions, "pool of NVLink partition numbers");
    f(19, "switches", switches, "what Tundish may touch on a switch of the fabric");
    f(20, "partitions", partitions, "what Tundish may touch in the fabric's manager");
    f(21, "driver", driver, "fabric item: opensm, ufm or nvlink; empty for evpn");
    f(22, "management_url", management_url, "where the driver reaches the manager");
    f(23, "storage_url", storage_url,
      "ssh://user@address where exports are made; empty: nobody drives the storage");
    f(24, "storage_mount_address", storage_mount_address,
      "IPv4 of it that nodes mount from, in storage_prefix");
    f(25, "access_prefix", access_prefix,
      "IPv4 prefix of the network from which people come to clusters: each gateway has an address "
      "of it; empty: no gateways");
    f(26, "access_router", access_router,
      "IPv4 of the router in it that answers go to; empty: people are in the prefix themselves");
  }
};

struct Fabric {
  static constexpr std::string_view kind = "fabric";
  Id<Fabric> id;
  FabricSpec spec;
  std::vector<Condition> conditions;
  Meta meta;
  void fields(Fields& f) {
    f(1, "id", id, "ours");
    f(2, "spec", spec, "declared");
    f(3, "conditions", conditions, "unreachable, drift, default_is_full, foreign_conflict");
    f(4, "meta", meta, "name, version, revision");
  }
};

/// One rule of a tenant's firewall for what enters from its nodes.
struct FirewallRule {
  AclAction action = AclAction::permit;
  std::string protocol = "ip";
  std::string source, destination;
  int port_from = 0, port_to = 0;
  bool operator==(const FirewallRule&) const = default;
  void fields(Fields& f) {
    f(1, "action", action, "permit or deny");
    f(2, "protocol", protocol, "ip, tcp, udp or icmp");
    f(3, "source", source, "IPv4 prefix; empty: any");
    f(4, "destination", destination, "IPv4 prefix; empty: any");
    f(5, "port_from", port_from, "first destination port; 0: any");
    f(6, "port_to", port_to, "last destination port; 0: as port_from");
  }
};

struct NetworkSpec {
  std::vector<std::string> prefixes;
  int mtu = 9000;
  bool storage = true;
  std::vector<FirewallRule> firewall;
  std::vector<FirewallRule> access;
  void fields(Fields& f) {
    f(1, "prefixes", prefixes,
      "IPv4 prefixes, the first one of the segment; empty in an order: from the pool");
    f(2, "mtu", mtu, "bytes of IP");
    f(3, "storage", storage, "routes to the fabric's storage");
    f(4, "firewall", firewall, "rules in order, between ours that protect others and the rest");
    f(5, "access", access,
      "who comes in by the gateway to the login node: permit, protocol, source, ports; all else is "
      "dropped");
  }
};

struct NetworkSegment {
  std::string name;
  int vni = 0;
  std::string prefix;
  std::string gateway;
  void fields(Fields& f) {
    f(1, "name", name, "seg and the VNI");
    f(2, "vni", vni, "L2VNI, unique over the fabric");
    f(3, "prefix", prefix, "IPv4 prefix of its nodes");
    f(4, "gateway", gateway, "address with length that every leaf answers for");
  }
};

/// Numbers that are local to a switch.
struct SwitchNumbers {
  std::string switch_name;
  int vlan = 0;
  int l3vlan = 0;
  void fields(Fields& f) {
    f(1, "switch_name", switch_name, "switch");
    f(2, "vlan", vlan, "of the segment; 0: the segment is not on the switch");
    f(3, "l3vlan", l3vlan, "of the L3VNI");
  }
};

struct StorageAddress {
  NodeId node;
  std::string address;
  void fields(Fields& f) {
    f(1, "node", node, "node id");
    f(2, "address", address, "under which it reaches the storage, unique over the fabric");
  }
};

enum class SyncState { planned, applying, synced, pending, drifted, unknown };
inline std::span<const std::string_view> enum_names(SyncState) {
  static constexpr std::string_view names[] = {"planned", "applying", "synced",
                                               "pending", "drifted",  "unknown"};
  return names;
}

/// What is known of the network on one switch or in one fabric's manager.
struct NetworkSync {
  FabricTechnology technology = FabricTechnology::evpn;
  std::string object;
  SyncState state = SyncState::planned;
  std::string reason;
  std::int64_t version = 0;
  Instant observed_at;
  bool operator==(const NetworkSync&) const = default;
  void fields(Fields& f) {
    f(1, "technology", technology, "evpn, infiniband or nvlink");
    f(2, "object", object, "name of the switch or the fabric");
    f(3, "state", state,
      "planned (never applied), applying, synced (seen), pending (ours to do), drifted (changed by "
      "somebody else) or unknown (not seen lately)");
    f(4, "reason", reason, "what differs, for people");
    f(5, "version", version, "version of the network that was last seen in place there");
    f(6, "observed_at", observed_at, "when it was last looked at");
  }
};

struct NetworkStatus {
  std::string fabric, partition_fabric, nvlink_fabric;
  int vrf_id = 0;
  int l3vni = 0;
  std::vector<NetworkSegment> segments;
  int pkey = 0;
  int nvlink_partition = 0;
  std::vector<SwitchNumbers> switches;
  std::vector<StorageAddress> storage;
  std::vector<NetworkSync> sync;
  std::string access_address;
  void fields(Fields& f) {
    f(1, "fabric", fabric, "EVPN fabric that its numbers are from");
    f(2, "partition_fabric", partition_fabric, "InfiniBand fabric; empty: none");
    f(3, "nvlink_fabric", nvlink_fabric, "NVLink fabric; empty: none");
    f(4, "vrf_id", vrf_id, "number of its VRF, from the pool");
    f(5, "l3vni", l3vni, "VNI of its VRF");
    f(6, "segments", segments, "segments");
    f(7, "pkey", pkey, "partition key; 0: none");
    f(8, "nvlink_partition", nvlink_partition, "NVLink partition; 0: none");
    f(9, "switches", switches, "numbers that are local to a switch");
    f(10, "storage", storage, "address of each node towards the storage");
    f(11, "sync", sync, "what is known, per technology and switch or fabric");
    f(12, "access_address", access_address,
      "IPv4 with length of the gateway in the access network; empty: none");
  }
};

/// The network of one allocation. `meta.version` counts what is wanted, members included: it fences
/// writes, and a switch is in step only when it shows this version.
struct Network {
  static constexpr std::string_view kind = "network";
  Id<Network> id;
  AllocationId allocation;
  NetworkSpec spec;
  NetworkStatus status;
  Meta meta;
  void fields(Fields& f) {
    f(1, "id", id, "ours");
    f(2, "allocation", allocation, "allocation that it belongs to");
    f(3, "spec", spec, "wanted");
    f(4, "status", status, "numbers and what was observed");
    f(5, "meta", meta, "name of the cluster, tenant, version, revision");
  }
};

/// Vrf00010: names follow from numbers, so that no vendor cuts them.
/// Source: facts/cloud.md, section 3.2; checked 2026-11.
std::string vrf_name(int vrf_id);
std::string segment_name(int l2vni);
std::string acl_name(int vrf_id);
std::string partition_name(int vrf_id);

const Network* find_network(const Registry& view, const AllocationId& allocation);

}  // namespace tundish
