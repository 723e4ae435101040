#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "families/switches/nvue_parts/nvue_parts.hpp"
#include "families/switches/parts/changes.hpp"
#include "families/switches/parts/declared.hpp"
#include "families/switches/parts/words.hpp"

namespace tundish::switches::nvue_parts {
namespace {

using Json = nlohmann::json;
using Path = std::vector<std::string>;

/// Imported by a VRF that goes: with no import left a target would be derived.
constexpr const char* target_of_nobody = "65535:4294967295";

/// A subtree that is wholly ours, and where it hangs.
struct Anchor {
  Path path;
  Json value;  ///< null: nothing may be there
};
using Anchors = std::vector<Anchor>;

Json set_of(const std::vector<std::string>& items) {
  Json out = Json::object();
  for (const auto& item : items) out[item] = Json::object();
  return out;
}

std::string text_of(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json on() { return {{"enable", "on"}}; }

Json prefix_list(const LeakState& leak) {
  Json rules = Json::object();
  int number = 10;
  for (const auto& prefix : leak.prefixes) {
    Json match = Json::object();
    match[prefix] = prefix.ends_with("/32") ? Json::object() : Json{{"max-prefix-len", 32}};
    rules[std::to_string(number)] = {{"action", "permit"}, {"match", match}};
    number += 10;
  }
  return {{"type", "ipv4"}, {"rule", rules}};
}

std::string list_name(const VrfState& vrf, const LeakState& leak) {
  return vrf.name + "-FROM-" + leak.from_vrf;
}

Json route_map(const VrfState& vrf) {
  Json rules = Json::object();
  for (const auto& leak : vrf.leaks) {
    rules[std::to_string(vrf_id_of(leak.from_vrf))] = {{"action", {{"permit", Json::object()}}},
                                                       {"match",
                                                        {{"type", "ipv4"},
                                                         {"ip-prefix-list", list_name(vrf, leak)},
                                                         {"source-vrf", leak.from_vrf}}}};
  }
  return {{"rule", rules}};
}

Json bgp_of(const SwitchState& state, const VrfState& vrf) {
  Json unicast = {{"enable", "on"},
                  {"redistribute", {{"connected", on()}}},
                  {"route-export", {{"to-evpn", on()}}}};
  if (!vrf.leaks.empty()) {
    std::vector<std::string> from;
    for (const auto& leak : vrf.leaks) from.push_back(leak.from_vrf);
    unicast["route-import"] = {
        {"from-vrf",
         {{"enable", "on"}, {"list", set_of(from)}, {"route-map", vrf.name + "-LEAK"}}}};
  }
  return {{"enable", "on"},
          {"autonomous-system", state.asn},
          {"router-id", state.router_id},
          {"rd", vrf.rd},
          {"address-family", {{"ipv4-unicast", unicast}}},
          {"route-export", {{"to-evpn", {{"route-target", set_of(vrf.export_targets)}}}}},
          {"route-import", {{"from-evpn", {{"route-target", set_of(vrf.import_targets)}}}}}};
}

Json rule_of(const AclRule& rule) {
  Json ip = {{"source-ip", rule.source.empty() ? "ANY" : rule.source},
             {"dest-ip", rule.destination.empty() ? "ANY" : rule.destination}};
  if (rule.protocol != "ip") ip["protocol"] = rule.protocol;
  if (rule.port_from != 0) {
    std::string ports = std::to_string(rule.port_from);
    if (rule.port_to != 0) ports += ":" + std::to_string(rule.port_to);
    ip[rule.protocol]["dest-port"][ports] = Json::object();
  }
  const char* action = rule.action == AclAction::permit ? "permit" : "deny";
  return {{"match", {{"ip", ip}}}, {"action", {{action, Json::object()}}}};
}

std::string svi(int vlan) { return "vlan" + std::to_string(vlan); }

Anchors declared_anchors(const SwitchState& state) {
  return {{{"router", "bgp", "autonomous-system"}, state.asn},
          {{"router", "bgp", "router-id"}, state.router_id},
          {{"system", "global", "fabric-mac"}, state.anycast_mac},
          {{"evpn", "enable"}, "on"},
          {{"nve", "vxlan", "enable"}, "on"},
          {{"nve", "vxlan", "source", "address"}, state.vtep_address},
          {{"nve", "vxlan", "mac-learning"}, "off"},
          {{"nve", "vxlan", "arp-nd-suppress"}, "on"}};
}

Anchors anchors_of(const SwitchState& state, const VrfState& vrf) {
  Json evpn = on();
  evpn["vni"][std::to_string(vrf.l3vni)] = Json::object();
  Json router = {{"bgp", bgp_of(state, vrf)}};
  for (const auto& route : vrf.routes) {
    router["static"][route.prefix] = {{"address-family", "ipv4-unicast"},
                                      {"via", {{route.via, {{"type", "ipv4-address"}}}}}};
    router["bgp"]["address-family"]["ipv4-unicast"]["network"][route.prefix] = Json::object();
  }
  Anchors out{{{"vrf", vrf.name}, {{"evpn", evpn}, {"router", router}}}};
  for (const auto& leak : vrf.leaks) {
    out.push_back({{"router", "policy", "prefix-list", list_name(vrf, leak)}, prefix_list(leak)});
  }
  if (!vrf.leaks.empty()) {
    out.push_back({{"router", "policy", "route-map", vrf.name + "-LEAK"}, route_map(vrf)});
  }
  return out;
}

Anchors anchors_of(const SwitchState& state, const SegmentState& segment) {
  const std::string vni = std::to_string(segment.l2vni), vlan = std::to_string(segment.vlan);
  Json bridged = Json::object();
  bridged["vni"][vni] = Json::object();
  Json ip = {{"vrf", segment.vrf}};
  if (!segment.gateway.empty()) {
    ip["vrr"] = {{"enable", "on"},
                 {"address", {{segment.gateway, Json::object()}}},
                 {"mac-address", state.anycast_mac}};
  }
  Json interface = {
      {"type", "svi"}, {"vlan", segment.vlan}, {"ip", ip}, {"link", {{"mtu", segment.mtu}}}};
  if (!segment.acl_in.empty()) interface["acl"][segment.acl_in]["inbound"] = Json::object();
  return {{{"bridge", "domain", "br_default", "vlan", vlan}, bridged},
          {{"evpn", "vni", vni},
           {{"rd", segment.rd},
            {"route-target",
             {{"export", set_of(segment.export_targets)},
              {"import", set_of(segment.import_targets)}}}}},
          {{"interface", svi(segment.vlan)}, interface}};
}

/// Of a port only what we decide: speed, FEC and breakout stay the administrator's.
Anchors anchors_of(const SwitchState& state, const SwitchPortState& port) {
  static_cast<void>(state);
  const auto at = [&](std::vector<std::string> rest) {
    rest.insert(rest.begin(), {"interface", port.name});
    return rest;
  };
  const bool quarantined = port.mode == PortMode::quarantine;
  Anchors out{{at({"link", "state"}), {{quarantined ? "down" : "up", Json::object()}}},
              {at({"description"}), nullptr},
              {at({"bridge"}), nullptr},
              {at({"ip", "vrf"}), nullptr},
              {at({"ip", "address"}), nullptr}};
  if (!port.description.empty()) out[1].value = port.description;
  if (port.mode == PortMode::access) {
    out[2].value = {{"domain", {{"br_default", {{"access", port.vlan}}}}}};
  } else if (port.mode == PortMode::routed) {
    out[3].value = port.vrf;
    out[4].value = {{port.address, Json::object()}};
  }
  return out;
}

Anchors anchors_of(const SwitchState& state, const AclState& acl) {
  static_cast<void>(state);
  Json rules = Json::object();
  for (const auto& rule : acl.rules) rules[std::to_string(rule.sequence)] = rule_of(rule);
  // NVUE permits what no rule matches.
  AclRule last;
  last.action = AclAction::deny;
  rules["10000"] = rule_of(last);
  return {{{"acl", acl.name}, {{"type", "ipv4"}, {"rule", rules}}}};
}

Anchors all_anchors(const SwitchState& state) {
  Anchors out = declared_anchors(state);
  const auto add = [&](const auto& list) {
    for (const auto& item : list) {
      for (auto& anchor : anchors_of(state, item)) out.push_back(std::move(anchor));
    }
  };
  add(state.vrfs);
  add(state.segments);
  add(state.ports);
  add(state.acls);
  return out;
}

void put_at(Json& root, const std::vector<std::string>& path, const Json& value) {
  Json* at = &root;
  for (const auto& key : path) at = &(*at)[key];
  *at = value;
}

/// RFC 7396 from one value to another; an empty object says nothing.
Json merge_patch(const Json& from, const Json& to) {
  if (!from.is_object() || !to.is_object()) return to;
  Json out = Json::object();
  for (const auto& [key, value] : from.items()) {
    if (!to.contains(key)) out[key] = nullptr;
  }
  for (const auto& [key, value] : to.items()) {
    const auto old = from.find(key);
    if (old == from.end()) {
      out[key] = value;
    } else if (*old != value) {
      out[key] = merge_patch(*old, value);
    }
  }
  return out;
}

/// Without what says "nothing may be there".
std::map<Path, Json> by_path(const Anchors& anchors) {
  std::map<Path, Json> out;
  for (const auto& anchor : anchors) {
    if (!anchor.value.is_null()) out[anchor.path] = anchor.value;
  }
  return out;
}

class Planner {
 public:
  Planner(const SwitchState& from, const SwitchState& to)
      : from_(from), to_(to), changes_(find_changes(from, to)), after_(by_path(all_anchors(to))) {}

  std::vector<SwitchStep> plan() {
    if (changes_.empty()) return {};
    for (const auto& change : changes_.vrfs) revoke(change);
    for (const auto& change : changes_.ports) leave(change);
    if (from_.vrfs.empty() && !to_.vrfs.empty()) {
      patch("vrf " + to_.vrfs.front().name + " is the first: tunnel and EVPN come", {},
            declared_anchors(to_));
    }
    for (const auto& change : changes_.acls) make("acl " + name_of(change), change);
    for (const auto& change : changes_.vrfs) make("vrf " + name_of(change), change);
    for (const auto& change : changes_.segments) make(vlan_of(change), change);
    for (const auto& change : changes_.ports) join(change);
    for (const auto& change : changes_.segments) drop(vlan_of(change), change);
    for (const auto& change : changes_.vrfs) drop("vrf " + name_of(change), change);
    for (const auto& change : changes_.acls) drop("acl " + name_of(change), change);
    return std::move(steps_);
  }

 private:
  template <class T>
  static const std::string& name_of(const Change<T>& change) {
    return (change.from != nullptr ? change.from : change.to)->name;
  }
  static std::string vlan_of(const Change<SegmentState>& change) {
    return "vlan " + std::to_string((change.from != nullptr ? change.from : change.to)->vlan);
  }

  void patch(const std::string& what, const Anchors& from, const Anchors& to) {
    Json body = Json::object();
    const auto before = by_path(from), after = by_path(to);
    for (const auto& [path, value] : before) {
      // Somebody else in `to` may have the place, a VNI that is taken again for example.
      if (!after.contains(path) && !after_.contains(path)) put_at(body, path, nullptr);
    }
    for (const auto& [path, value] : after) {
      const auto old = before.find(path);
      if (old == before.end()) {
        put_at(body, path, value);
      } else if (old->second != value) {
        put_at(body, path, merge_patch(old->second, value));
      }
    }
    if (!body.empty()) {
      steps_.push_back({what, "nvue.json", text_of(body) + "\n"});
    }
  }

  void revoke(const Change<VrfState>& change) {
    if (change.is_new()) return;
    VrfState less = *change.from;
    if (change.is_gone()) {
      less.import_targets = {target_of_nobody};
      less.leaks.clear();
    } else {
      less.import_targets = change.to->import_targets;
      std::erase_if(less.leaks, [&](const LeakState& leak) {
        return std::find(change.to->leaks.begin(), change.to->leaks.end(), leak) ==
               change.to->leaks.end();
      });
    }
    patch("vrf " + less.name + " imports and leaks less", own_anchors(*change.from),
          own_anchors(less));
    revoked_[less.name] = std::move(less);
  }

  Anchors own_anchors(const VrfState& vrf) const { return anchors_of(to_, vrf); }

  void leave(const Change<SwitchPortState>& change) {
    if (change.is_new() || !moves(change) || change.from->mode == PortMode::quarantine) return;
    SwitchPortState shut{change.from->name,
                         PortMode::quarantine,
                         0,
                         "",
                         "",
                         change.is_gone() ? "" : change.from->description};
    patch_port("port " + shut.name + " leaves " + place_of(*change.from), change.from, shut);
  }

  void patch_port(const std::string& what, const SwitchPortState* from, const SwitchPortState& to) {
    Json body = Json::object();
    const auto before =
        from == nullptr ? std::map<Path, Json>{} : by_path(anchors_of(from_, *from));
    for (const auto& anchor : anchors_of(to_, to)) {
      const auto old = before.find(anchor.path);
      const Json was = old == before.end() ? Json() : old->second;
      // Of a port that is new to us nothing is known: what may not be there is unset.
      if (was == anchor.value && from != nullptr) continue;
      put_at(body, anchor.path, merge_patch(was, anchor.value));
    }
    if (from == nullptr && to.mode != PortMode::quarantine) {
      put_at(body, {"interface", to.name, "link", "state", "down"}, nullptr);
    } else if (from == nullptr) {
      put_at(body, {"interface", to.name, "link", "state", "up"}, nullptr);
    }
    if (!body.empty()) steps_.push_back({what, "nvue.json", text_of(body) + "\n"});
  }

  void join(const Change<SwitchPortState>& change) {
    if (change.is_gone()) return;
    SwitchPortState shut{change.to->name,
                         PortMode::quarantine,
                         0,
                         "",
                         "",
                         change.is_new() ? "" : change.from->description};
    const bool left = !change.is_new() && moves(change);
    const SwitchPortState* before = left ? &shut : change.from;
    patch_port("port " + change.to->name + " is in " + place_of(*change.to), before, *change.to);
  }

  void make(const std::string& name, const Change<VrfState>& change) {
    if (change.is_gone()) return;
    const auto revoked = revoked_.find(change.to->name);
    patch(name + (change.is_new() ? " comes" : " changes"),
          revoked == revoked_.end() ? Anchors{} : own_anchors(revoked->second),
          own_anchors(*change.to));
  }

  template <class T>
  void make(const std::string& name, const Change<T>& change) {
    if (change.is_gone()) return;
    patch(name + (change.is_new() ? " comes" : " changes"),
          change.is_new() ? Anchors{} : anchors_of(from_, *change.from),
          anchors_of(to_, *change.to));
  }

  void drop(const std::string& name, const Change<VrfState>& change) {
    if (change.is_gone()) patch(name + " goes", own_anchors(revoked_[change.from->name]), {});
  }

  template <class T>
  void drop(const std::string& name, const Change<T>& change) {
    if (change.is_gone()) patch(name + " goes", anchors_of(from_, *change.from), {});
  }

  const SwitchState& from_;
  const SwitchState& to_;
  StateChanges changes_;
  std::map<Path, Json> after_;
  std::map<std::string, VrfState> revoked_;
  std::vector<SwitchStep> steps_;
};

/// A VRF's description has no place in the tree, so it is no difference.
SwitchState without_texts(SwitchState state) {
  for (auto& vrf : state.vrfs) vrf.description.clear();
  return state;
}

}  // namespace

std::vector<AnchorText> anchor_texts(const SwitchState& state) {
  std::vector<AnchorText> out;
  for (auto& anchor : all_anchors(state)) {
    out.push_back({std::move(anchor.path), text_of(anchor.value)});
  }
  return out;
}

std::string render_tree(const SwitchState& state) {
  Json root = Json::object();
  for (const auto& anchor : all_anchors(state)) {
    if (!anchor.value.is_null()) put_at(root, anchor.path, anchor.value);
  }
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<std::vector<SwitchStep>> plan_steps(const SwitchState& from, const SwitchState& to) {
  TRY_VOID(same_declared(from, to));
  const SwitchState before = without_texts(from), after = without_texts(to);
  return Planner(before, after).plan();
}

}  // namespace tundish::switches::nvue_parts
