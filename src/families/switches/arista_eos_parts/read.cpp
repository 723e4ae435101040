#include <algorithm>
#include <set>

#include "families/switches/arista_eos_parts/parts.hpp"
#include "families/switches/parts/addresses.hpp"
#include "families/switches/parts/line_reader.hpp"

namespace tundish::switches::eos {
namespace {

using Words = std::vector<std::string>;

struct Leak {
  std::string vrf, source, policy, line;
};

class Reader {
 public:
  explicit Reader(const SwitchOwnership& ownership) : out_(ownership) {}

  SwitchSeen run(const LineTree& config) {
    out_.state().anycast_mac.clear();
    for (const auto& node : config.children) top(node, words_of_line(node.line));
    for (const auto& leak : leaks_) resolve(leak);
    settle();
    const auto vtep = loopbacks_.find(vxlan_source_);
    if (vtep != loopbacks_.end()) out_.state().vtep_address = vtep->second;
    out_.compare_networks();
    return out_.finish();
  }

 private:
  void top(const LineTree& node, const Words& words) {
    const std::string two =
        rest_of({words.begin(), words.begin() + std::min<long>(2, std::ssize(words))}, 0);
    if (two == "vrf instance" && words.size() == 3) return instance(node, words[2]);
    if (two == "ip routing" && words.size() == 4 && out_.is_our_vrf(words[3])) {
      out_.vrf(words[3]);
      routing_.insert(words[3]);
      return;
    }
    const bool route = two == "ip route" && words.size() == 6 && words[2] == "vrf";
    if (route && words[4].ends_with("/32") && out_.is_our_vrf(words[3])) {
      out_.vrf(words[3]).routes.push_back({words[4], words[5]});
      return;
    }
    if (words[0] == "vlan" && words.size() == 2) return vlans(node, words[1]);
    if (words[0] == "interface" && words.size() == 2) return interface(node, words[1]);
    if (two == "ip virtual-router" && words.size() == 4) return gateway_mac(node, words[3]);
    if (two == "ip access-list") return access_list(node, words);
    if (two == "ip prefix-list" && words.size() >= 3) return prefix_list(node, words);
    if (words[0] == "route-map" && words.size() == 4) {
      return leaks_of_.route_map(words[1], words[2], node);
    }
    if (node.line == "router general") return general(node);
    if (two.starts_with("router bgp") && words.size() == 3) return bgp(node, words[2]);
    out_.foreign("", node);
  }

  void instance(const LineTree& node, const std::string& name) {
    if (!out_.is_our_vrf(name)) {
      out_.note_vrf(name);
      return;
    }
    VrfState& vrf = out_.vrf(name);
    instances_.insert(name);
    for (const auto& child : node.children) {
      const auto words = words_of_line(child.line);
      if (words[0] == "description") {
        vrf.description = rest_of(words, 1);
      } else {
        out_.unclear_all(node.line, child);
      }
    }
  }

  void vlans(const LineTree& node, const std::string& list) {
    const auto numbers = read_vlans(list);
    if (!numbers) return out_.foreign("", node);
    for (const int vlan : *numbers) {
      if (!out_.is_our_vlan(vlan)) {
        out_.note_vlan(vlan);
        continue;
      }
      out_.segment(vlan);
      declared_.insert(vlan);
      for (const auto& child : node.children) {
        if (child.line.starts_with("name ")) names_[vlan] = child.line.substr(5);
        if (child.line.starts_with("name ") || child.line == "state active") continue;
        out_.unclear_all(node.line, child);
      }
    }
  }

  /// What makes the lines above work: without it they stand there and carry nothing.
  void settle() {
    for (const auto& name : out_.vrf_names()) {
      if (!instances_.contains(name)) out_.unclear("", "there is no vrf instance " + name);
      if (!routing_.contains(name)) out_.unclear("", "there is no ip routing vrf " + name);
    }
    for (const int vlan : out_.segment_vlans()) {
      const std::string place = "vlan " + std::to_string(vlan);
      if (!declared_.contains(vlan)) out_.unclear("", "there is no " + place);
      const int vni = out_.segment(vlan).l2vni;
      if (!fits_segment_name(names_[vlan], vni)) out_.unclear(place, "name " + names_[vlan]);
    }
  }

  void gateway_mac(const LineTree& node, const std::string& text) {
    const auto mac = read_mac(text);
    if (!mac) return out_.foreign("", node);
    out_.state().anycast_mac = *mac;
  }

  void interface(const LineTree& node, const std::string& name) {
    if (name == "Vxlan1") return vxlan(node);
    if (out_.is_our_port(name)) return port(node, name);
    if (name.starts_with("Vlan")) {
      const auto vlan = read_number(std::string_view(name).substr(4), 1, 4094);
      if (vlan && out_.is_our_vlan(*vlan)) return gateway(node, *vlan);
    }
    if (name.starts_with("Loopback")) {
      for (const auto& child : node.children) {
        const auto words = words_of_line(child.line);
        const auto address = words.size() == 3 && rest_of(words, 0).starts_with("ip address ")
                                 ? parse_prefix4(words[2])
                                 : std::nullopt;
        if (address && address->length == 32) loopbacks_[name] = render_ipv4(address->address);
      }
    }
    out_.foreign("", node);
  }

  void vxlan(const LineTree& node) {
    for (const auto& child : node.children) {
      const auto words = words_of_line(child.line);
      if (words.size() == 3 && words[1] == "source-interface") vxlan_source_ = words[2];
      if (words.size() != 5 || words[0] != "vxlan" || words[3] != "vni") {
        out_.foreign(node.line, child);
        continue;
      }
      if (words[1] == "vlan") {
        map_vlans(node, child, words);
      } else if (const auto vni = read_number(words[4], 1, 16777215); vni && words[1] == "vrf") {
        if (out_.is_our_vrf(words[2]))
          out_.vrf(words[2]).l3vni = *vni;
        else
          out_.note_vni(*vni);
      } else {
        out_.foreign(node.line, child);
      }
    }
  }

  /// `vxlan vlan 11-13 vni 10011-10013` is also written.
  void map_vlans(const LineTree& node, const LineTree& child, const Words& words) {
    const auto vlans = read_vlans(words[2]);
    std::vector<int> vnis;
    std::size_t from = 0;
    for (std::size_t at = 0; at <= words[4].size(); ++at) {
      if (at < words[4].size() && words[4][at] != ',') continue;
      const std::string part = words[4].substr(from, at - from);
      from = at + 1;
      const std::size_t dash = part.find('-');
      const auto first = read_number(part.substr(0, dash), 1, 16777215);
      const auto last =
          dash == std::string::npos ? first : read_number(part.substr(dash + 1), 1, 16777215);
      for (int vni = first.value_or(1); first && last && vni <= *last && vnis.size() < 4095;
           ++vni) {
        vnis.push_back(vni);
      }
    }
    if (!vlans || vlans->size() != vnis.size()) return out_.unclear(node.line, child.line);
    for (std::size_t i = 0; i < vnis.size(); ++i) {
      if (out_.is_our_vlan((*vlans)[i])) {
        out_.segment((*vlans)[i]).l2vni = vnis[i];
      } else {
        out_.note_vni(vnis[i]);
      }
    }
  }

  void gateway(const LineTree& node, int vlan) {
    SegmentState& segment = out_.segment(vlan);
    for (const auto& child : node.children) {
      const auto words = words_of_line(child.line);
      if (words[0] == "vrf" && words.size() == 2) {
        segment.vrf = words[1];
      } else if (child.line.starts_with("ip address virtual ") && words.size() == 4) {
        segment.gateway = words[3];
      } else if (words[0] == "mtu" && words.size() == 2 && read_number(words[1], 68, 65535)) {
        segment.mtu = *read_number(words[1], 68, 65535);
      } else if (child.line.starts_with("ip access-group ") && words.size() == 4 &&
                 words[3] == "in") {
        segment.acl_in = words[2];
      } else if (words[0] != "description" && child.line != "no shutdown") {
        out_.unclear_all(node.line, child);
      }
    }
  }

  void port(const LineTree& node, const std::string& name) {
    static const PortWords words = {
        "vrf ",
        {"no shutdown", "switchport", "switchport mode access", "spanning-tree portfast"},
        9000};
    out_.read_port(node, name, words);
  }

  void access_list(const LineTree& node, const Words& words) {
    const std::string& name = words.back();
    if (!out_.is_our_acl(name)) return out_.note_acl(name);
    if (words.size() != 3) return out_.unclear_all("", node);
    out_.read_acl(name, node);
  }

  void prefix_list(const LineTree& node, const Words& words) {
    if (words.size() > 3) {
      leaks_of_.prefix_entry(words[2], {words.begin() + 3, words.end()});
    }
    for (const auto& child : node.children) {
      leaks_of_.prefix_entry(words[2], words_of_line(child.line));
    }
  }

  void general(const LineTree& node) {
    for (const auto& child : node.children) {
      const auto words = words_of_line(child.line);
      if (words[0] != "vrf" || words.size() != 2 || !out_.is_our_vrf(words[1])) {
        out_.foreign(node.line, child);
        continue;
      }
      out_.vrf(words[1]);
      const std::string place = node.line + ": " + child.line;
      for (const auto& line : child.children) {
        const auto leak = words_of_line(line.line);
        if (leak.size() == 6 && line.line.starts_with("leak routes source-vrf ") &&
            leak[4] == "subscribe-policy") {
          leaks_.push_back({words[1], leak[3], leak[5], place + ": " + line.line});
        } else {
          out_.unclear_all(place, line);
        }
      }
    }
  }

  void resolve(const Leak& leak) {
    std::string why;
    const auto prefixes = leaks_of_.prefixes(leak.policy, why);
    if (!prefixes) return out_.unclear(leak.line, why);
    out_.vrf(leak.vrf).leaks.push_back({leak.source, *prefixes});
  }

  void bgp(const LineTree& node, const std::string& asn) {
    out_.state().asn = read_asn(asn);
    for (const auto& child : node.children) {
      const auto words = words_of_line(child.line);
      if (words[0] == "router-id" && words.size() == 2 && parse_ipv4(words[1])) {
        out_.state().router_id = words[1];
      } else if (words[0] == "vlan" && words.size() == 2) {
        bgp_vlan(node.line, child, words[1]);
      } else if (words[0] == "vrf" && words.size() == 2 && out_.is_our_vrf(words[1])) {
        bgp_vrf(node.line + ": " + child.line, child, out_.vrf(words[1]));
      } else {
        out_.foreign(node.line, child);
      }
    }
  }

  /// `route-target import|export|both [evpn] TARGET ...`; false: something else.
  static bool read_targets(const Words& words, std::size_t first, std::vector<std::string>& imports,
                           std::vector<std::string>& exports) {
    if (words[0] != "route-target" || words.size() <= first) return false;
    const bool both = words[1] == "both";
    if (!both && words[1] != "import" && words[1] != "export") return false;
    for (std::size_t i = first; i < words.size(); ++i) {
      if (words[i].find(':') == std::string::npos) return false;
      if (both || words[1] == "import") imports.push_back(words[i]);
      if (both || words[1] == "export") exports.push_back(words[i]);
    }
    return true;
  }

  void bgp_vlan(const std::string& place, const LineTree& node, const std::string& number) {
    const auto vlan = read_number(number, 1, 4094);
    if (!vlan || !out_.is_our_vlan(*vlan)) return out_.foreign(place, node);
    SegmentState& segment = out_.segment(*vlan);
    for (const auto& child : node.children) {
      const auto words = words_of_line(child.line);
      if (words[0] == "rd" && words.size() == 2) {
        segment.rd = words[1];
      } else if (!read_targets(words, 2, segment.import_targets, segment.export_targets) &&
                 child.line != "redistribute learned") {
        out_.unclear_all(place + ": " + node.line, child);
      }
    }
  }

  void bgp_vrf(const std::string& place, const LineTree& node, VrfState& vrf) {
    for (const auto& child : node.children) {
      const auto words = words_of_line(child.line);
      if (words[0] == "rd" && words.size() == 2) {
        vrf.rd = words[1];
      } else if (words.size() > 2 && words[2] == "evpn" &&
                 read_targets(words, 3, vrf.import_targets, vrf.export_targets)) {
        continue;
      } else if (words[0] == "network" && words.size() == 2) {
        out_.note_network(vrf.name, words[1]);
      } else if (words[0] != "router-id" && child.line != "redistribute connected" &&
                 child.line != "redistribute connected include leaked" &&
                 child.line != "redistribute bgp leaked") {
        out_.unclear_all(place, child);
      }
    }
  }

  LineReader out_;
  LeakReader leaks_of_;
  std::vector<Leak> leaks_;
  std::map<std::string, std::string> loopbacks_;
  std::map<int, std::string> names_;
  std::set<std::string> instances_, routing_;
  std::set<int> declared_;
  std::string vxlan_source_;
};

}  // namespace

SwitchSeen read_config(const LineTree& config, const SwitchOwnership& ownership) {
  return Reader(ownership).run(config);
}

}  // namespace tundish::switches::eos
