#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "codec/json.hpp"
#include "families/switches/nvue_parts/nvue_parts.hpp"
#include "families/switches/parts/words.hpp"

namespace tundish::switches::nvue_parts {
namespace {

using Json = nlohmann::json;

const Json* find_at(const Json& root, const std::vector<std::string>& path) {
  const Json* at = &root;
  for (const auto& key : path) {
    if (!at->is_object()) return nullptr;
    const auto found = at->find(key);
    if (found == at->end()) return nullptr;
    at = &*found;
  }
  return at;
}

const Json& at(const Json& root, const std::vector<std::string>& path) {
  static const Json none = Json::object();
  const Json* found = find_at(root, path);
  return found == nullptr ? none : *found;
}

std::string text_at(const Json& root, const std::vector<std::string>& path) {
  const Json* found = find_at(root, path);
  if (found == nullptr) return "";
  if (found->is_string()) return found->get<std::string>();
  return found->is_number_integer() ? std::to_string(found->get<std::int64_t>()) : "";
}

int number_at(const Json& root, const std::vector<std::string>& path) {
  return parse_number(text_at(root, path), 0, 16777215).value_or(0);
}

std::vector<std::string> keys_at(const Json& root, const std::vector<std::string>& path) {
  std::vector<std::string> out;
  const Json& object = at(root, path);
  if (!object.is_object()) return out;
  for (const auto& [key, value] : object.items()) out.push_back(key);
  return out;
}

std::string first_key(const Json& root, const std::vector<std::string>& path) {
  const auto keys = keys_at(root, path);
  return keys.empty() ? "" : keys[0];
}

/// Reads leniently; then what was read is rendered again and compared with what is there, so that
/// every difference within our objects is noted.
class Reader {
 public:
  Reader(Json root, const SwitchOwnership& ownership) : root_(std::move(root)), own_(ownership) {}

  SwitchSeen read() {
    state().asn = parse_integer(text_at(root_, {"router", "bgp", "autonomous-system"})).value_or(0);
    state().router_id = text_at(root_, {"router", "bgp", "router-id"});
    state().vtep_address = text_at(root_, {"nve", "vxlan", "source", "address"});
    const std::string mac = to_lower(text_at(root_, {"system", "global", "fabric-mac"}));
    if (!mac.empty()) state().anycast_mac = mac;
    read_vrfs();
    read_segments();
    read_acls();
    read_ports();
    // Sorted before it is compared: the rules of NVUE have no other order than their numbers.
    sort_state(state());
    compare();
    others_in_ours();
    tidy_up(seen_.foreign);
    return std::move(seen_);
  }

 private:
  SwitchState& state() { return seen_.own; }
  void note(const std::vector<std::string>& path, const std::string& what) {
    seen_.unclear.push_back("nvue.json: " + join(path, ".") + " " + what);
  }

  void read_vrfs() {
    for (const auto& name : keys_at(root_, {"vrf"})) {
      const Json& tree = at(root_, {"vrf", name});
      const std::vector<std::string> from{"router", "bgp", "route-import", "from-evpn",
                                          "route-target"};
      const std::vector<std::string> to{"router", "bgp", "route-export", "to-evpn", "route-target"};
      if (!is_own_vrf(name, own_)) {
        if (name != "default" && name != "mgmt") seen_.foreign.vrfs.push_back(name);
        for (const auto& vni : keys_at(tree, {"evpn", "vni"})) foreign_vni(vni);
        for (const auto* path : {&from, &to}) {
          for (auto& target : keys_at(tree, *path)) {
            seen_.foreign.route_targets.push_back(std::move(target));
          }
        }
        continue;
      }
      VrfState vrf;
      vrf.name = name;
      vrf.vrf_id = vrf_id_of(name);
      vrf.l3vni = parse_number(first_key(tree, {"evpn", "vni"}), 1, 16777215).value_or(0);
      vrf.rd = text_at(tree, {"router", "bgp", "rd"});
      vrf.import_targets = keys_at(tree, from);
      vrf.export_targets = keys_at(tree, to);
      read_leaks(vrf, tree);
      for (const auto& prefix : keys_at(tree, {"router", "static"})) {
        if (!prefix.ends_with("/32")) continue;
        vrf.routes.push_back({prefix, first_key(tree, {"router", "static", prefix, "via"})});
      }
      state().vrfs.push_back(std::move(vrf));
    }
  }

  void read_leaks(VrfState& vrf, const Json& tree) {
    const std::vector<std::string> list{
        "router", "bgp", "address-family", "ipv4-unicast", "route-import", "from-vrf", "list"};
    for (const auto& from : keys_at(tree, list)) {
      LeakState leak{from, {}};
      const std::vector<std::string> rules{"router", "policy", "prefix-list",
                                           vrf.name + "-FROM-" + from, "rule"};
      for (const auto& rule : keys_at(root_, rules)) {
        auto match = rules;
        match.insert(match.end(), {rule, "match"});
        for (auto& prefix : keys_at(root_, match)) leak.prefixes.push_back(std::move(prefix));
      }
      vrf.leaks.push_back(std::move(leak));
    }
  }

  void foreign_vni(const std::string& text) {
    const int vni = parse_number(text, 1, 16777215).value_or(0);
    if (vni != 0) seen_.foreign.vnis.push_back(vni);
  }

  void read_segments() {
    for (const auto& bridge : keys_at(root_, {"bridge", "domain"})) {
      for (const auto& vlan : keys_at(root_, {"bridge", "domain", bridge, "vlan"})) {
        const int number = parse_number(vlan, 1, 4094).value_or(0);
        const std::string vni = first_key(root_, {"bridge", "domain", bridge, "vlan", vlan, "vni"});
        if (bridge == "br_default" && is_own_vlan(number, own_)) {
          read_segment(number, parse_number(vni, 1, 16777215).value_or(0));
          continue;
        }
        if (number != 0) seen_.foreign.vlans.push_back(number);
        foreign_vni(vni);
      }
    }
    for (const auto& vni : keys_at(root_, {"evpn", "vni"})) {
      const bool ours = std::any_of(
          state().segments.begin(), state().segments.end(),
          [&](const SegmentState& segment) { return std::to_string(segment.l2vni) == vni; });
      if (ours) continue;
      if (is_own_vni(parse_number(vni, 1, 16777215).value_or(0), own_)) {
        note({"evpn", "vni", vni}, "has no segment");
        continue;
      }
      foreign_vni(vni);
      for (const char* way : {"import", "export", "both"}) {
        for (auto& target : keys_at(root_, {"evpn", "vni", vni, "route-target", way})) {
          seen_.foreign.route_targets.push_back(std::move(target));
        }
      }
    }
  }

  void read_segment(int vlan, int vni) {
    SegmentState segment;
    segment.vlan = vlan;
    segment.l2vni = vni;
    const Json& svi = at(root_, {"interface", "vlan" + std::to_string(vlan)});
    segment.vrf = text_at(svi, {"ip", "vrf"});
    segment.gateway = first_key(svi, {"ip", "vrr", "address"});
    segment.acl_in = first_key(svi, {"acl"});
    segment.mtu = number_at(svi, {"link", "mtu"});
    const std::vector<std::string> tree{"evpn", "vni", std::to_string(vni)};
    segment.rd = text_at(at(root_, tree), {"rd"});
    expand_both(tree);
    segment.import_targets = keys_at(at(root_, tree), {"route-target", "import"});
    segment.export_targets = keys_at(at(root_, tree), {"route-target", "export"});
    state().segments.push_back(std::move(segment));
  }

  /// `both` is short for import and export.
  void expand_both(const std::vector<std::string>& tree) {
    const auto both = keys_at(at(root_, tree), {"route-target", "both"});
    if (both.empty()) return;
    for (const char* way : {"import", "export"}) {
      for (const auto& target : both) {
        if (const Json* had = find_at(root_, {tree[0], tree[1], tree[2], "route-target", way});
            had != nullptr && !had->is_object()) {
          return;
        }
        root_[tree[0]][tree[1]][tree[2]]["route-target"][way][target] = Json::object();
      }
    }
    root_[tree[0]][tree[1]][tree[2]]["route-target"].erase("both");
  }

  void read_acls() {
    for (const auto& name : keys_at(root_, {"acl"})) {
      if (!is_own_acl(name, own_)) {
        seen_.foreign.acls.push_back(name);
        continue;
      }
      AclState acl{name, {}};
      for (const auto& key : keys_at(root_, {"acl", name, "rule"})) {
        const int sequence = parse_number(key, 1, 9999).value_or(0);
        if (sequence != 0) read_rule(acl, sequence, at(root_, {"acl", name, "rule", key}));
      }
      std::ranges::sort(acl.rules, {}, &AclRule::sequence);
      state().acls.push_back(std::move(acl));
    }
  }

  static void read_rule(AclState& acl, int sequence, const Json& tree) {
    AclRule rule;
    rule.sequence = sequence;
    rule.action = first_key(tree, {"action"}) == "permit" ? AclAction::permit : AclAction::deny;
    const std::string protocol = text_at(tree, {"match", "ip", "protocol"});
    if (!protocol.empty()) rule.protocol = protocol;
    rule.source = text_at(tree, {"match", "ip", "source-ip"});
    rule.destination = text_at(tree, {"match", "ip", "dest-ip"});
    for (auto* prefix : {&rule.source, &rule.destination}) {
      if (*prefix == "ANY") prefix->clear();
    }
    const std::string ports = first_key(tree, {"match", "ip", rule.protocol, "dest-port"});
    const std::size_t colon = ports.find(':');
    rule.port_from = parse_number(ports.substr(0, colon), 1, 65535).value_or(0);
    if (colon != std::string::npos) {
      rule.port_to = parse_number(ports.substr(colon + 1), 1, 65535).value_or(0);
    }
    acl.rules.push_back(std::move(rule));
  }

  void read_ports() {
    for (const auto& name : own_.ports) {
      const Json* tree = find_at(root_, {"interface", name});
      if (tree == nullptr) continue;
      SwitchPortState port;
      port.name = name;
      port.description = text_at(*tree, {"description"});
      const std::string vrf = text_at(*tree, {"ip", "vrf"});
      const std::string address = first_key(*tree, {"ip", "address"});
      const int vlan = number_at(*tree, {"bridge", "domain", "br_default", "access"});
      if (vlan != 0) {
        port.mode = PortMode::access;
        port.vlan = vlan;
      } else if (!address.empty() || !vrf.empty()) {
        port.mode = PortMode::routed;
        port.vrf = vrf;
        port.address = address;
      }
      if (vlan != 0 && find_segment(state(), vlan) == nullptr) {
        note({"interface", name}, "is in VLAN " + std::to_string(vlan) + " of others");
      }
      if (port.mode == PortMode::routed && find_vrf(state(), vrf) == nullptr) {
        note({"interface", name}, "is in VRF '" + vrf + "' of others");
      }
      state().ports.push_back(std::move(port));
    }
  }

  void compare() {
    for (const auto& anchor : anchor_texts(state())) {
      const Json* have = find_at(root_, anchor.path);
      const bool declared = anchor.path[0] == "system" || anchor.path[0] == "nve" ||
                            (anchor.path.size() == 3 && anchor.path[1] == "bgp") ||
                            anchor.path == std::vector<std::string>{"evpn", "enable"};
      if (declared && have == nullptr) continue;  // a switch that carries nothing yet
      compare(anchor.path, Json::parse(anchor.json, nullptr, false),
              have == nullptr ? Json() : *have);
    }
  }

  void compare(const std::vector<std::string>& path, const Json& wanted, const Json& have) {
    if (wanted.is_object() && have.is_object()) {
      for (const auto& [key, value] : wanted.items()) {
        auto deeper = path;
        deeper.push_back(key);
        const auto found = have.find(key);
        if (found == have.end()) {
          note(deeper, "is missing");
        } else {
          compare(deeper, value, *found);
        }
      }
      for (const auto& [key, value] : have.items()) {
        if (wanted.contains(key) || (key == "table" && value == "auto")) continue;
        auto deeper = path;
        deeper.push_back(key);
        note(deeper, "is not ours");
      }
      return;
    }
    const bool same_text = wanted.is_string() && have.is_string() &&
                           to_lower(wanted.get<std::string>()) == to_lower(have.get<std::string>());
    if (wanted != have && !same_text) note(path, "is not " + wanted.dump());
  }

  /// Interfaces of others in our VLANs and VRFs.
  void others_in_ours() {
    for (const auto& name : keys_at(root_, {"interface"})) {
      if (is_own_port(name, own_)) continue;
      const Json& tree = at(root_, {"interface", name});
      const int vlan = number_at(tree, {"bridge", "domain", "br_default", "access"});
      const std::string vrf = text_at(tree, {"ip", "vrf"});
      const bool svi =
          name.starts_with("vlan") &&
          find_segment(state(),
                       parse_number(std::string_view(name).substr(4), 1, 4094).value_or(0)) !=
              nullptr;
      if (svi) continue;
      if (find_segment(state(), vlan) != nullptr || find_vrf(state(), vrf) != nullptr) {
        note({"interface", name}, "is not ours but in a network of ours");
      }
    }
  }

  Json root_;
  const SwitchOwnership& own_;
  SwitchSeen seen_;
};

/// `nv config show -o json` wraps the tree in a list of header and set.
Json unwrap(Json root) {
  if (!root.is_array()) return root;
  for (auto& item : root) {
    if (item.is_object() && item.contains("set")) return item["set"];
  }
  return root;
}

}  // namespace

Result<SwitchSeen> read_tree(std::string_view json, const SwitchOwnership& ownership) {
  static_cast<void>(TRY(JsonValue::parse(json)));  // bounds the depth
  Json root = unwrap(Json::parse(json, nullptr, false));
  if (!root.is_object()) return make_error(Code::corrupt, "nvue.json is no object");
  return Reader(std::move(root), ownership).read();
}

}  // namespace tundish::switches::nvue_parts
