#pragma once
// What the registry wants of a fabric, as one table: who owns which number and which port. Plans
// are written from it, and the audit compares with it what was read.
#include <map>
#include <set>

#include "control/view.hpp"

namespace tundish::control::network {

struct WantedNetwork {
  NetworkId id;
  std::string label;  ///< tenant/cluster, for people
  std::int64_t version = 0;
  int vrf_id = 0, l3vni = 0, l2vni = 0;
  std::string vrf, acl, segment;  ///< names
  std::string l3_target, l2_target;
  std::string gateway;
  std::vector<std::string> prefixes;
  int mtu = 0;
  bool storage = false;
  std::vector<AclRule> rules;  ///< the same on every switch; addresses for storage follow them
  std::map<std::string, SwitchNumbers> switches;
  std::map<std::string, std::vector<std::string>> local_storage;  ///< switch -> nodes' addresses
  std::map<std::string, std::vector<AddressRoute>> local_routes;  ///< the same, and where they are
  std::vector<std::string> storage_prefixes;  ///< all its nodes' addresses and no other
  std::string partition;
  std::string partition_fabric, nvlink_fabric;
  int pkey = 0;
  std::set<std::string> guids;
  int nvlink_partition = 0;
  std::set<std::string> gpus, imex_nodes;
};

constexpr int nobody = -1;

/// A port that is ours. `network` indexes Intent::networks; nobody: quarantine.
struct WantedPort {
  std::string node, interface;
  int network = nobody;
};

struct WantedSwitch {
  std::int64_t asn = 0;
  std::string router_id, vtep_address;
  bool needs_l3vlan = false;  ///< else its L3VNIs have no VLAN
  std::map<std::string, WantedPort> ports;
  std::vector<StoragePort> storage;
  std::vector<int> networks;  ///< that have a port or a storage leak here
  std::set<int> attached;     ///< that have a port here
};

/// Where a GUID or a GPU sits, by the inventory.
struct Device {
  std::string node;
  int network = nobody;
};

struct Intent {
  std::string fabric;
  FabricSpec spec;
  std::string storage_target;
  std::vector<WantedNetwork> networks;
  std::map<std::string, int> by_vrf, by_acl;
  std::map<int, int> by_l2vni, by_l3vni, by_pkey, by_nvlink;
  std::map<std::string, WantedSwitch> switches;
  std::map<std::string, Device> guids, gpus;
};

/// Members, login and controller are inside, spares are outside. One that leaves stays inside until
/// it has left the cluster: jobs that run on it while it drains have its port, partition and grant.
bool is_inside(const Allocation& allocation, const AllocationNode& member);

/// The whole of one EVPN fabric, with the partitions of its networks; or every network that has a
/// partition in one InfiniBand or NVLink fabric.
Intent intent_of(const View& view, const std::string& fabric);

/// All that the registry wants on that switch. Refused when its router id is neither declared nor
/// was ever seen.
Result<SwitchState> plan_switch(const Intent& intent, const std::string& switch_name);
Result<SwitchState> plan_switch(const View& view, const std::string& switch_name);
/// Partitions of the intent's networks in one InfiniBand or NVLink fabric.
FabricState plan_fabric(const Intent& intent, const std::string& fabric);
FabricState plan_fabric(const View& view, const std::string& fabric);

enum class PatchTarget { attach, quarantine };

/// One order's change of one port. Attaching is refused when the registry does not want the node in
/// the allocation's network: no patch puts a node where it does not belong.
Result<SwitchPatch> patch_for(const View& view, const Allocation& allocation, const NodeId& node,
                              const std::string& interface, PatchTarget target);
/// What the allocation's network, as wanted now, needs on a switch where the storage is cabled to.
Result<SwitchPatch> storage_patch(const View& view, const Allocation& allocation,
                                  const std::string& switch_name);
/// VRFs that stay without a port: the storage's.
std::vector<std::string> keep_vrfs(const Intent& intent, const std::string& switch_name);
/// Switches where the storage is cabled to.
std::vector<std::string> storage_switches(const View& view, const std::string& fabric);
/// Drivers whose switches need a VLAN for each L3VNI. The capabilities of the items say the same
/// (tests/contract compares them); logic does not see items.
const std::set<std::string>& l3vlan_drivers();
/// Name of the EVPN fabric of a switch.
std::string fabric_of(const Switch& device);

/// Rules for what enters from the nodes of a network on one switch.
std::vector<AclRule> acl_rules(const Intent& intent, const WantedNetwork& network,
                               const std::string& switch_name);

}  // namespace tundish::control::network
