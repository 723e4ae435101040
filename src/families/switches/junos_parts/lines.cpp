// What is empty was not seen (a switch half way) and has no statement.
#include <algorithm>

#include "base/text.hpp"
#include "families/switches/junos_parts/parts.hpp"

namespace tundish::switches::juniper {
namespace {

constexpr int port_mtu = 9216;  // bytes of a frame; carries any segment's packets
constexpr int routed_mtu =
    9000;  // as SegmentState::mtu: a node's packets fit on either kind of port

Statement operator/(Statement path, const Statement& more) {
  path.insert(path.end(), more.begin(), more.end());
  return path;
}

/// `65000:50010` of one instance as a community's name.
std::string community_name(const std::string& instance, const std::string& target) {
  std::string out = instance + "-" + target;
  std::replace(out.begin(), out.end(), ':', '-');
  return out;
}

const std::vector<std::string>& targets_of(const std::string& vrf, const SwitchState& state) {
  static const std::vector<std::string> none;
  const VrfState* found = find_vrf(state, vrf);
  return found == nullptr ? none : found->export_targets;
}

class Policies {
 public:
  Policies(JunosObject& out, const std::string& instance) : out_(out), instance_(instance) {}

  void roots_for(const std::vector<std::string>& targets) {
    for (const auto& target : targets) {
      const Statement root = {"policy-options", "community", community_name(instance_, target)};
      if (std::find(out_.roots.begin(), out_.roots.end(), root) != out_.roots.end()) continue;
      out_.roots.push_back(root);
      out_.lines.push_back(root / Statement{"members", "target:" + target});
    }
  }

  /// Always by policy: one form for one target, for several and for leaks, so that a change only
  /// adds and takes terms.
  void imports(const std::vector<std::string>& targets, const std::vector<LeakState>& leaks,
               const SwitchState& state) {
    if (targets.empty() && leaks.empty()) return;
    const Statement home = {"routing-instances", instance_};
    const Statement policy = {"policy-options", "policy-statement", instance_ + "-IMPORT"};
    out_.roots.push_back(policy);
    roots_for(targets);
    for (const auto& target : targets) {
      out_.lines.push_back(policy / Statement{"term", "own", "from", "community",
                                              community_name(instance_, target)});
    }
    if (!targets.empty()) {
      out_.lines.push_back(policy / Statement{"term", "own", "then", "accept"});
    }
    for (const auto& leak : leaks) add_leak(policy, leak, state);
    // Of the policy, not of a term: it stays behind terms that come later.
    out_.lines.push_back(policy / Statement{"then", "reject"});
    out_.lines.push_back(home / Statement{"vrf-import", instance_ + "-IMPORT"});
  }

  void exports(const std::vector<std::string>& targets) {
    if (targets.empty()) return;
    const Statement home = {"routing-instances", instance_};
    const Statement policy = {"policy-options", "policy-statement", instance_ + "-EXPORT"};
    out_.roots.push_back(policy);
    roots_for(targets);
    for (const auto& target : targets) {
      out_.lines.push_back(
          policy / Statement{"then", "community", "add", community_name(instance_, target)});
    }
    out_.lines.push_back(policy / Statement{"then", "accept"});
    out_.lines.push_back(home / Statement{"vrf-export", instance_ + "-EXPORT"});
  }

 private:
  void add_leak(const Statement& policy, const LeakState& leak, const SwitchState& state) {
    const Statement term = policy / Statement{"term", std::string(leak_term) + leak.from_vrf};
    const auto& targets = targets_of(leak.from_vrf, state);
    roots_for(targets);
    for (const auto& target : targets) {
      out_.lines.push_back(term /
                           Statement{"from", "community", community_name(instance_, target)});
    }
    for (const auto& prefix : leak.prefixes) {
      out_.lines.push_back(term / Statement{"from", "route-filter", prefix, "orlonger"});
    }
    out_.lines.push_back(term / Statement{"then", "accept"});
  }

  JunosObject& out_;
  std::string instance_;
};

}  // namespace

JunosObject vrf_object(const VrfState& vrf, const SwitchState& state) {
  JunosObject out;
  const Statement home = {"routing-instances", vrf.name};
  const std::string vni = std::to_string(vrf.l3vni);
  out.roots.push_back(home);
  const auto add = [&](const Statement& more) { out.lines.push_back(home / more); };
  if (!vrf.description.empty()) add({"description", vrf.description});
  add({"instance-type", "vrf"});
  if (!vrf.leaks.empty()) add({"routing-options", "auto-export"});
  // Without an export policy ip-prefix-routes tells of every route of the table, static ones too.
  // Source: Junos CLI reference, ip-prefix-routes and ip-prefix-support; checked 2026-11.
  for (const auto& route : vrf.routes) {
    add({"routing-options", "static", "route", route.prefix, "next-hop", route.via});
  }
  if (vrf.l3vni != 0) {
    add({"protocols", "evpn", "irb-symmetric-routing", "vni", vni});
    add({"protocols", "evpn", "ip-prefix-routes", "advertise", "direct-nexthop"});
    add({"protocols", "evpn", "ip-prefix-routes", "encapsulation", "vxlan"});
    add({"protocols", "evpn", "ip-prefix-routes", "vni", vni});
  }
  if (!vrf.rd.empty()) add({"route-distinguisher", vrf.rd});
  Policies policies(out, vrf.name);
  policies.imports(vrf.import_targets, vrf.leaks, state);
  policies.exports(vrf.export_targets);
  return out;
}

JunosObject segment_object(const SegmentState& segment, const SwitchState& state) {
  JunosObject out;
  const std::string name = instance_name(segment), vlan = std::to_string(segment.vlan);
  const Statement home = {"routing-instances", name}, unit = {"interfaces", "irb", "unit", vlan};
  out.roots = {unit};
  if (segment.l2vni != 0) out.roots.push_back(home);
  const auto add = [&](const Statement& root, const Statement& more) {
    if (&root == &unit || segment.l2vni != 0) out.lines.push_back(root / more);
  };
  add(home, {"instance-type", "mac-vrf"});
  add(home, {"protocols", "evpn", "encapsulation", "vxlan"});
  add(home, {"protocols", "evpn", "default-gateway", "no-gateway-community"});
  add(home, {"protocols", "evpn", "extended-vni-list", "all"});
  add(home, {"vtep-source-interface", "lo0.0"});
  add(home, {"service-type", "vlan-based"});
  if (!segment.rd.empty()) add(home, {"route-distinguisher", segment.rd});
  add(home, {"vlans", "v" + vlan, "vlan-id", vlan});
  add(home, {"vlans", "v" + vlan, "l3-interface", "irb." + vlan});
  add(home, {"vlans", "v" + vlan, "vxlan", "vni", std::to_string(segment.l2vni)});
  if (segment.l2vni != 0) {
    Policies policies(out, name);
    policies.imports(segment.import_targets, {}, state);
    policies.exports(segment.export_targets);
  }
  if (!state.anycast_mac.empty()) add(unit, {"apply-groups", std::string(gateway_group)});
  add(unit, {"family", "inet", "mtu", std::to_string(segment.mtu)});
  if (!segment.acl_in.empty()) add(unit, {"family", "inet", "filter", "input", segment.acl_in});
  if (!segment.gateway.empty()) add(unit, {"family", "inet", "address", segment.gateway});
  if (!segment.vrf.empty()) {
    const Statement member = {"routing-instances", segment.vrf, "interface", "irb." + vlan};
    out.roots.push_back(member);
    out.lines.push_back(member);
  }
  return out;
}

JunosObject acl_object(const AclState& acl) {
  JunosObject out;
  const Statement home = {"firewall", "family", "inet", "filter", acl.name};
  out.roots.push_back(home);
  for (const auto& rule : acl.rules) {
    const Statement term = home / Statement{"term", "t" + std::to_string(rule.sequence)};
    const auto add = [&](const Statement& more) { out.lines.push_back(term / more); };
    if (!rule.source.empty()) add({"from", "source-address", rule.source});
    if (!rule.destination.empty()) add({"from", "destination-address", rule.destination});
    if (rule.protocol != "ip") add({"from", "protocol", rule.protocol});
    if (rule.port_from != 0) {
      std::string ports = std::to_string(rule.port_from);
      if (rule.port_to > rule.port_from) ports += "-" + std::to_string(rule.port_to);
      add({"from", "destination-port", ports});
    }
    add({"then", rule.action == AclAction::permit ? "accept" : "discard"});
  }
  return out;
}

JunosObject port_object(const SwitchPortState& port, const SwitchState& state) {
  JunosObject out;
  const Statement home = {"interfaces", port.name};
  out.roots.push_back(home);
  const auto add = [&](const Statement& more) { out.lines.push_back(home / more); };
  const auto join = [&](const std::string& instance) {
    const Statement member = {"routing-instances", instance, "interface", port.name + ".0"};
    out.roots.push_back(member);
    out.lines.push_back(member);
  };
  if (!port.description.empty()) add({"description", port.description});
  if (port.mode == PortMode::quarantine) {
    add({"disable"});
    return out;
  }
  add({"mtu", std::to_string(port_mtu)});
  if (port.mode == PortMode::access) {
    const SegmentState* segment = find_segment(state, port.vlan);
    add({"unit", "0", "family", "ethernet-switching", "interface-mode", "access"});
    add({"unit", "0", "family", "ethernet-switching", "vlan", "members",
         "v" + std::to_string(port.vlan)});
    if (segment != nullptr) join(instance_name(*segment));
  } else {
    add({"unit", "0", "family", "inet", "mtu", std::to_string(routed_mtu)});
    if (!port.address.empty()) add({"unit", "0", "family", "inet", "address", port.address});
    if (!port.vrf.empty()) join(port.vrf);
  }
  return out;
}

JunosObject fabric_object(const SwitchState& state) {
  JunosObject out;
  if (state.anycast_mac.empty()) return out;
  const Statement home = {"groups", std::string(gateway_group)};
  out.roots.push_back(home);
  out.lines.push_back(home /
                      Statement{"interfaces", "irb", "unit", "<*>", "mac", state.anycast_mac});
  return out;
}

JunosObject declared_object(const SwitchState& state) {
  JunosObject out;
  out.lines = {
      {"interfaces", "lo0", "unit", "0", "family", "inet", "address", state.vtep_address + "/32"},
      {"routing-options", "router-id", state.router_id},
      {"routing-options", "autonomous-system", std::to_string(state.asn)}};
  return out;
}

}  // namespace tundish::switches::juniper
