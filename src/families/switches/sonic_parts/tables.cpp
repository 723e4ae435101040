#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "families/switches/sonic_parts/sonic_parts.hpp"

namespace tundish::switches::sonic_parts {
namespace {

using Json = nlohmann::json;

std::string vlan_name(int vlan) { return "Vlan" + std::to_string(vlan); }

void put_map(Tables& tables, int vlan, int vni) {
  const std::string name = vlan_name(vlan);
  tables["VXLAN_TUNNEL_MAP"][std::string(tunnel_name) + "|map_" + std::to_string(vni) + "_" +
                             name] = {{"vlan", name}, {"vni", std::to_string(vni)}};
}

void put_vrf(Tables& tables, const VrfState& vrf) {
  tables["VRF"][vrf.name] = {{"vni", std::to_string(vrf.l3vni)}};
  tables["VLAN"][vlan_name(vrf.l3vlan)] = {{"vlanid", std::to_string(vrf.l3vlan)}};
  tables["VLAN_INTERFACE"][vlan_name(vrf.l3vlan)] = {{"vrf_name", vrf.name}};
  put_map(tables, vrf.l3vlan, vrf.l3vni);
}

void put_segment(Tables& tables, const SegmentState& segment) {
  const std::string name = vlan_name(segment.vlan);
  tables["VLAN"][name] = {{"mtu", std::to_string(segment.mtu)},
                          {"vlanid", std::to_string(segment.vlan)}};
  Row& interface = tables["VLAN_INTERFACE"][name];
  interface["vrf_name"] = segment.vrf;
  if (!segment.gateway.empty()) {
    interface["static_anycast_gateway"] = "true";
    tables["VLAN_INTERFACE"][name + "|" + segment.gateway] = {};
  }
  put_map(tables, segment.vlan, segment.l2vni);
}

void put_port(Tables& tables, const SwitchPortState& port) {
  Row& row = tables["PORT"][port.name];
  row["admin_status"] = port.mode == PortMode::quarantine ? "down" : "up";
  if (!port.description.empty()) row["description"] = port.description;
  if (port.mode == PortMode::access) {
    tables["VLAN_MEMBER"][vlan_name(port.vlan) + "|" + port.name] = {{"tagging_mode", "untagged"}};
  } else if (port.mode == PortMode::routed) {
    tables["INTERFACE"][port.name] = {{"vrf_name", port.vrf}};
    tables["INTERFACE"][port.name + "|" + port.address] = {};
  }
}

void put_rule(Tables& tables, const std::string& acl, const AclRule& rule) {
  Row& row = tables["ACL_RULE"][acl + "|R" + std::to_string(rule.sequence)];
  row["PRIORITY"] = std::to_string(10000 - rule.sequence);
  row["PACKET_ACTION"] = rule.action == AclAction::permit ? "FORWARD" : "DROP";
  // Source: IANA protocol numbers; checked 2026-11.
  if (rule.protocol == "tcp") row["IP_PROTOCOL"] = "6";
  if (rule.protocol == "udp") row["IP_PROTOCOL"] = "17";
  if (rule.protocol == "icmp") row["IP_PROTOCOL"] = "1";
  if (rule.protocol == "ip") row["IP_TYPE"] = "IPV4ANY";
  if (!rule.source.empty()) row["SRC_IP"] = rule.source;
  if (!rule.destination.empty()) row["DST_IP"] = rule.destination;
  if (rule.port_to != 0) {
    row["L4_DST_PORT_RANGE"] = std::to_string(rule.port_from) + "-" + std::to_string(rule.port_to);
  } else if (rule.port_from != 0) {
    row["L4_DST_PORT"] = std::to_string(rule.port_from);
  }
}

/// A list is bound to the access ports of its segments; policy_desc names the segments, for those
/// that have no port on this switch.
void put_acl(Tables& tables, const SwitchState& state, const AclState& acl) {
  std::vector<std::string> ports, vlans;
  for (const auto& segment : state.segments) {
    if (segment.acl_in != acl.name) continue;
    vlans.push_back(vlan_name(segment.vlan));
    for (const auto& port : state.ports) {
      if (port.mode == PortMode::access && port.vlan == segment.vlan) ports.push_back(port.name);
    }
  }
  std::sort(ports.begin(), ports.end());
  tables["ACL_TABLE"][acl.name] = {{"type", "L3"},
                                   {"stage", "ingress"},
                                   {"policy_desc", join(vlans, " ")},
                                   {"ports", join(ports, ",")}};
  for (const auto& rule : acl.rules) put_rule(tables, acl.name, rule);
  // The hardware's default is to forward.
  tables["ACL_RULE"][acl.name + "|DEFAULT_RULE"] = {
      {"PRIORITY", "1"}, {"PACKET_ACTION", "DROP"}, {"ETHER_TYPE", "2048"}};
}

Json to_json(const Row& row) {
  Json out = Json::object();
  for (const auto& [field, value] : row) {
    if (field != "ports") {
      out[field] = value;
      continue;
    }
    out[field] = Json::array();
    if (!value.empty()) {
      for (const auto& port : split(value, ',')) out[field].push_back(port);
    }
  }
  return out;
}

}  // namespace

Tables tables_of(const SwitchState& state) {
  Tables out;
  out["SAG"]["GLOBAL"] = {{"gateway_mac", state.anycast_mac}};
  out["VXLAN_TUNNEL"][tunnel_name] = {{"src_ip", state.vtep_address}};
  out["VXLAN_EVPN_NVO"]["nvo1"] = {{"source_vtep", tunnel_name}};
  for (const auto& vrf : state.vrfs) put_vrf(out, vrf);
  for (const auto& segment : state.segments) put_segment(out, segment);
  for (const auto& port : state.ports) put_port(out, port);
  for (const auto& acl : state.acls) put_acl(out, state, acl);
  return out;
}

std::string render_tables(const Tables& tables) {
  Json out = Json::object();
  for (const auto& [table, rows] : tables) {
    for (const auto& [key, row] : rows) out[table][key] = to_json(row);
  }
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tundish::switches::sonic_parts
