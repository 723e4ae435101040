// What SONiC applied of CONFIG_DB.
// Source: sonic-swss-common schema.h and sonic-swss doc/swss-schema.md (tables of APPL_DB, keys
// with
// ':'), vrfmgr.cpp (VXLAN_VRF_TABLE:vtep:evpn_map_VNI_VRF), SAI attributes of ASIC_DB as
// sonic-utilities' dump plugins read them, aclorch (STATE_DB ACL_TABLE_TABLE, status Active);
// sonic-swss PR #2538 (the VLAN's map of an L3VNI is replaced by that of the VRF); checked 2026-11.
#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "codec/json.hpp"
#include "families/switches/parts/addresses.hpp"
#include "families/switches/parts/words.hpp"
#include "families/switches/sonic_parts/sonic_parts.hpp"

namespace tundish::switches::sonic_parts {
namespace {

std::string value_of(const JsonValue& value) {
  if (const auto text = value.as_text()) return *text;
  if (value.kind() == JsonValue::Kind::list) {
    std::vector<std::string> parts;
    for (const auto& item : value.items()) parts.push_back(item.as_text().value_or(""));
    std::sort(parts.begin(), parts.end());
    return join(parts, ",");
  }
  return value.render();
}

/// Tables of CONFIG_DB that the managers copy to APPL_DB, with the fields that both have.
struct Mirrored {
  const char* config;
  const char* appl;
  std::set<std::string> fields;
};
const Mirrored mirrored[] = {
    {"PORT", "PORT_TABLE", {"admin_status"}},
    {"VLAN", "VLAN_TABLE", {"mtu"}},
    {"VLAN_MEMBER", "VLAN_MEMBER_TABLE", {"tagging_mode"}},
    {"VLAN_INTERFACE", "INTF_TABLE", {"vrf_name"}},
    {"INTERFACE", "INTF_TABLE", {"vrf_name"}},
    {"VRF", "VRF_TABLE", {"vni"}},
    {"VXLAN_TUNNEL_MAP", "VXLAN_TUNNEL_MAP_TABLE", {"vlan", "vni"}},
};

/// An address holds colons too: only the first one parts the key.
std::string with_first(std::string key, char from, char to) {
  const std::size_t at = key.find(from);
  if (at != std::string::npos) key[at] = to;
  return key;
}

Row fields_of(const JsonValue& entry) {
  Row out;
  for (const auto& [field, value] : entry.at("value").members()) out[field] = value_of(value);
  return out;
}

const Row* find_row(const Tables& tables, const std::string& table, const std::string& key) {
  const auto rows = tables.find(table);
  if (rows == tables.end()) return nullptr;
  const auto row = rows->second.find(key);
  return row == rows->second.end() ? nullptr : &row->second;
}

std::string field_of(const Row& row, const std::string& field) {
  const auto found = row.find(field);
  return found == row.end() ? "" : found->second;
}

Row only(const Row& row, const std::set<std::string>& fields) {
  Row out;
  for (const auto& [field, value] : row) {
    if (fields.contains(field)) out.emplace(field, value);
  }
  return out;
}

int vlan_number(std::string_view name) {
  return name.starts_with("Vlan") ? parse_number(name.substr(4), 1, 4094).value_or(0) : 0;
}

/// APPL_DB in the tables, keys and fields of CONFIG_DB.
Tables of_appl(const JsonValue& dump) {
  Tables out;
  for (const auto& [whole, entry] : dump.members()) {
    const std::size_t colon = whole.find(':');
    if (colon == std::string::npos) continue;
    const std::string table = whole.substr(0, colon), key = whole.substr(colon + 1);
    const Row row = fields_of(entry);
    if (table == "VXLAN_VRF_TABLE") {
      out["VRF"][field_of(row, "vrf")]["vni"] = field_of(row, "vni");
      continue;
    }
    for (const auto& one : mirrored) {
      if (table != one.appl) continue;
      const bool of_vlan = key.starts_with("Vlan");
      if (table == "INTF_TABLE" && of_vlan != (std::string(one.config) == "VLAN_INTERFACE")) {
        continue;
      }
      Row& into = out[one.config][with_first(key, ':', '|')];
      // The VNI of a VRF counts where the tunnel has it, not where the VRF was told.
      if (table == "VRF_TABLE") continue;
      for (const auto& [field, value] : only(row, one.fields)) into[field] = value;
    }
  }
  return out;
}

/// The hardware's side: which VLANs a port is in, which VNIs have a map.
struct Asic {
  std::map<std::string, std::set<int>> vlans_of_port;
  std::map<std::string, std::string> admin_state;
  std::set<int> vnis;
};

Asic of_asic(const JsonValue& dump, const JsonValue& counters) {
  constexpr std::string_view head = "ASIC_STATE:SAI_OBJECT_TYPE_";
  std::map<std::string, std::string> port_names, ports_of_bridge;
  std::map<std::string, int> vlans;
  for (const auto& [name, oid] : counters.at("COUNTERS_PORT_NAME_MAP").at("value").members()) {
    port_names[oid.as_text().value_or("")] = name;
  }
  Asic out;
  std::vector<Row> members;
  for (const auto& [key, entry] : dump.members()) {
    if (!std::string_view(key).starts_with(head)) continue;
    const std::size_t colon = key.find(':', head.size());
    if (colon == std::string::npos) continue;
    const std::string type = key.substr(head.size(), colon - head.size());
    const std::string oid = key.substr(colon + 1);
    const Row row = fields_of(entry);
    if (type == "VLAN") {
      vlans[oid] = parse_number(field_of(row, "SAI_VLAN_ATTR_VLAN_ID"), 1, 4094).value_or(0);
    } else if (type == "BRIDGE_PORT") {
      ports_of_bridge[oid] = field_of(row, "SAI_BRIDGE_PORT_ATTR_PORT_ID");
    } else if (type == "VLAN_MEMBER") {
      members.push_back(row);
    } else if (type == "PORT" && port_names.contains(oid)) {
      out.admin_state[port_names[oid]] = field_of(row, "SAI_PORT_ATTR_ADMIN_STATE");
    } else if (type == "TUNNEL_MAP_ENTRY") {
      for (const char* field :
           {"SAI_TUNNEL_MAP_ENTRY_ATTR_VNI_ID_KEY", "SAI_TUNNEL_MAP_ENTRY_ATTR_VNI_ID_VALUE"}) {
        out.vnis.insert(parse_number(field_of(row, field), 1, 16777215).value_or(0));
      }
    }
  }
  for (const auto& member : members) {
    const std::string bridge = field_of(member, "SAI_VLAN_MEMBER_ATTR_BRIDGE_PORT_ID");
    const std::string port = port_names[ports_of_bridge[bridge]];
    const int vlan = vlans[field_of(member, "SAI_VLAN_MEMBER_ATTR_VLAN_ID")];
    if (!port.empty() && vlan != 0) out.vlans_of_port[port].insert(vlan);
  }
  return out;
}

class Comparer {
 public:
  Comparer(Tables config, const SwitchOwnership& own, std::vector<std::string>& notes)
      : config_(std::move(config)), own_(own), notes_(notes) {}

  void compare(const Tables& appl) {
    for (const auto& one : mirrored) {
      const Rows before = config_[one.config];
      for (const auto& [key, row] : before) {
        if (is_ours(one.config, key, row)) take(one, key, row, find_row(appl, one.config, key));
      }
      const auto applied = appl.find(one.config);
      if (applied == appl.end()) continue;
      for (const auto& [key, row] : applied->second) {
        const bool extra = !before.contains(key) && is_ours(one.config, key, row);
        // A port without a row is the administrator's.
        if (!extra || std::string(one.config) == "PORT") continue;
        note(one, key, " is gone from CONFIG_DB and still applied");
        config_[one.config][key] = row;
      }
    }
  }

  void compare(const Asic& asic) {
    for (const auto& port : own_.ports) {
      std::set<int> told;
      for (const auto& [key, row] : config_["VLAN_MEMBER"]) {
        const std::size_t bar = key.find('|');
        if (bar != std::string::npos && key.substr(bar + 1) == port) {
          told.insert(vlan_number(key.substr(0, bar)));
        }
      }
      const auto found = asic.vlans_of_port.find(port);
      const std::set<int> there =
          found == asic.vlans_of_port.end() ? std::set<int>{} : found->second;
      for (const int vlan : told) {
        if (!there.contains(vlan)) note_asic(port + " is not in VLAN " + std::to_string(vlan));
      }
      for (const int vlan : there) {
        if (told.contains(vlan)) continue;
        note_asic(port + " is still in VLAN " + std::to_string(vlan));
        config_["VLAN_MEMBER"]["Vlan" + std::to_string(vlan) + "|" + port] = {
            {"tagging_mode", "untagged"}};
      }
      compare_admin(asic, port);
    }
    for (const auto& [key, row] : config_["VXLAN_TUNNEL_MAP"]) {
      const int vni = parse_number(field_of(row, "vni"), 1, 16777215).value_or(0);
      if (is_ours("VXLAN_TUNNEL_MAP", key, row) && !asic.vnis.contains(vni)) {
        note_asic("VNI " + std::to_string(vni) + " has no map");
      }
      known_vnis_.insert(vni);
    }
    for (const int vni : asic.vnis) {
      if (is_own_vni(vni, own_) && !known_vnis_.contains(vni)) {
        note_asic("VNI " + std::to_string(vni) + " still has a map");
      }
    }
  }

  /// Older releases tell no status: then it is not known, and nothing is said of it.
  void compare_acls(const JsonValue& state) {
    for (const auto& [key, entry] : state.members()) {
      const auto words = split(key, '|');
      const bool acl = words[0] == "ACL_TABLE_TABLE" || words[0] == "ACL_RULE_TABLE";
      if (!acl || words.size() < 2 || !is_own_acl(words[1], own_)) continue;
      const std::string status = field_of(fields_of(entry), "status");
      if (status == "Active") continue;
      notes_.push_back("STATE_DB: " + key.substr(key.find('|') + 1) + " is " + status);
    }
  }

  Tables result() { return std::move(config_); }

 private:
  bool is_our_vlan(int vlan) const { return is_own_vlan(vlan, own_) || is_own_l3vlan(vlan, own_); }

  bool is_ours(const std::string& table, const std::string& key, const Row& row) const {
    const std::size_t bar = std::min(key.find('|'), key.size());
    const std::string first = key.substr(0, bar);
    if (table == "PORT" || table == "INTERFACE") return is_own_port(first, own_);
    if (table == "VRF") return is_own_vrf(key, own_);
    if (table == "VXLAN_TUNNEL_MAP") return is_our_vlan(vlan_number(field_of(row, "vlan")));
    if (is_our_vlan(vlan_number(first))) return true;
    return table == "VLAN_MEMBER" && bar < key.size() && is_own_port(key.substr(bar + 1), own_);
  }

  void note(const Mirrored& table, const std::string& key, const std::string& what) {
    notes_.push_back("APPL_DB: " + std::string(table.config) + "|" + key + what);
  }
  void note_asic(const std::string& what) { notes_.push_back("ASIC_DB: " + what); }

  void take(const Mirrored& one, const std::string& key, const Row& row, const Row* applied) {
    if (applied == nullptr) {
      note(one, key, " is not applied");
      config_[one.config].erase(key);
      return;
    }
    for (const auto& field : one.fields) {
      const std::string told = field_of(row, field), there = field_of(*applied, field);
      // A field that CONFIG_DB does not have is the switch's default.
      if (told == there || !row.contains(field)) continue;
      note(one, key, " " + field + " is applied as '" + there + "', not '" + told + "'");
      if (there.empty()) {
        config_[one.config][key].erase(field);
      } else {
        config_[one.config][key][field] = there;
      }
    }
    const bool vni_left = std::string(one.config) == "VRF" && !row.contains("vni") &&
                          !field_of(*applied, "vni").empty();
    if (!vni_left) return;
    note(one, key, " still has VNI " + field_of(*applied, "vni"));
    config_[one.config][key]["vni"] = field_of(*applied, "vni");
  }

  void compare_admin(const Asic& asic, const std::string& port) {
    const Row* row = find_row(config_, "PORT", port);
    const auto state = asic.admin_state.find(port);
    if (row == nullptr || state == asic.admin_state.end() || state->second.empty()) return;
    const bool up = field_of(*row, "admin_status") == "up";
    if (up != (state->second == "true")) {
      note_asic(port + (up ? " is still down" : " is still up"));
    }
  }

  Tables config_;
  const SwitchOwnership& own_;
  std::vector<std::string>& notes_;
  std::set<int> known_vnis_;
};

/// A whole APPL_DB key; with `field`, what it has to hold.
std::string appl_key(const Mirrored& table, const std::string& key) {
  return std::string(table.appl) + ":" + with_first(key, '|', ':');
}

std::string map_key(const std::string& vrf, const std::string& vni) {
  return std::string("VXLAN_VRF_TABLE:") + tunnel_name + ":evpn_map_" + vni + "_" + vrf;
}

void await_row(const Mirrored& table, const std::string& key, const Row* from, const Row* to,
               std::string& out) {
  const std::string whole = appl_key(table, key);
  const bool is_vrf = std::string(table.config) == "VRF";
  if (from != nullptr && to == nullptr) out += "absent " + whole + "\n";
  if (from == nullptr && to != nullptr) out += "present " + whole + "\n";
  const std::string old_vni = from != nullptr && is_vrf ? field_of(*from, "vni") : "";
  const std::string new_vni = to != nullptr && is_vrf ? field_of(*to, "vni") : "";
  if (old_vni != new_vni && !old_vni.empty()) out += "absent " + map_key(key, old_vni) + "\n";
  if (old_vni != new_vni && !new_vni.empty()) out += "present " + map_key(key, new_vni) + "\n";
  if (is_vrf || to == nullptr) return;
  for (const auto& [field, value] : only(*to, table.fields)) {
    if (from != nullptr && field_of(*from, field) == value) continue;
    out += "field " + whole + " " + field + " " + value + "\n";
  }
}

}  // namespace

Result<Tables> read_tables(std::string_view config_db) {
  const JsonValue root = TRY(JsonValue::parse(config_db));
  if (root.kind() != JsonValue::Kind::object) {
    return make_error(Code::corrupt, "config_db.json is no object");
  }
  Tables out;
  for (const auto& [table, rows] : root.members()) {
    for (const auto& [key, row] : rows.members()) {
      Row& into = out[table][key];
      for (const auto& [field, value] : row.members()) into[field] = value_of(value);
    }
  }
  return out;
}

Result<Tables> applied_tables(Tables config, const Databases& databases,
                              const SwitchOwnership& ownership, std::vector<std::string>& notes) {
  const auto appl = of_appl(TRY(JsonValue::parse(databases.appl)));
  const auto counters = TRY(JsonValue::parse(databases.counters));
  const auto asic = of_asic(TRY(JsonValue::parse(databases.asic)), counters);
  Comparer comparer(std::move(config), ownership, notes);
  comparer.compare(appl);
  comparer.compare(asic);
  comparer.compare_acls(TRY(JsonValue::parse(databases.state)));
  return comparer.result();
}

Result<std::string> applied_keys(std::string_view config_before, std::string_view config_after) {
  const Tables before = TRY(read_tables(config_before)), after = TRY(read_tables(config_after));
  std::string out;
  for (const auto& one : mirrored) {
    std::set<std::string> keys;
    for (const auto* tables : {&before, &after}) {
      const auto rows = tables->find(one.config);
      if (rows == tables->end()) continue;
      for (const auto& [key, row] : rows->second) keys.insert(key);
    }
    for (const auto& key : keys) {
      const Row* from = find_row(before, one.config, key);
      const Row* to = find_row(after, one.config, key);
      if (from != nullptr && to != nullptr && *from == *to) continue;
      await_row(one, key, from, to, out);
    }
  }
  return out;
}

}  // namespace tundish::switches::sonic_parts
