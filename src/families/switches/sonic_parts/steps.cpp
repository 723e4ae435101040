#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.hpp"
#include "families/switches/parts/changes.hpp"
#include "families/switches/parts/declared.hpp"
#include "families/switches/sonic_parts/sonic_parts.hpp"

namespace tundish::switches::sonic_parts {
namespace {

using Json = nlohmann::json;

std::string escaped(std::string_view key) {
  std::string out;
  for (const char c : key) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
  return out;
}

/// Order of tables when something comes; what goes, goes the other way. A VLAN gets its VNI before
/// a VRF does, and a VRF exists before an interface is in it (sonic-buildimage #11428, #8493).
constexpr const char* table_order[] = {"SAG",  "VXLAN_TUNNEL",     "VXLAN_EVPN_NVO", "VLAN",
                                       "VRF",  "VXLAN_TUNNEL_MAP", "VLAN_INTERFACE", "INTERFACE",
                                       "PORT", "VLAN_MEMBER",      "ACL_TABLE",      "ACL_RULE"};

bool vlan_is(const std::string& key, int vlan) {
  const std::string name = "Vlan" + std::to_string(vlan);
  return key == name || key.starts_with(name + "|") || key.ends_with("_" + name);
}

/// Rows of one object, of the rendered tables of a whole state.
Tables rows_of(const Tables& all, const SegmentState& segment) {
  Tables out;
  for (const char* table : {"VLAN", "VLAN_INTERFACE", "VXLAN_TUNNEL_MAP"}) {
    const auto rows = all.find(table);
    if (rows == all.end()) continue;
    for (const auto& [key, row] : rows->second) {
      if (vlan_is(key, segment.vlan)) out[table][key] = row;
    }
  }
  return out;
}

/// Without the VNI: it follows once the VLAN has it.
Tables rows_of(const Tables& all, const VrfState& vrf) {
  SegmentState l3;
  l3.vlan = vrf.l3vlan;
  Tables out = rows_of(all, l3);
  out["VRF"][vrf.name] = {};
  return out;
}

Tables rows_of(const Tables& all, const SwitchPortState& port) {
  Tables out;
  for (const char* table : {"PORT", "VLAN_MEMBER", "INTERFACE"}) {
    const auto rows = all.find(table);
    if (rows == all.end()) continue;
    for (const auto& [key, row] : rows->second) {
      const bool ours =
          key == port.name || key.starts_with(port.name + "|") || key.ends_with("|" + port.name);
      if (ours) out[table][key] = row;
    }
  }
  return out;
}

Tables rows_of(const Tables& all, const AclState& acl) {
  Tables out;
  for (const char* table : {"ACL_TABLE", "ACL_RULE"}) {
    const auto rows = all.find(table);
    if (rows == all.end()) continue;
    for (const auto& [key, row] : rows->second) {
      if (key == acl.name || key.starts_with(acl.name + "|")) out[table][key] = row;
    }
  }
  return out;
}

Json value_of(const std::string& field, const std::string& value) {
  if (field != "ports") return value;
  Json list = Json::array();
  if (!value.empty()) {
    for (const auto& port : split(value, ',')) list.push_back(port);
  }
  return list;
}

Json value_of(const Row& row) {
  Json out = Json::object();
  for (const auto& [field, value] : row) out[field] = value_of(field, value);
  return out;
}

/// JSON Patch from the rows of one object to other rows of it. A row of PORT is the
/// administrator's: only single fields of it are touched.
class PatchMaker {
 public:
  std::string make(const Tables& from, const Tables& to) {
    for (auto it = std::rbegin(table_order); it != std::rend(table_order); ++it) {
      for (const auto& [key, row] : rows(from, *it)) {
        if (!rows(to, *it).contains(key)) remove(*it, key, row);
      }
    }
    for (const char* table : table_order) {
      for (const auto& [key, row] : rows(to, table)) {
        const Rows& before = rows(from, table);
        const auto old = before.find(key);
        put(table, key, old == before.end() ? nullptr : &old->second, row);
      }
    }
    return operations_.empty() ? "" : operations_.dump() + "\n";
  }

 private:
  static const Rows& rows(const Tables& tables, const std::string& table) {
    static const Rows none;
    const auto found = tables.find(table);
    return found == tables.end() ? none : found->second;
  }
  static std::string path(const std::string& table, const std::string& key) {
    return "/" + table + "/" + escaped(key);
  }
  void add(const char* verb, const std::string& where) {
    operations_.push_back({{"op", verb}, {"path", where}});
  }
  void add(const char* verb, const std::string& where, Json value) {
    operations_.push_back({{"op", verb}, {"path", where}, {"value", std::move(value)}});
  }

  void remove(const std::string& table, const std::string& key, const Row& row) {
    if (table != "PORT") return add("remove", path(table, key));
    add("add", path(table, key) + "/admin_status", "down");
    if (row.contains("description")) add("remove", path(table, key) + "/description");
  }

  void put(const std::string& table, const std::string& key, const Row* old, const Row& row) {
    if (old == nullptr && table != "PORT") return add("add", path(table, key), value_of(row));
    static const Row none;
    const Row& before = old == nullptr ? none : *old;
    for (const auto& [field, value] : before) {
      if (!row.contains(field)) add("remove", path(table, key) + "/" + escaped(field));
    }
    for (const auto& [field, value] : row) {
      const auto had = before.find(field);
      if (had != before.end() && had->second == value) continue;
      add("add", path(table, key) + "/" + escaped(field), value_of(field, value));
    }
  }

  Json operations_ = Json::array();
};

bool is_replaced(const Change<SegmentState>& change) {
  return !change.is_new() && !change.is_gone() &&
         (change.from->vrf != change.to->vrf || change.from->l2vni != change.to->l2vni);
}

bool l3_replaced(const Change<VrfState>& change) {
  return !change.is_new() && !change.is_gone() &&
         (change.from->l3vni != change.to->l3vni || change.from->l3vlan != change.to->l3vlan);
}

class Planner {
 public:
  Planner(const SwitchState& from, const SwitchState& to)
      : from_(from),
        to_(to),
        before_(tables_of(from)),
        after_(tables_of(to)),
        changes_(find_changes(from, to)) {
    for (const auto& change : changes_.segments) {
      if (is_replaced(change)) with_ports_of(*change.to);
    }
  }

  std::vector<SwitchStep> plan() {
    if (changes_.empty()) return {};
    revoke();
    ports_leave();
    unbind();
    for (const auto& change : changes_.segments) {
      if (is_replaced(change) ||
          (change.is_gone() && is_reused(change.from->l2vni, change.from->vlan)))
        drop(*change.from);
    }
    for (const auto& change : changes_.vrfs) {
      if (l3_replaced(change)) drop_l3(*change.from);
      if (change.is_gone() && is_reused(change.from->l3vni, change.from->l3vlan))
        drop(*change.from);
    }
    declare();
    for (const auto& change : changes_.vrfs) make(change);
    for (const auto& change : changes_.vrfs) leak(change);
    for (const auto& change : changes_.segments) make(change);
    bind();
    ports_join();
    for (const auto& change : changes_.segments) {
      if (change.is_gone() && !is_reused(change.from->l2vni, change.from->vlan)) drop(*change.from);
    }
    for (const auto& change : changes_.vrfs) {
      if (change.is_gone() && !is_reused(change.from->l3vni, change.from->l3vlan))
        drop(*change.from);
    }
    return std::move(steps_);
  }

 private:
  void step(const std::string& what, const char* file, std::string text) {
    if (!text.empty()) steps_.push_back({what, file, std::move(text)});
  }
  void patch(const std::string& what, const Tables& from, const Tables& to) {
    step(what, "config_db.json", PatchMaker().make(from, to));
  }
  static std::string named(const VrfState& vrf) { return "vrf " + vrf.name; }
  static std::string named(const SegmentState& segment) {
    return "vlan " + std::to_string(segment.vlan);
  }

  void with_ports_of(const SegmentState& segment) {
    for (const auto& port : to_.ports) {
      const SwitchPortState* old = find_port(from_, port.name);
      const bool stays = port.mode == PortMode::access && port.vlan == segment.vlan &&
                         old != nullptr && *old == port;
      if (!stays) continue;
      changes_.ports.push_back({old, &port});
      forced_.insert(port.name);
    }
  }

  bool is_reused(int vni, int vlan) const {
    const auto segment = [&](const Change<SegmentState>& change) {
      return change.to != nullptr && (change.to->l2vni == vni || change.to->vlan == vlan);
    };
    const auto vrf = [&](const Change<VrfState>& change) {
      return change.to != nullptr && (change.to->l3vni == vni || change.to->l3vlan == vlan);
    };
    return std::any_of(changes_.segments.begin(), changes_.segments.end(), segment) ||
           std::any_of(changes_.vrfs.begin(), changes_.vrfs.end(), vrf);
  }

  bool moving(const Change<SwitchPortState>& port) const {
    return moves(port) || (port.to != nullptr && forced_.contains(port.to->name));
  }

  void revoke() {
    for (const auto& change : changes_.vrfs) {
      if (change.is_new()) continue;
      step(named(*change.from) + (change.is_gone() ? " imports from nobody" : " has other targets"),
           "vtysh",
           change.is_gone() ? frr_vrf_revoke(to_, *change.from)
                            : frr_vrf_targets(to_, *change.from, *change.to));
      step(named(*change.from) + " leaks less", "vtysh",
           frr_old_leaks(to_, *change.from, change.to, dialect));
      step(named(*change.from) + " forgets addresses of nodes", "vtysh",
           frr_old_routes(to_, *change.from, change.to));
    }
    for (const auto& change : changes_.segments) {
      if (!change.is_gone() && !is_replaced(change)) continue;
      step(named(*change.from) + " imports from nobody", "vtysh",
           frr_vni_revoke(to_, *change.from));
    }
  }

  void ports_leave() {
    for (const auto& change : changes_.ports) {
      if (change.is_new() || !moving(change) || change.from->mode == PortMode::quarantine) continue;
      Tables shut;
      shut["PORT"][change.from->name] = rows_of(before_, *change.from)["PORT"][change.from->name];
      shut["PORT"][change.from->name]["admin_status"] = "down";
      patch("port " + change.from->name + " leaves " + place_of(*change.from),
            rows_of(before_, *change.from), shut);
    }
  }

  /// Lists that go, once the ports have left. Those that come are bound before a port joins.
  void unbind() {
    for (const auto& change : changes_.acls) {
      if (change.is_gone()) {
        patch("acl " + change.from->name + " goes", rows_of(before_, *change.from), {});
      }
    }
  }

  void bind() {
    for (const auto& acl : to_.acls) {
      const AclState* old = find_acl(from_, acl.name);
      const Tables before = old == nullptr ? Tables{} : rows_of(before_, *old);
      patch(acl_subjects(acl) + " filter", before, rows_of(after_, acl));
    }
  }

  /// The list if it changed, else what moves its binding.
  std::string acl_subjects(const AclState& acl) const {
    std::string out;
    const auto add = [&](const std::string& item) { out += (out.empty() ? "" : ", ") + item; };
    for (const auto& change : changes_.acls) {
      if (change.to != nullptr && change.to->name == acl.name) add("acl " + acl.name);
    }
    for (const auto& change : changes_.segments) {
      const bool was = change.from != nullptr && change.from->acl_in == acl.name;
      const bool is = change.to != nullptr && change.to->acl_in == acl.name;
      if (was != is) add(named(*(change.from != nullptr ? change.from : change.to)));
    }
    for (const auto& change : changes_.ports) {
      if (bound(from_, change.from, acl) != bound(to_, change.to, acl)) {
        add("port " + (change.from != nullptr ? change.from : change.to)->name);
      }
    }
    return out;
  }

  static bool bound(const SwitchState& state, const SwitchPortState* port, const AclState& acl) {
    if (port == nullptr || port->mode != PortMode::access) return false;
    const SegmentState* segment = find_segment(state, port->vlan);
    return segment != nullptr && segment->acl_in == acl.name;
  }

  void declare() {
    if (!from_.vrfs.empty() || to_.vrfs.empty()) return;
    Tables common;
    for (const char* table : {"SAG", "VXLAN_TUNNEL", "VXLAN_EVPN_NVO"})
      common[table] = after_[table];
    patch(named(to_.vrfs.front()) + " is the first: the tunnel comes", {}, common);
  }

  void make(const Change<VrfState>& change) {
    if (change.is_gone()) return;
    const VrfState& vrf = *change.to;
    if (!change.is_new() && !l3_replaced(change)) {
      if (change.from->description != vrf.description) {
        step(named(vrf) + " has another description", "vtysh", frr_vrf_text(vrf));
      }
      return;
    }
    if (change.is_new()) {
      step(named(vrf) + " comes in BGP", "vtysh", frr_vrf_bgp(to_, vrf, dialect));
    }
    Tables without = rows_of(after_, vrf);
    Tables before;
    if (!change.is_new()) before["VRF"][vrf.name] = {};
    patch(named(vrf) + " comes", before, without);
    Tables with = without;
    with["VRF"][vrf.name] = after_["VRF"][vrf.name];
    patch(named(vrf) + " gets its VNI", without, with);
    step(named(vrf) + " gets its VNI in FRR", "vtysh", frr_vrf_vni(vrf, dialect));
  }

  void leak(const Change<VrfState>& change) {
    if (change.is_gone()) return;
    step(named(*change.to) + " leaks", "vtysh",
         frr_new_leaks(to_, change.from, *change.to, dialect));
    step(named(*change.to) + " routes to addresses of nodes", "vtysh",
         frr_new_routes(to_, change.from, *change.to));
  }

  void make(const Change<SegmentState>& change) {
    if (change.is_gone()) return;
    const SegmentState& segment = *change.to;
    const bool anew = change.is_new() || is_replaced(change);
    step(named(segment) + (anew ? " comes in BGP" : " has other targets"), "vtysh",
         anew ? frr_vni(to_, segment) : frr_vni_targets(to_, *change.from, segment));
    patch(named(segment) + (anew ? " comes" : " changes"),
          anew ? Tables{} : rows_of(before_, *change.from), rows_of(after_, segment));
  }

  void ports_join() {
    for (const auto& change : changes_.ports) {
      if (change.is_gone()) continue;
      const std::string name = "port " + change.to->name;
      Tables before;
      if (!change.is_new()) before = rows_of(before_, *change.from);
      if (!change.is_new() && moving(change)) {
        before.erase("VLAN_MEMBER");
        before.erase("INTERFACE");
        before["PORT"][change.to->name]["admin_status"] = "down";
      }
      patch(name + (moving(change) ? " is in " + place_of(*change.to) : " has another description"),
            before, rows_of(after_, *change.to));
    }
  }

  void drop(const SegmentState& segment) {
    patch(named(segment) + " goes", rows_of(before_, segment), {});
    step(named(segment) + " goes from BGP", "vtysh", frr_no_vni(to_, segment));
  }

  void drop_l3(const VrfState& vrf) {
    step(named(vrf) + " loses its VNI in FRR", "vtysh", frr_no_vrf_vni(vrf));
    const Tables without = rows_of(before_, vrf);
    Tables with = without;
    with["VRF"][vrf.name] = before_["VRF"][vrf.name];
    patch(named(vrf) + " loses its VNI", with, without);
    Tables bare;
    bare["VRF"][vrf.name] = {};
    patch(named(vrf) + " loses the VLAN of its VNI", without, bare);
  }

  void drop(const VrfState& vrf) {
    drop_l3(vrf);
    Tables bare;
    bare["VRF"][vrf.name] = {};
    patch(named(vrf) + " goes", bare, {});
    step(named(vrf) + " goes from BGP", "vtysh", frr_no_vrf(to_, vrf));
  }

  const SwitchState& from_;
  const SwitchState& to_;
  Tables before_, after_;
  StateChanges changes_;
  std::set<std::string> forced_;
  std::vector<SwitchStep> steps_;
};

}  // namespace

Result<std::vector<SwitchStep>> plan_steps(const SwitchState& from, const SwitchState& to) {
  TRY_VOID(same_declared(from, to));
  return Planner(from, to).plan();
}

}  // namespace tundish::switches::sonic_parts
