// Our objects, read off the statements that collect() put together.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/text.hpp"
#include "families/switches/junos_parts/collect.hpp"
#include "families/switches/parts/addresses.hpp"
#include "families/switches/parts/line_reader.hpp"

namespace tundish::switches::juniper {
namespace {

class Reader {
 public:
  Reader(Collected collected, const SwitchOwnership& ownership)
      : all_(std::move(collected)), out_(ownership) {}

  SwitchSeen run(const Statements& config) {
    out_.state().router_id = all_.router_id;
    out_.state().asn = all_.asn;
    out_.state().vtep_address = all_.vtep_address;
    for (const int vlan : all_.foreign_vlans) out_.note_vlan(vlan);
    for (const int vni : all_.foreign_vnis) out_.note_vni(vni);
    for (const auto& [name, instance] : all_.instances) settle(name, instance);
    for (const auto& [name, instance] : all_.instances) settle_members(name, instance);
    for (const auto& [name, instance] : all_.instances) {
      if (is_our_vrf(name, instance)) settle_targets(name, instance);
    }
    out_.state().anycast_mac = all_.group_mac;
    for (const auto& [unit, irb] : all_.units) settle_unit(unit, irb);
    for (const auto& [name, port] : all_.ports) settle_port(name, port);
    for (const auto& [name, lines] : all_.filters) {
      if (!out_.is_our_acl(name)) {
        out_.note_acl(name);
        continue;
      }
      std::vector<std::string> unclear;
      out_.acl(name).rules = read_filter(lines, unclear);
      for (const auto& line : unclear) out_.unclear("filter " + name, line);
    }
    for (const auto& line : config.lines) reach_in(line);
    for (const auto& line : config.inactive) inactive(line);
    for (const auto& text : config.broken) out_.unclear("", text);
    return out_.finish();
  }

 private:
  bool is_our_vrf(const std::string& name, const Instance& instance) const {
    return out_.is_our_vrf(name) && instance.type != "mac-vrf";
  }

  /// The one VLAN of an instance, when it is ours.
  std::optional<int> our_vlan(const Instance& instance) const {
    if (instance.type != "mac-vrf") return std::nullopt;
    for (const auto& [name, vlan] : instance.vlans) {
      if (out_.is_our_vlan(vlan.id)) return vlan.id;
    }
    return std::nullopt;
  }

  void settle(const std::string& name, const Instance& instance) {
    const std::string place = "routing-instances " + name;
    if (is_our_vrf(name, instance)) return settle_vrf(name, instance);
    const auto vlan = our_vlan(instance);
    if (!vlan) {
      if (instance.type != "mac-vrf") out_.note_vrf(name);
      for (const auto& [unused, other] : instance.vlans) {
        if (other.id != 0) out_.note_vlan(other.id);
        if (other.vni != 0) out_.note_vni(other.vni);
      }
      if (instance.vni != 0) out_.note_vni(instance.vni);
      for (const auto* list : {&instance.imports, &instance.exports}) {
        for (const auto& target : *list) {
          if (!target.empty()) out_.note_target(target);
        }
      }
      return;
    }
    if (instance.vlans.size() > 1) out_.unclear(place, "has more VLANs than one");
    SegmentState& segment = out_.segment(*vlan);
    segment.rd = instance.rd;
    segment.l2vni = instance.vlans.begin()->second.vni;
    read_targets(name, instance, segment.import_targets, segment.export_targets);
    static const std::vector<Statement> usual = {
        {"protocols", "evpn", "encapsulation", "vxlan"},
        {"protocols", "evpn", "default-gateway", "no-gateway-community"},
        {"protocols", "evpn", "default-gateway", "do-not-advertise"},
        {"protocols", "evpn", "extended-vni-list", "all"},
        {"vtep-source-interface", "lo0.0"},
        {"service-type", "vlan-based"},
        {"service-type", "vlan-aware"}};
    tell_others(place, instance, usual, std::to_string(segment.l2vni));
  }

  /// `vni`: a list of VNIs that holds only this one is usual too.
  void tell_others(const std::string& place, const Instance& instance,
                   const std::vector<Statement>& usual, const std::string& vni) {
    const Statement list = {"protocols", "evpn", "extended-vni-list", vni};
    for (const auto& line : instance.others) {
      if (line == list || std::ranges::find(usual, line) != usual.end()) continue;
      out_.unclear(place, render_statement(line));
    }
  }

  void settle_vrf(const std::string& name, const Instance& instance) {
    const std::string place = "routing-instances " + name;
    VrfState& vrf = out_.vrf(name);
    vrf.description = instance.description;
    vrf.rd = instance.rd;
    vrf.l3vni = instance.vni;
    if (instance.routing_vni != 0 && instance.vni != 0 && instance.routing_vni != instance.vni) {
      out_.unclear(place, "irb-symmetric-routing vni " + std::to_string(instance.routing_vni));
    }
    if (!instance.type.empty() && instance.type != "vrf") {
      out_.unclear(place, "instance-type " + instance.type);
    }
    static const std::vector<Statement> usual = {
        {"routing-options", "auto-export"},
        {"protocols", "evpn", "ip-prefix-routes", "advertise", "direct-nexthop"},
        {"protocols", "evpn", "ip-prefix-routes", "encapsulation", "vxlan"},
        {"vrf-table-label"}};
    tell_others(place, instance, usual, "");
    exports_of(name, instance, vrf.export_targets);
    vrf.routes = instance.routes;
  }

  /// Interfaces of our instances: ports of ours, gateways of our segments, and nothing else.
  void settle_members(const std::string& name, const Instance& instance) {
    const std::string place = "routing-instances " + name;
    const auto vlan = our_vlan(instance);
    const bool ours = vlan || is_our_vrf(name, instance);
    for (const auto& member : instance.interfaces) {
      if (member.starts_with("l3 ")) {
        const bool fits = vlan && member.ends_with(" irb." + std::to_string(*vlan));
        if (vlan && !fits) out_.unclear(place, member);
        continue;
      }
      if (member.starts_with("irb.")) {
        const auto unit = read_number(std::string_view(member).substr(4), 1, 4094);
        const bool gateway = unit && out_.is_our_vlan(*unit);
        if (gateway && !vlan) out_.segment(*unit).vrf = name;
        if (ours ? !gateway || vlan : gateway) out_.unclear(place, "interface " + member);
        continue;
      }
      const std::string port = member.substr(0, member.rfind('.'));
      const bool fits = out_.is_our_port(port) && member == port + ".0";
      if (fits)
        places_[port].insert(name);
      else if (ours)
        out_.unclear(place, "interface " + member);
    }
  }

  Names members_of(const Names& communities, const std::string& place) {
    Names out;
    for (const auto& name : communities) {
      const auto found = all_.communities.find(name);
      // A route must have all members of one community: only one of them makes it a target.
      if (found == all_.communities.end() || found->second.size() != 1 ||
          found->second.begin()->empty()) {
        out_.unclear(place, "community " + name + " is not one route target");
        continue;
      }
      out.insert(*found->second.begin());
    }
    return out;
  }

  void exports_of(const std::string& name, const Instance& instance,
                  std::vector<std::string>& out) {
    const std::string place = "routing-instances " + name;
    Names targets = instance.exports;
    for (const auto& policy : instance.export_policies) {
      targets.clear();
      const Policy& has = all_.policies[policy];
      const auto plain = [](const auto& term) {
        return !term.second.odd && term.second.prefixes.empty() && term.second.communities.empty();
      };
      if (has.odd || has.action != "accept" || instance.export_policies.size() > 1 ||
          !std::ranges::all_of(has.terms, plain)) {
        out_.unclear(place, "vrf-export " + policy + " does not only add targets");
      }
      targets = members_of(has.added, "policy-statement " + policy);
    }
    if (targets.erase("") > 0) out_.unclear(place, "vrf-target is no target");
    out.assign(targets.begin(), targets.end());
  }

  void read_targets(const std::string& name, const Instance& instance,
                    std::vector<std::string>& imports, std::vector<std::string>& exports) {
    exports_of(name, instance, exports);
    std::vector<LeakState> leaks;
    imports_of(name, instance, imports, leaks);
    if (!leaks.empty()) {
      out_.unclear("routing-instances " + name, "a policy limits the prefixes of a segment");
    }
  }

  void settle_targets(const std::string& name, const Instance& instance) {
    VrfState& vrf = out_.vrf(name);
    imports_of(name, instance, vrf.import_targets, vrf.leaks);
    const bool exported = std::ranges::any_of(instance.others, [](const Statement& line) {
      return line == Statement{"routing-options", "auto-export"};
    });
    // Without it nothing passes between instances of one switch.
    if (!exported) vrf.leaks.clear();
  }

  void imports_of(const std::string& name, const Instance& instance,
                  std::vector<std::string>& imports, std::vector<LeakState>& leaks) {
    Names targets = instance.imports;
    for (const auto& policy : instance.import_policies) {
      targets.clear();
      const std::string place = "policy-statement " + policy;
      const Policy& has = all_.policies[policy];
      if (has.odd || !has.added.empty() || has.action != "reject" ||
          instance.import_policies.size() > 1) {
        out_.unclear("routing-instances " + name,
                     "vrf-import " + policy + " does not end with reject, or does more");
      }
      for (const auto& [term_name, term] : has.terms) {
        const std::string at = place + " term " + term_name;
        if (term.odd || term.action != "accept" || term.communities.empty()) {
          if (!term.odd && term.action == "reject") continue;
          out_.unclear(at, "does not only accept targets");
          continue;
        }
        const Names found = members_of(term.communities, at);
        if (term.prefixes.empty())
          targets.insert(found.begin(), found.end());
        else
          leaks.push_back(leak_of(name, term_name, term, found, at));
      }
    }
    if (targets.erase("") > 0) out_.unclear("routing-instances " + name, "vrf-target is no target");
    imports.assign(targets.begin(), targets.end());
    std::erase_if(leaks, [](const LeakState& leak) { return leak.from_vrf.empty(); });
  }

  /// From the VRF that exports these targets; before it is made, from the one the term names.
  LeakState leak_of(const std::string& vrf, const std::string& term_name, const Term& term,
                    const Names& targets, const std::string& at) {
    LeakState out;
    out.prefixes.assign(term.prefixes.begin(), term.prefixes.end());
    const std::string named =
        term_name.starts_with(leak_term) ? term_name.substr(leak_term.size()) : "";
    const auto names = out_.vrf_names();
    for (const std::string& name : names) {
      const auto& exports = out_.vrf(name).export_targets;
      if (name == vrf || Names(exports.begin(), exports.end()) != targets) continue;
      if (out.from_vrf.empty() || name == named) out.from_vrf = name;
    }
    if (!out.from_vrf.empty()) return out;
    if (out_.is_our_vrf(named) && std::ranges::find(names, named) == names.end()) {
      out.from_vrf = named;
    } else {
      out_.unclear(at, "its targets are not those of one VRF here");
    }
    return out;
  }

  void settle_unit(int number, const Unit& unit) {
    if (!out_.is_our_vlan(number)) return;
    const std::string place = "interfaces irb unit " + std::to_string(number);
    SegmentState& segment = out_.segment(number);
    segment.mtu = unit.mtu;
    segment.acl_in = unit.acl;
    segment.gateway = unit.address;
    const std::string mac = unit.grouped ? all_.group_mac : unit.mac;
    std::string& known = out_.state().anycast_mac;
    if (!mac.empty() && known.empty()) known = mac;
    if (mac != known) out_.unclear(place, "mac '" + mac + "' is not that of the other gateways");
    for (const auto& line : unit.others) out_.unclear(place, render_statement(line));
  }

  void settle_port(const std::string& name, const Port& port) {
    for (const auto& line : port.odd) {
      out_.unclear("interfaces " + name, render_statement(line));
    }
    SwitchPortState out;
    out.name = name;
    out.description = port.description;
    const Names& places = places_[name];
    const bool bare = !port.routed && !port.switched && places.empty();
    if (port.disabled && bare) {
      out.mode = PortMode::quarantine;
    } else if (!port.disabled && port.routed && !port.switched && places.size() <= 1) {
      out.mode = PortMode::routed;
      out.vrf = places.empty() ? "" : *places.begin();
      out.address = port.address;
    } else if (!port.disabled && port.switched && !port.routed && places.size() == 1) {
      const Instance& instance = all_.instances[*places.begin()];
      for (const auto& [vlan_name, vlan] : instance.vlans) {
        const Names both = {vlan_name, std::to_string(vlan.id)};
        const bool member = port.members.size() == 1 && both.contains(*port.members.begin());
        if (member) out.vlan = vlan.id;
      }
      out.mode = PortMode::access;
    }
    const bool whole = out.mode != PortMode::access || out.vlan != 0;
    if ((out.mode == PortMode::quarantine && !(port.disabled && bare)) || !whole) {
      // In no state of ours, so not in `own`: a change brings it to a known state first.
      if (!bare) out_.unclear("interfaces " + name, "half way between two states");
      return;
    }
    out_.state().ports.push_back(std::move(out));
  }

  // ----- others' statements

  bool is_of_ours(const Statement& line) const {
    if (starts(line, {"routing-instances"}) && line.size() >= 2) {
      const auto found = all_.instances.find(line[1]);
      return found != all_.instances.end() &&
             (is_our_vrf(line[1], found->second) || our_vlan(found->second));
    }
    if (starts(line, {"policy-options"})) return true;  // harmless until an instance uses it
    return false;
  }

  /// Static routes, table groups and the like that name one of our VRFs or its tables.
  void reach_in(const Statement& line) {
    if (is_of_ours(line)) return;
    for (const auto& word : line) {
      const std::string head = word.substr(0, word.find('.'));
      if (!out_.is_our_vrf(head)) continue;
      return out_.unclear("", render_statement(line));
    }
  }

  void inactive(const Statement& line) {
    const bool vrf = line.size() >= 2 && line[0] == "routing-instances" && out_.is_our_vrf(line[1]);
    const bool port = line.size() >= 2 && line[0] == "interfaces" && out_.is_our_port(line[1]);
    const bool acl = line.size() >= 5 && line[0] == "firewall" && out_.is_our_acl(line[4]);
    if (vrf || port || acl || is_of_ours(line)) {
      if (line[0] != "policy-options" || line.size() < 3 || used_policy(line[2])) {
        out_.unclear("inactive", render_statement(line));
      }
    }
  }

  bool used_policy(const std::string& name) const {
    return std::ranges::any_of(all_.instances, [&](const auto& entry) {
      const auto& [instance_name, instance] = entry;
      if (!is_our_vrf(instance_name, instance) && !our_vlan(instance)) return false;
      const auto& in = instance.import_policies;
      const auto& out = instance.export_policies;
      return std::find(in.begin(), in.end(), name) != in.end() ||
             std::find(out.begin(), out.end(), name) != out.end();
    });
  }

  Collected all_;
  LineReader out_;
  std::map<std::string, Names> places_;
};

}  // namespace

SwitchSeen read_config(const Statements& config, const SwitchOwnership& ownership) {
  SwitchSeen out = Reader(collect(config, ownership), ownership).run(config);
  compare_hand(config, out);
  return out;
}

}  // namespace tundish::switches::juniper
