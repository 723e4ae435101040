#pragma once
// Fabrics, and the network of an allocation: its numbers come and go in the same transaction as
// the nodes.
#include "model/ops/pool.hpp"

namespace tundish {

/// Declares a fabric. Refused when its own ranges or prefixes contradict one another, or when a
/// network that exists would no longer fit.
OperationPtr put_fabric(std::string name, FabricSpec spec);
struct NetworkRules {
  std::vector<FirewallRule> firewall;
  std::vector<FirewallRule> access;
};
/// Both lists of rules, in order, of a cluster that exists. Refused when one cannot be written.
OperationPtr set_firewall(ClusterId cluster, NetworkRules rules);
/// Replaces what is known per technology; refused when a newer version was recorded meanwhile.
OperationPtr record_sync(NetworkId network, std::vector<NetworkSync> sync);
OperationPtr record_switch_status(Id<Switch> device, SwitchStatus status);
OperationPtr record_fabric_conditions(Id<Fabric> fabric, std::vector<Condition> conditions);

/// Each rule costs room in the switches' tables.
constexpr std::size_t most_firewall_rules = 64;

enum class LoginNode { present, absent };
/// What rules are for; the names are for messages.
struct RulesPlace {
  std::string fabric;
  std::string cluster;
  LoginNode login = LoginNode::absent;
};
/// Refuses rules that a switch or the gateway cannot hold. A rule without a source gets the
/// network's first prefix.
Result<> plan_rules(const Registry& view, const RulesPlace& place, NetworkSpec& spec);
/// The cluster's own copy of them, as people write them.
void tell_rules(const NetworkSpec& spec, ClusterSpec& cluster);

/// I14: a prefix that is none, overlaps another one of the list, or collides with storage,
/// underlay, management or the pool of node addresses of the fabric. `object` is whose they are.
Result<> check_prefixes(const Registry& view, const std::string& fabric,
                        const std::vector<std::string>& prefixes, const std::string& object);

/// Likewise a prefix that holds an out-of-band address of a node, a BMC or a switch: the fabric may
/// not be declared, and then knows no management network.
Result<> check_out_of_band(const Registry& view, const std::vector<std::string>& prefixes,
                           const std::string& object);

/// Draws every number of the allocation's network, whose nodes are all in `allocation`.
Result<Network> draw_network(Txn& txn, const std::string& fabric, const Allocation& allocation,
                             NetworkSpec spec);
/// Numbers that a node brings with it: VLANs of its switch, its address towards the storage.
Result<> join_network(Txn& txn, const Allocation& allocation, const NodeId& node);
/// Takes them back once the node was seen outside; `allocation` no longer holds it.
void leave_network(Txn& txn, const Allocation& allocation, const AllocationNode& left);
/// What is wanted of the network changed: members, roles or phase.
void touch_network(Txn& txn, const NetworkId& network);
void erase_network(Txn& txn, const NetworkId& network);

}  // namespace tundish
