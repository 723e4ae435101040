#pragma once
// A rule of a tenant's firewall as people write it: "permit tcp/443@203.0.113.0/24".
#include "base/result.hpp"
#include "model/network.hpp"

namespace tundish {

struct FabricSpec;

/// ACTION PROTOCOL[/PORT[-PORT]]@CIDR: what the cluster's nodes may send there. ACTION is permit or
/// deny, PROTOCOL tcp, udp, icmp or ip. `number` counts from 1, for messages.
Result<FirewallRule> parse_firewall_rule(std::string_view text, std::size_t number);
/// PROTOCOL/PORT[-PORT]@CIDR, with PROTOCOL tcp or udp: who may come in by the cluster's gateway.
/// The CIDR is the rule's source.
Result<FirewallRule> parse_access_rule(std::string_view text, std::size_t number);
std::string render_access_rule(const FirewallRule& rule);
/// As parse_firewall_rule reads it.
std::string render_firewall_rule(const FirewallRule& rule);

/// That a switch can hold it: protocol, prefixes, ports.
Result<> check_firewall_rule(const FirewallRule& rule, std::size_t number);
/// That a gateway can: permit, tcp or udp, with ports and no destination of its own.
Result<> check_access_rule(const FirewallRule& rule, std::size_t number);
/// A permit for the underlay, management or other nodes' storage addresses would have no effect,
/// since the fabric's own rules come first: refused by name.
Result<> check_firewall_reach(const FabricSpec& fabric, const FirewallRule& rule,
                              std::size_t number);

}  // namespace tundish
