#include <algorithm>
#include <set>

#include "families/switches/nxos_parts/parts.hpp"
#include "families/switches/parts/addresses.hpp"
#include "families/switches/parts/line_reader.hpp"

namespace tundish::switches::nexus {
namespace {

using Words = std::vector<std::string>;
using Names = std::set<std::string>;
using Numbers = std::set<int>;

constexpr int vni_max = 16777215;
/// Of the interface that only carries an L3VNI.
constexpr const char* core_mtu = "mtu 9216";

/// What a VRF's context says of imports, until all VRFs are known.
struct Imports {
  Names plain, evpn, plain_out, evpn_out;
  std::string map;
};

struct EvpnVni {
  std::string rd;
  std::vector<std::string> imports, exports;
};

class Reader {
 public:
  explicit Reader(const SwitchOwnership& ownership) : ownership_(ownership), out_(ownership) {}

  SwitchSeen run(const LineTree& config) {
    out_.state().anycast_mac.clear();
    for (const auto& node : config.children) top(node, words_of_line(node.line));
    settle_segments();
    settle_vrfs();
    for (const auto& [vni, line] : members_) stray("interface nve1: member vni ", vni);
    for (const auto& [vni, evpn] : evpn_) stray("evpn: vni ", vni);
    foreign_vnis_.erase(0);
    for (const int vni : foreign_vnis_) out_.note_vni(vni);
    const auto vtep = loopbacks_.find(nve_source_);
    if (vtep != loopbacks_.end()) out_.state().vtep_address = vtep->second;
    out_.compare_networks();
    return out_.finish();
  }

 private:
  void top(const LineTree& node, const Words& words) {
    const auto is = [&](std::string_view begin, std::size_t count) {
      return words.size() >= count && node.line.starts_with(begin);
    };
    if (is("vrf context ", 3)) return context(node, words[2]);
    if (is("vlan ", 2) && words.size() == 2) return vlans(node, words[1]);
    if (is("interface ", 2)) return interface(node, words[1]);
    if (is("fabric forwarding anycast-gateway-mac ", 4)) return gateway_mac(node, words[3]);
    if (is("ip access-list ", 3)) return access_list(node, words);
    if (is("ip prefix-list ", 4)) return prefix_entry(words);
    if (is("ip extcommunity-list standard ", 4)) return target_list(node, words);
    if (is("route-map ", 4)) return maps_.route_map(words[1], words[2], node);
    if (is("router bgp ", 3)) return bgp(node, words[2]);
    if (node.line == "evpn") return evpn(node);
    out_.foreign("", node);
  }

  void prefix_entry(const Words& words) {
    maps_.prefix_entry(words[2], {words.begin() + 3, words.end()});
  }

  /// `ip extcommunity-list standard NAME [seq N] permit rt TARGET ...`
  void target_list(const LineTree& node, const Words& words) {
    std::size_t at = 4;
    if (words.size() > at + 1 && words[at] == "seq" && read_number(words[at + 1], 0, 4294967295))
      at += 2;
    Names& list = target_lists_[words[3]];
    if (words.size() < at + 3 || words[at] != "permit" || words[at + 1] != "rt") {
      list.insert(node.line);  // matches no target that a VRF exports: told where it is used
      return;
    }
    list.insert(words.begin() + static_cast<std::ptrdiff_t>(at) + 2, words.end());
  }

  void gateway_mac(const LineTree& node, const std::string& text) {
    const auto mac = read_mac(text);
    if (!mac) return out_.foreign("", node);
    out_.state().anycast_mac = *mac;
  }

  void context(const LineTree& node, const std::string& name) {
    if (!out_.is_our_vrf(name)) {
      out_.note_vrf(name);
      for (const auto& child : node.children) {
        const auto words = words_of_line(child.line);
        const bool maps = words.size() >= 2 && words[0] == "vni";
        if (maps) foreign_vnis_.insert(read_number(words[1], 1, vni_max).value_or(0));
      }
      return out_.foreign("", node);
    }
    VrfState& vrf = out_.vrf(name);
    for (const auto& child : node.children) {
      const auto words = words_of_line(child.line);
      if (words[0] == "description") {
        vrf.description = rest_of(words, 1);
      } else if (words[0] == "vni" &&
                 (words.size() == 2 || (words.size() == 3 && words[2] == "l3")) &&
                 read_number(words[1], 1, vni_max)) {
        vrf.l3vni = *read_number(words[1], 1, vni_max);
      } else if (words[0] == "rd" && words.size() == 2) {
        vrf.rd = words[1];
      } else if (child.line.starts_with("ip route ") && words.size() == 4 &&
                 words[2].ends_with("/32")) {
        vrf.routes.push_back({words[2], words[3]});
      } else if (child.line == "address-family ipv4 unicast") {
        family(node.line + ": " + child.line, child, vrf);
      } else {
        out_.unclear_all(node.line, child);
      }
    }
  }

  void family(const std::string& place, const LineTree& node, VrfState& vrf) {
    Imports& imports = imports_[vrf.name];
    for (const auto& child : node.children) {
      const auto words = words_of_line(child.line);
      const bool evpn = words.size() == 4 && words[3] == "evpn";
      if (words[0] == "import" && words.size() == 3 && words[1] == "map") {
        imports.map = words[2];
      } else if (words[0] != "route-target" || !(words.size() == 3 || evpn) ||
                 words[2].find(':') == std::string::npos) {
        out_.unclear_all(place, child);
      } else {
        if (words[1] != "export") (evpn ? imports.evpn : imports.plain).insert(words[2]);
        if (words[1] != "import") (evpn ? imports.evpn_out : imports.plain_out).insert(words[2]);
        const bool known =
            std::ranges::find(vrf.export_targets, words[2]) != vrf.export_targets.end();
        if (words[1] != "import" && !known) vrf.export_targets.push_back(words[2]);
      }
    }
  }

  struct VlanLines {
    int vni = 0;
    std::string name;
    bool is_core = false;
  };

  void vlans(const LineTree& node, const std::string& list) {
    const auto numbers = read_vlans(list);
    if (!numbers) return out_.foreign("", node);
    for (const int vlan : *numbers) {
      const bool ours = out_.is_our_vlan(vlan), core = out_.is_our_l3vlan(vlan);
      if (ours) out_.segment(vlan);
      if (!ours && !core) out_.note_vlan(vlan);
      VlanLines& lines = vlans_[vlan];
      for (const auto& child : node.children) {
        const auto words = words_of_line(child.line);
        if (words[0] == "vn-segment" && words.size() == 2 && read_number(words[1], 1, vni_max)) {
          lines.vni = *read_number(words[1], 1, vni_max);
          if (!ours && !core) foreign_vnis_.insert(lines.vni);
        } else if (words[0] == "name") {
          lines.name = rest_of(words, 1);
        } else if ((ours || core) && child.line != "state active" && child.line != "no shutdown") {
          out_.unclear_all(node.line, child);
        }
      }
      if (core) lines.is_core = true;
    }
  }

  void interface(const LineTree& node, const std::string& name) {
    if (name == "nve1" || node.line == "interface nve 1") return nve(node);
    if (out_.is_our_port(name)) return port(node, name);
    if (name.starts_with("Vlan")) {
      const auto vlan = read_number(std::string_view(name).substr(4), 1, 4094);
      if (vlan && out_.is_our_vlan(*vlan)) return gateway(node, *vlan);
      if (vlan && out_.is_our_l3vlan(*vlan) && core(node, *vlan)) return;
    }
    if (name.starts_with("loopback")) {
      for (const auto& child : node.children) {
        const auto words = words_of_line(child.line);
        const auto address = child.line.starts_with("ip address ") && words.size() == 3
                                 ? parse_prefix4(words[2])
                                 : std::nullopt;
        if (address && address->length == 32) loopbacks_[name] = render_ipv4(address->address);
      }
    }
    out_.foreign("", node);
  }

  static bool harmless(const std::string& line) {
    static constexpr std::string_view plain[] = {"no ip redirects", "no ipv6 redirects",
                                                 "ipv6 address use-link-local-only"};
    return line.starts_with("description ") || std::ranges::find(plain, line) != std::end(plain);
  }

  /// The interface that carries an L3VNI; false: it is of somebody else's VRF.
  bool core(const LineTree& node, int vlan) {
    std::string vrf;
    for (const auto& child : node.children) {
      if (child.line.starts_with("vrf member ")) vrf = child.line.substr(11);
    }
    if (!out_.is_our_vrf(vrf)) return false;
    out_.vrf(vrf).l3vlan = vlan;
    vrf_of_core_[vlan] = vrf;
    if (node.find("no shutdown") != nullptr && node.find("ip forward") != nullptr) {
      cores_.insert(vlan);
    }
    for (const auto& child : node.children) {
      const bool known = child.line == "no shutdown" || child.line == "ip forward" ||
                         child.line.starts_with("vrf member ") || child.line == core_mtu;
      if (!known && !harmless(child.line)) out_.unclear_all(node.line, child);
    }
    return true;
  }

  void gateway(const LineTree& node, int vlan) {
    SegmentState& segment = out_.segment(vlan);
    bool up = false, anycast = false;
    for (const auto& child : node.children) {
      const auto words = words_of_line(child.line);
      if (child.line == "no shutdown") {
        up = true;
      } else if (child.line == "fabric forwarding mode anycast-gateway") {
        anycast = true;
      } else if (child.line.starts_with("vrf member ") && words.size() == 3) {
        segment.vrf = words[2];
      } else if (child.line.starts_with("ip address ") && words.size() == 3) {
        segment.gateway = words[2];
      } else if (words[0] == "mtu" && words.size() == 2 && read_number(words[1], 68, 65535)) {
        segment.mtu = *read_number(words[1], 68, 65535);
      } else if (child.line.starts_with("ip access-group ") && words.size() == 4 &&
                 words[3] == "in") {
        segment.acl_in = words[2];
      } else if (!harmless(child.line)) {
        out_.unclear_all(node.line, child);
      }
    }
    // Shut is the default of such an interface, and an address alone is no anycast gateway.
    if (!up) out_.unclear(node.line, "is shut");
    if (!segment.gateway.empty() && !anycast) out_.unclear(node.line, "is no anycast gateway");
  }

  void nve(const LineTree& node) {
    for (const auto& child : node.children) {
      const auto words = words_of_line(child.line);
      if (words[0] == "source-interface" && words.size() == 2) nve_source_ = words[1];
      const bool member = words.size() >= 3 && words[0] == "member" && words[1] == "vni";
      const auto vni = member ? read_number(words[2], 1, vni_max) : std::nullopt;
      if (!vni) {
        out_.foreign(node.line, child);
        continue;
      }
      members_.emplace(*vni, &child);
    }
  }

  void evpn(const LineTree& node) {
    for (const auto& child : node.children) {
      const auto words = words_of_line(child.line);
      const auto vni = words.size() == 3 && words[0] == "vni" && words[2] == "l2"
                           ? read_number(words[1], 1, vni_max)
                           : std::nullopt;
      if (!vni) {
        out_.foreign(node.line, child);
        continue;
      }
      EvpnVni& entry = evpn_[*vni];
      const bool ours = *vni >= ownership_.vni_from && *vni <= ownership_.vni_to;
      if (!ours) out_.foreign(node.line, child);
      for (const auto& line : child.children) {
        const auto inner = words_of_line(line.line);
        if (inner[0] == "rd" && inner.size() == 2) {
          entry.rd = inner[1];
        } else if (inner[0] == "route-target" && inner.size() >= 3 &&
                   std::all_of(inner.begin() + 2, inner.end(), is_target)) {
          if (inner[1] != "export") append(entry.imports, inner);
          if (inner[1] != "import") append(entry.exports, inner);
        } else if (ours) {
          out_.unclear_all(node.line + ": " + child.line, line);
        }
      }
    }
  }

  static bool is_target(const std::string& word) { return word.find(':') != std::string::npos; }
  static void append(std::vector<std::string>& list, const Words& words) {
    list.insert(list.end(), words.begin() + 2, words.end());
  }

  void port(const LineTree& node, const std::string& name) {
    static const PortWords words = {
        "vrf member ",
        {"no shutdown", "switchport", "switchport mode access", "spanning-tree port type edge",
         "no ip redirects", "no ipv6 redirects", "ipv6 address use-link-local-only"},
        9000};
    out_.read_port(node, name, words);
  }

  void access_list(const LineTree& node, const Words& words) {
    if (!out_.is_our_acl(words[2])) return out_.note_acl(words[2]);
    out_.read_acl(words[2], node);
  }

  void bgp(const LineTree& node, const std::string& asn) {
    out_.state().asn = read_asn(asn);
    for (const auto& child : node.children) {
      const auto words = words_of_line(child.line);
      if (words[0] == "router-id" && words.size() == 2 && parse_ipv4(words[1])) {
        out_.state().router_id = words[1];
      } else if (words[0] == "vrf" && words.size() == 2 && out_.is_our_vrf(words[1])) {
        bgp_vrf(node.line + ": " + child.line, child, words[1]);
      } else {
        out_.foreign(node.line, child);
      }
    }
  }

  void bgp_vrf(const std::string& place, const LineTree& node, const std::string& name) {
    out_.vrf(name);
    for (const auto& child : node.children) {
      if (child.line != "address-family ipv4 unicast") {
        if (child.line != "log-neighbor-changes") out_.unclear_all(place, child);
        continue;
      }
      for (const auto& line : child.children) {
        const auto words = words_of_line(line.line);
        const bool network = words[0] == "network" && words.size() == 2;
        if (network) out_.note_network(name, words[1]);
        constexpr std::string_view direct = "redistribute direct route-map ";
        const bool maps = line.line.starts_with(direct);
        if (maps) direct_maps_[name] = line.line.substr(direct.size());
        const bool known = network || maps || line.line == "advertise l2vpn evpn" ||
                           line.line.starts_with("maximum-paths ");
        if (!known) out_.unclear_all(place + ": " + child.line, line);
      }
    }
  }

  /// Whether the tunnel carries this VNI of ours.
  bool take_member(int vni) {
    const auto found = members_.find(vni);
    if (found == members_.end()) return false;
    for (const auto& line : found->second->children) {
      if (line.line == "ingress-replication protocol bgp" || line.line == "suppress-arp") continue;
      out_.unclear_all("interface nve1: " + found->second->line, line);
    }
    members_.erase(found);
    return true;
  }

  /// A VNI counts when the tunnel carries it; a mapping alone is only taken out of the pools.
  void settle_segments() {
    std::vector<int> ours;
    for (const auto& [vlan, lines] : vlans_) {
      if (!out_.is_our_vlan(vlan)) continue;
      ours.push_back(vlan);
      if (fits_segment_name(lines.name, lines.vni)) continue;
      out_.unclear("vlan " + std::to_string(vlan), "name " + lines.name);
    }
    for (const int vlan : ours) {
      const int vni = vlans_[vlan].vni;
      if (vni == 0) continue;
      if (!take_member(vni)) {
        out_.note_vni(vni);
        evpn_.erase(vni);
        continue;
      }
      SegmentState& segment = out_.segment(vlan);
      segment.l2vni = vni;
      const auto entry = evpn_.find(vni);
      if (entry == evpn_.end()) continue;
      segment.rd = entry->second.rd;
      segment.import_targets = entry->second.imports;
      segment.export_targets = entry->second.exports;
      evpn_.erase(entry);
    }
  }

  /// A VLAN for an L3VNI is called after its VRF, where nobody called it otherwise; before its
  /// interface is there, the name alone says whose it is.
  void settle_cores() {
    for (const auto& [vlan, lines] : vlans_) {
      if (!lines.is_core || !lines.name.starts_with(ownership_.vrf_prefix)) continue;
      const auto member = vrf_of_core_.find(vlan);
      if (member == vrf_of_core_.end() && !out_.is_our_vrf(lines.name)) continue;
      if (member == vrf_of_core_.end()) {
        int& known = out_.vrf(lines.name).l3vlan;
        if (known == 0) known = vlan;
      } else if (member->second != lines.name) {
        out_.unclear("vlan " + std::to_string(vlan), "name " + lines.name);
      }
    }
  }

  /// Without its part in BGP a VRF tells nobody of its segments.
  void settle_bgp(const std::string& name) {
    const std::string place = "router bgp: vrf " + name;
    const auto map = direct_maps_.find(name);
    if (map == direct_maps_.end()) return out_.unclear(place, "does not redistribute direct");
    const auto* entries = maps_.find_map(map->second);
    const bool permits = entries != nullptr && entries->size() == 1 &&
                         entries->front().action == "permit" && entries->front().lines.empty();
    if (!permits) out_.unclear(place, "route-map " + map->second + " does not permit everything");
    const bool other = map->second.ends_with(direct_map_name("")) &&
                       out_.is_our_vrf(map->second.substr(0, name.size())) &&
                       map->second != direct_map_name(name);
    if (other) out_.unclear(place, "uses the map of another VRF: " + map->second);
  }

  void settle_vrfs() {
    settle_cores();
    for (const std::string& name : out_.vrf_names()) settle_bgp(name);
    for (const std::string& name : out_.vrf_names()) {
      VrfState& vrf = out_.vrf(name);
      if (vrf.l3vni == 0) continue;
      if (!take_member(vrf.l3vni)) {
        out_.note_vni(vrf.l3vni);
        vrf.l3vni = 0;
      } else if (vrf.l3vlan != 0 &&
                 (vlans_[vrf.l3vlan].vni != vrf.l3vni || !cores_.contains(vrf.l3vlan))) {
        // In our order the tunnel comes last and goes first, so this is somebody else's doing.
        out_.unclear("vlan " + std::to_string(vrf.l3vlan),
                     "does not carry VNI " + std::to_string(vrf.l3vni) + " of " + name);
      }
    }
    for (const std::string& name : out_.vrf_names()) settle_imports(out_.vrf(name));
  }

  /// Targets that the import map ties to prefixes are leaks; every other one is an import.
  void settle_imports(VrfState& vrf) {
    const Imports& imports = imports_[vrf.name];
    if (imports.plain_out != imports.evpn_out) {
      out_.unclear("vrf context " + vrf.name, "exports differ with and without evpn");
    }
    Names left = imports.evpn;
    left.insert(imports.plain.begin(), imports.plain.end());
    if (!imports.map.empty()) leaks_of(vrf, imports, left);
    for (const auto& target : left) {
      // An import of one kind only was somebody's doing: routes of this switch, or of others, stay
      // out.
      if (imports.plain.contains(target) && imports.evpn.contains(target)) continue;
      out_.unclear("vrf context " + vrf.name,
                   "route-target import " + target + " is there " +
                       (imports.evpn.contains(target) ? "with" : "without") + " evpn only");
    }
    vrf.import_targets.assign(left.begin(), left.end());
  }

  /// A list that carries the name of another VRF of ours.
  bool is_of_another(const std::string& list, const std::string& vrf) const {
    return out_.is_our_vrf(list.substr(0, vrf.size())) && !list.starts_with(vrf + "-");
  }

  void leaks_of(VrfState& vrf, const Imports& imports, Names& left) {
    const std::string place = "vrf context " + vrf.name + ": import map " + imports.map;
    const auto* entries = maps_.find_map(imports.map);
    if (entries == nullptr) return out_.unclear(place, "there is no such route-map");
    Names own;
    for (const auto& entry : *entries) {
      std::string targets, prefixes;
      for (const auto& line : entry.lines) {
        if (line.starts_with("match extcommunity "))
          targets = line.substr(19);
        else if (line.starts_with("match ip address prefix-list "))
          prefixes = line.substr(29);
        else
          out_.unclear(place, line);
      }
      for (const auto& used : {targets, prefixes}) {
        if (is_of_another(used, vrf.name)) out_.unclear(place, "uses the list of another: " + used);
      }
      const auto list = target_lists_.find(targets);
      if (entry.action != "permit" || list == target_lists_.end()) {
        out_.unclear(place, "an entry does not permit a list of targets");
      } else if (prefixes.empty()) {
        own.insert(list->second.begin(), list->second.end());
      } else {
        leak(vrf, place, targets, prefixes, imports, left);
      }
    }
    if (own != left) out_.unclear(place, "its own targets are not those that the VRF imports");
  }

  void leak(VrfState& vrf, const std::string& place, const std::string& list,
            const std::string& prefix_list, const Imports& imports, Names& left) {
    const Names& targets = target_lists_[list];
    std::string why;
    const auto prefixes = maps_.list(prefix_list, why);
    if (!prefixes) return out_.unclear(place, why);
    if (prefix_list.starts_with(leak_name(vrf.name, "")) && !maps_.ends(prefix_list)) {
      out_.unclear(place, "prefix list " + prefix_list + " does not end with a deny");
    }
    std::string source = source_of(vrf.name, list, targets);
    if (source.empty()) {
      return out_.unclear(place, "the targets of " + list + " are not those of one VRF here");
    }
    const bool works = std::ranges::all_of(
        targets, [&](const auto& target) { return imports.plain.contains(target); });
    for (const auto& target : targets) {
      if (!imports.evpn.contains(target)) left.erase(target);
    }
    if (works) vrf.leaks.push_back({std::move(source), *prefixes});
  }

  /// The VRF that exports these targets; before it is made, the one that the list is named after.
  std::string source_of(const std::string& vrf, const std::string& list, const Names& targets) {
    const std::string begin = leak_name(vrf, "");
    const std::string named = list.starts_with(begin) ? list.substr(begin.size()) : "";
    std::string found;
    for (const std::string& name : out_.vrf_names()) {
      const auto& exports = out_.vrf(name).export_targets;
      if (name == vrf || Names(exports.begin(), exports.end()) != targets) continue;
      if (found.empty() || name == named) found = name;
    }
    if (!found.empty()) return found;
    const auto names = out_.vrf_names();
    return out_.is_our_vrf(named) && std::ranges::find(names, named) == names.end() ? named : "";
  }

  void stray(const std::string& what, int vni) {
    const bool ours = vni >= ownership_.vni_from && vni <= ownership_.vni_to;
    if (ours && !foreign_vnis_.contains(vni)) {
      out_.unclear("", what + std::to_string(vni) + " belongs to no object of ours");
    }
    out_.note_vni(vni);
  }

  const SwitchOwnership& ownership_;
  LineReader out_;
  LeakReader maps_;
  std::map<std::string, Imports> imports_;
  std::map<std::string, Names> target_lists_;
  std::map<std::string, std::string> loopbacks_;
  std::map<int, VlanLines> vlans_;
  std::map<int, EvpnVni> evpn_;
  std::map<int, const LineTree*> members_;
  std::map<int, std::string> vrf_of_core_;
  std::map<std::string, std::string> direct_maps_;
  Numbers foreign_vnis_, cores_;
  std::string nve_source_;
};

}  // namespace

SwitchSeen read_config(const LineTree& config, const SwitchOwnership& ownership) {
  return Reader(ownership).run(config);
}

}  // namespace tundish::switches::nexus
