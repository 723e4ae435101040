#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "families/switches/parts/addresses.hpp"
#include "families/switches/parts/words.hpp"
#include "families/switches/sonic_parts/sonic_parts.hpp"

namespace tundish::switches::sonic_parts {
namespace {

/// Fields of ours that an administrator or a newer SONiC may add without changing what we wrote.
bool is_harmless(const std::string& table, const std::string& field, const std::string& value) {
  if (table == "PORT") return field != "admin_status" && field != "description";
  if (field == "NULL" || field == "policy_desc") return true;
  if (table == "VLAN") return field == "description" || (field == "admin_status" && value == "up");
  if (table == "VRF") return field == "fallback" && value == "false";
  return false;
}

class Reader {
 public:
  explicit Reader(const SwitchOwnership& ownership) : own_(ownership) {}

  ConfigSeen read(Tables tables) {
    tables_ = std::move(tables);
    read_declared();
    read_vrfs();
    for (auto& [key, row] : tables_["VXLAN_TUNNEL_MAP"]) read_map(key, row);
    read_interfaces();
    read_ports();
    read_acls();
    finish();
    return std::move(seen_);
  }

 private:
  void note(const std::string& what) { seen_.unclear.push_back("config_db.json: " + what); }
  SwitchState& state() { return seen_.own; }

  /// What must be there and how; every other field is looked at by is_harmless.
  void expect(const std::string& table, const std::string& key, const Row& wanted) {
    const Rows& rows = tables_[table];
    const auto found = rows.find(key);
    if (found == rows.end()) return note(table + "|" + key + " is missing");
    for (const auto& [field, value] : wanted) {
      const auto have = found->second.find(field);
      if (have == found->second.end() || have->second != value) {
        note(table + "|" + key + " " + field + " is not " + value);
      }
    }
    for (const auto& [field, value] : found->second) {
      if (!wanted.contains(field) && !is_harmless(table, field, value)) {
        note(table + "|" + key + " has " + field + " " + value);
      }
    }
    used_[table].insert(key);
  }

  static std::string field_of(const Row& row, const std::string& field) {
    const auto found = row.find(field);
    return found == row.end() ? "" : found->second;
  }

  static int vlan_of(std::string_view name) {
    if (!name.starts_with("Vlan")) return 0;
    return parse_number(name.substr(4), 1, 4094).value_or(0);
  }

  void read_declared() {
    for (const auto& [name, row] : tables_["VXLAN_EVPN_NVO"]) {
      tunnel_ = field_of(row, "source_vtep");
      // There may be one only, and we would add ours.
      if (name != "nvo1") note("VXLAN_EVPN_NVO is called '" + name + "', not nvo1");
    }
    if (tunnel_ != tunnel_name) note("the tunnel is called '" + tunnel_ + "', not vtep1");
    state().vtep_address = field_of(tables_["VXLAN_TUNNEL"][tunnel_], "src_ip");
    const std::string mac = field_of(tables_["SAG"]["GLOBAL"], "gateway_mac");
    if (!mac.empty()) state().anycast_mac = to_lower(mac);
  }

  void read_vrfs() {
    for (const auto& [name, row] : tables_["VRF"]) {
      const int vni = parse_number(field_of(row, "vni"), 1, 16777215).value_or(0);
      if (!is_own_vrf(name, own_)) {
        seen_.foreign.vrfs.push_back(name);
        if (vni != 0) seen_.foreign.vnis.push_back(vni);
        continue;
      }
      VrfState vrf;
      vrf.name = name;
      vrf.vrf_id = vrf_id_of(name);
      vrf.l3vni = vni;
      expect("VRF", name, {{"vni", std::to_string(vni)}});
      state().vrfs.push_back(std::move(vrf));
    }
  }

  VrfState* vrf_named(const std::string& name) {
    for (auto& vrf : state().vrfs) {
      if (vrf.name == name) return &vrf;
    }
    return nullptr;
  }

  void read_map(const std::string& key, const Row& row) {
    const std::string name = field_of(row, "vlan");
    const int vlan = vlan_of(name);
    const int vni = parse_number(field_of(row, "vni"), 1, 16777215).value_or(0);
    const bool l3 = is_own_l3vlan(vlan, own_);
    if (!l3 && !is_own_vlan(vlan, own_)) {
      if (vni != 0) seen_.foreign.vnis.push_back(vni);
      return;
    }
    if (key != tunnel_ + "|map_" + std::to_string(vni) + "_" + name) {
      note("VXLAN_TUNNEL_MAP|" + key + " has another name than its numbers");
    }
    const Row& interface = tables_["VLAN_INTERFACE"][name];
    const std::string vrf = field_of(interface, "vrf_name");
    if (l3) {
      VrfState* owner = vrf_named(vrf);
      if (owner == nullptr || owner->l3vlan != 0 || owner->l3vni != vni) {
        return note("VXLAN_TUNNEL_MAP|" + key + " is the L3VNI of no VRF of ours");
      }
      owner->l3vlan = vlan;
      expect("VLAN", name, {{"vlanid", std::to_string(vlan)}});
      return expect("VLAN_INTERFACE", name, {{"vrf_name", vrf}});
    }
    for (const auto& other : state().segments) {
      if (other.vlan == vlan) return note("VXLAN_TUNNEL_MAP|" + key + ": the VLAN has two VNIs");
    }
    SegmentState segment;
    segment.vrf = vrf;
    segment.vlan = vlan;
    segment.l2vni = vni;
    segment.mtu = parse_number(field_of(tables_["VLAN"][name], "mtu"), 1, 65535).value_or(0);
    expect("VLAN", name, {{"mtu", std::to_string(segment.mtu)}, {"vlanid", std::to_string(vlan)}});
    if (vrf_named(vrf) == nullptr) note("VLAN_INTERFACE|" + name + " is in no VRF of ours");
    state().segments.push_back(std::move(segment));
  }

  void read_interfaces() {
    std::map<int, std::vector<std::string>> addresses;
    for (const auto& [key, row] : tables_["VLAN_INTERFACE"]) {
      const std::size_t bar = key.find('|');
      if (bar != std::string::npos)
        addresses[vlan_of(key.substr(0, bar))].push_back(key.substr(bar + 1));
    }
    for (auto& segment : state().segments) {
      const std::string name = "Vlan" + std::to_string(segment.vlan);
      const auto& list = addresses[segment.vlan];
      Row wanted{{"vrf_name", segment.vrf}};
      if (!list.empty()) {
        segment.gateway = list[0];
        wanted["static_anycast_gateway"] = "true";
      }
      expect("VLAN_INTERFACE", name, wanted);
      if (list.size() > 1) note("VLAN_INTERFACE|" + name + " has several addresses");
    }
    for (const auto& vrf : state().vrfs) {
      if (!addresses[vrf.l3vlan].empty() && vrf.l3vlan != 0) {
        note("Vlan" + std::to_string(vrf.l3vlan) + " has an address");
      }
      if (vrf.l3vlan == 0) note("VRF|" + vrf.name + " has no VLAN for its VNI");
    }
    for (const auto& [name, row] : tables_["VLAN"]) {
      const int vlan = vlan_of(name);
      if (used_["VLAN"].contains(name)) continue;
      if (is_own_vlan(vlan, own_) || is_own_l3vlan(vlan, own_)) {
        note("VLAN|" + name + " has no VNI");
      } else {
        seen_.foreign.vlans.push_back(vlan);
      }
    }
  }

  void read_ports() {
    for (const auto& [key, row] : tables_["VLAN_MEMBER"]) {
      const std::size_t bar = std::min(key.find('|'), key.size());
      const int vlan = vlan_of(key.substr(0, bar));
      const std::string port = bar < key.size() ? key.substr(bar + 1) : "";
      if (is_own_port(port, own_)) {
        members_[port].emplace_back(vlan, field_of(row, "tagging_mode"));
      } else if (find_segment(state(), vlan) != nullptr || is_l3vlan(vlan)) {
        note("VLAN_MEMBER|" + key + ": the port is not ours");
      }
    }
    for (const auto& name : own_.ports) {
      const auto row = tables_["PORT"].find(name);
      if (row != tables_["PORT"].end()) read_port(name, row->second);
    }
    for (const auto& [key, row] : tables_["INTERFACE"]) {
      const bool ours = is_own_port(key.substr(0, key.find('|')), own_);
      if (!ours && vrf_named(field_of(row, "vrf_name")) != nullptr) {
        note("INTERFACE|" + key + ": the port is not ours");
      }
    }
  }

  bool is_l3vlan(int vlan) {
    return std::any_of(state().vrfs.begin(), state().vrfs.end(),
                       [&](const VrfState& vrf) { return vrf.l3vlan == vlan; });
  }

  void read_port(const std::string& name, const Row& row) {
    SwitchPortState port;
    port.name = name;
    port.description = field_of(row, "description");
    const bool up = field_of(row, "admin_status") == "up";
    const auto& members = members_[name];
    const auto routed = tables_["INTERFACE"].find(name);
    std::vector<std::string> addresses;
    for (const auto& [key, unused] : tables_["INTERFACE"]) {
      if (key.starts_with(name + "|")) addresses.push_back(key.substr(name.size() + 1));
    }
    bool clear = true;
    if (!members.empty()) {
      port.mode = PortMode::access;
      port.vlan = members[0].first;
      clear = up && members.size() == 1 && members[0].second == "untagged" &&
              routed == tables_["INTERFACE"].end() && addresses.empty() &&
              find_segment(state(), port.vlan) != nullptr;
    } else if (routed != tables_["INTERFACE"].end() || !addresses.empty()) {
      port.mode = PortMode::routed;
      if (routed != tables_["INTERFACE"].end()) port.vrf = field_of(routed->second, "vrf_name");
      if (!addresses.empty()) port.address = addresses[0];
      clear = up && addresses.size() == 1 && vrf_named(port.vrf) != nullptr;
      expect("INTERFACE", name, {{"vrf_name", port.vrf}});
    } else {
      clear = !up;
    }
    if (!clear) note("PORT|" + name + " is half in a network");
    state().ports.push_back(std::move(port));
  }

  void read_acls() {
    std::map<std::string, std::vector<std::string>> rules;
    for (const auto& [key, row] : tables_["ACL_RULE"]) {
      rules[key.substr(0, key.find('|'))].push_back(key);
    }
    for (const auto& [name, row] : tables_["ACL_TABLE"]) {
      if (!is_own_acl(name, own_)) {
        seen_.foreign.acls.push_back(name);
        continue;
      }
      AclState acl{name, {}};
      bool ends = false;
      for (const auto& key : rules[name]) {
        const Row& rule = tables_["ACL_RULE"][key];
        if (key == name + "|DEFAULT_RULE") {
          ends = true;
          expect("ACL_RULE", key,
                 {{"PRIORITY", "1"}, {"PACKET_ACTION", "DROP"}, {"ETHER_TYPE", "2048"}});
        } else {
          read_rule(acl, key, rule);
        }
      }
      if (!ends) note("ACL_TABLE|" + name + " does not end with a deny");
      read_binding(name, row);
      state().acls.push_back(std::move(acl));
    }
  }

  void read_rule(AclState& acl, const std::string& key, const Row& row) {
    AclRule rule;
    const int priority = parse_number(field_of(row, "PRIORITY"), 2, 9999).value_or(0);
    rule.sequence = 10000 - priority;
    Row left = row;
    for (const char* field : {"PRIORITY", "PACKET_ACTION", "IP_PROTOCOL", "IP_TYPE", "SRC_IP",
                              "DST_IP", "L4_DST_PORT", "L4_DST_PORT_RANGE"}) {
      left.erase(field);
    }
    const std::string action = field_of(row, "PACKET_ACTION");
    rule.action = action == "FORWARD" ? AclAction::permit : AclAction::deny;
    const std::string protocol = field_of(row, "IP_PROTOCOL");
    rule.protocol = protocol == "6"    ? "tcp"
                    : protocol == "17" ? "udp"
                    : protocol == "1"  ? "icmp"
                                       : "ip";
    rule.source = field_of(row, "SRC_IP");
    rule.destination = field_of(row, "DST_IP");
    const std::string range = field_of(row, "L4_DST_PORT_RANGE");
    const std::string from =
        range.empty() ? field_of(row, "L4_DST_PORT") : range.substr(0, range.find('-'));
    rule.port_from = parse_number(from, 1, 65535).value_or(0);
    if (!range.empty()) {
      const std::size_t dash = std::min(range.find('-'), range.size() - 1);
      rule.port_to = parse_number(range.substr(dash + 1), 1, 65535).value_or(0);
    }
    const bool odd = !left.empty() || priority == 0 || (action != "FORWARD" && action != "DROP") ||
                     (rule.protocol == "ip" && field_of(row, "IP_TYPE") != "IPV4ANY") ||
                     (!from.empty() && rule.port_from == 0) ||
                     key != acl.name + "|R" + std::to_string(rule.sequence);
    if (odd) note("ACL_RULE|" + key + " was not understood");
    acl.rules.push_back(std::move(rule));
  }

  void read_binding(const std::string& name, const Row& row) {
    std::vector<std::string> ports;
    for (const auto& word : words_of(field_of(row, "policy_desc"))) {
      for (auto& segment : state().segments) {
        if (word != "Vlan" + std::to_string(segment.vlan)) continue;
        segment.acl_in = name;
        for (const auto& port : state().ports) {
          if (port.mode == PortMode::access && port.vlan == segment.vlan)
            ports.push_back(port.name);
        }
      }
    }
    std::sort(ports.begin(), ports.end());
    expect("ACL_TABLE", name, {{"type", "L3"}, {"stage", "ingress"}, {"ports", join(ports, ",")}});
  }

  void finish() {
    sort_state(state());
    tidy_up(seen_.foreign);
  }

  const SwitchOwnership& own_;
  Tables tables_;
  std::map<std::string, std::set<std::string>> used_;
  std::map<std::string, std::vector<std::pair<int, std::string>>> members_;
  std::string tunnel_;
  ConfigSeen seen_;
};

}  // namespace

Result<ConfigSeen> parse_tables(std::string_view json, const SwitchOwnership& ownership,
                                const Databases* databases) {
  Tables tables = TRY(read_tables(json));
  if (databases == nullptr) return Reader(ownership).read(std::move(tables));
  std::vector<std::string> notes;
  tables = TRY(applied_tables(std::move(tables), *databases, ownership, notes));
  ConfigSeen out = Reader(ownership).read(std::move(tables));
  out.unclear.insert(out.unclear.begin(), notes.begin(), notes.end());
  return out;
}

}  // namespace tundish::switches::sonic_parts
