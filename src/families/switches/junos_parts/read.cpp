// First every statement is put with its instance, policy or interface; then our objects are read
// off what was put together.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/text.hpp"
#include "families/switches/junos_parts/parts.hpp"
#include "families/switches/parts/addresses.hpp"
#include "families/switches/parts/line_reader.hpp"

namespace tundish::switches::juniper {
namespace {

using Names = std::set<std::string>;

constexpr int vni_max = 16777215;

bool starts(const Statement& line, const Statement& head) {
  return line.size() >= head.size() && std::equal(head.begin(), head.end(), line.begin());
}

Statement rest(const Statement& line, std::size_t from) {
  return {line.begin() + static_cast<std::ptrdiff_t>(std::min(from, line.size())), line.end()};
}

/// `target:65000:50010` as 65000:50010; empty for anything else.
std::string bare_target(const std::string& word) {
  constexpr std::string_view mark = "target:";
  return word.starts_with(mark) ? word.substr(mark.size()) : "";
}

struct Vlan {
  int id = 0, vni = 0;
};

struct Instance {
  std::string type, rd, description;
  Names imports, exports;  ///< by vrf-target
  std::vector<std::string> import_policies, export_policies;
  Names interfaces;
  std::map<std::string, Vlan> vlans;
  int vni = 0, routing_vni = 0;
  std::vector<Statement> others;
};

struct Term {
  Names communities, prefixes;
  std::string action;
  bool odd = false;
};

struct Policy {
  std::map<std::string, Term> terms;
  Names added;
  std::string action;
  bool odd = false;
};

struct Unit {
  std::string mac, acl, address;
  int mtu = 1500;
  bool grouped = false;
  std::vector<Statement> others;
};

struct Port {
  std::string description, address;
  bool disabled = false, routed = false, switched = false, odd = false;
  Names members;
  bool seen = false;
};

class Reader {
 public:
  explicit Reader(const SwitchOwnership& ownership) : out_(ownership) {}

  SwitchSeen run(const Statements& config) {
    out_.state().anycast_mac.clear();
    for (const auto& line : config.lines) put(line);
    for (const auto& [name, instance] : instances_) settle(name, instance);
    for (const auto& [name, instance] : instances_) settle_members(name, instance);
    for (const auto& [name, instance] : instances_) {
      if (is_our_vrf(name, instance)) settle_targets(name, instance);
    }
    out_.state().anycast_mac = group_mac_;
    for (const auto& [unit, irb] : units_) settle_unit(unit, irb);
    for (const auto& [name, port] : ports_) settle_port(name, port);
    for (const auto& [name, lines] : filters_) {
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
  void put(const Statement& line) {
    if (starts(line, {"routing-instances"}) && line.size() >= 2) return put_instance(line);
    if (starts(line, {"policy-options", "community"}) && line.size() == 5 && line[3] == "members") {
      communities_[line[2]].insert(bare_target(line[4]));
      return;
    }
    if (starts(line, {"policy-options", "policy-statement"}) && line.size() >= 4) {
      return put_policy(policies_[line[2]], rest(line, 3));
    }
    if (starts(line, {"firewall", "family", "inet", "filter"}) && line.size() >= 5) {
      filters_[line[4]].push_back(rest(line, 5));
      return;
    }
    if (starts(line, {"interfaces"}) && line.size() >= 2) return put_interface(line);
    if (starts(line,
               {"groups", std::string(gateway_group), "interfaces", "irb", "unit", "<*>", "mac"}) &&
        line.size() == 8) {
      group_mac_ = read_mac(line[7]).value_or("");
    } else if (starts(line, {"routing-options", "router-id"}) && line.size() == 3) {
      out_.state().router_id = line[2];
    } else if (starts(line, {"routing-options", "autonomous-system"}) && line.size() >= 3) {
      out_.state().asn = read_asn(line[2]);
    } else if (starts(line, {"vlans"}) && line.size() >= 4) {
      if (line[2] == "vlan-id") out_.note_vlan(read_number(line[3], 1, 4094).value_or(1));
      if (line[2] == "vxlan" && line.size() == 5) {
        out_.note_vni(read_number(line[4], 1, vni_max).value_or(1));
      }
    }
  }

  void put_instance(const Statement& line) {
    Instance& at = instances_[line[1]];
    const Statement more = rest(line, 2);
    const auto is = [&](const Statement& head, std::size_t size) {
      return more.size() == size && starts(more, head);
    };
    if (is({"instance-type"}, 2))
      at.type = more[1];
    else if (is({"route-distinguisher"}, 2))
      at.rd = more[1];
    else if (is({"description"}, 2))
      at.description = more[1];
    else if (is({"vrf-target"}, 2)) {
      at.imports.insert(bare_target(more[1]));
      at.exports.insert(bare_target(more[1]));
    } else if (is({"vrf-target", "import"}, 3))
      at.imports.insert(bare_target(more[2]));
    else if (is({"vrf-target", "export"}, 3))
      at.exports.insert(bare_target(more[2]));
    else if (is({"vrf-import"}, 2))
      at.import_policies.push_back(more[1]);
    else if (is({"vrf-export"}, 2))
      at.export_policies.push_back(more[1]);
    else if (is({"interface"}, 2))
      at.interfaces.insert(more[1]);
    else if (is({"protocols", "evpn", "ip-prefix-routes", "vni"}, 5)) {
      at.vni = read_number(more[4], 1, vni_max).value_or(0);
    } else if (is({"protocols", "evpn", "irb-symmetric-routing", "vni"}, 5)) {
      at.routing_vni = read_number(more[4], 1, vni_max).value_or(0);
    } else if (starts(more, {"vlans"}) && more.size() >= 4) {
      put_vlan(at, more);
    } else if (!more.empty()) {
      at.others.push_back(more);
    }
  }

  static void put_vlan(Instance& at, const Statement& more) {
    Vlan& vlan = at.vlans[more[1]];
    if (more[2] == "vlan-id" && more.size() == 4) {
      vlan.id = read_number(more[3], 1, 4094).value_or(0);
    } else if (more[2] == "vxlan" && more.size() == 5 && more[3] == "vni") {
      vlan.vni = read_number(more[4], 1, vni_max).value_or(0);
    } else if (more[2] == "l3-interface" && more.size() == 4) {
      at.interfaces.insert("l3 " + more[1] + " " + more[3]);
    } else if (more[2] == "interface" && more.size() == 4) {
      at.interfaces.insert(more[3]);
    } else if (more[2] != "description") {
      at.others.push_back(more);
    }
  }

  static void put_policy(Policy& policy, const Statement& line) {
    if (starts(line, {"term"}) && line.size() >= 4) {
      Term& term = policy.terms[line[1]];
      const Statement more = rest(line, 2);
      if (more[0] == "from" && more.size() == 3 && more[1] == "community") {
        term.communities.insert(more[2]);
      } else if (more[0] == "from" && more.size() == 4 && more[1] == "route-filter" &&
                 (more[3] == "orlonger" || (more[3] == "exact" && more[2].ends_with("/32")))) {
        term.prefixes.insert(more[2]);
      } else if (more[0] == "then" && more.size() == 4 && more[1] == "community" &&
                 more[2] == "add") {
        policy.added.insert(more[3]);
      } else if (more[0] == "then" && more.size() == 2) {
        term.action = more[1];
      } else {
        term.odd = true;
      }
      return;
    }
    if (line[0] == "then" && line.size() == 4 && line[1] == "community" && line[2] == "add") {
      policy.added.insert(line[3]);
    } else if (line[0] == "then" && line.size() == 2) {
      policy.action = line[1];
    } else {
      policy.odd = true;
    }
  }

  void put_interface(const Statement& line) {
    const std::string& name = line[1];
    const Statement more = rest(line, 2);
    if (name == "irb" && more.size() >= 3 && more[0] == "unit") {
      return put_unit(units_[read_number(more[1], 0, 4094).value_or(0)], rest(more, 2));
    }
    if (name == "lo0" && starts(more, {"unit", "0", "family", "inet", "address"}) &&
        more.size() >= 6) {
      const auto address = parse_prefix4(more[5]);
      const bool primary = more.size() == 7 && more[6] == "primary";
      if (address && (out_.state().vtep_address.empty() || primary)) {
        out_.state().vtep_address = render_ipv4(address->address);
      }
    }
    if (!out_.is_our_port(name) || more.empty()) return;
    put_port(ports_[name], name, more);
  }

  static void put_unit(Unit& unit, const Statement& more) {
    if (more.size() == 2 && more[0] == "mac") {
      unit.mac = read_mac(more[1]).value_or("");
    } else if (more.size() == 2 && more[0] == "apply-groups" && more[1] == gateway_group) {
      unit.grouped = true;
    } else if (starts(more, {"family", "inet", "mtu"}) && more.size() == 4) {
      unit.mtu = read_number(more[3], 68, 65535).value_or(0);
    } else if (starts(more, {"family", "inet", "filter", "input"}) && more.size() == 5) {
      unit.acl = more[4];
    } else if (starts(more, {"family", "inet", "address"}) && more.size() == 4 &&
               unit.address.empty()) {
      unit.address = more[3];
    } else if (more != Statement{"family", "inet"} && more[0] != "description") {
      unit.others.push_back(more);
    }
  }

  void put_port(Port& port, const std::string& name, const Statement& more) {
    port.seen = true;
    const Statement inside = starts(more, {"unit", "0", "family"}) ? rest(more, 3) : Statement{};
    if (more.size() == 2 && more[0] == "description") {
      port.description = more[1];
    } else if (more == Statement{"disable"}) {
      port.disabled = true;
    } else if (starts(inside, {"ethernet-switching"})) {
      port.switched = true;
      if (starts(inside, {"ethernet-switching", "vlan", "members"}) && inside.size() == 4) {
        port.members.insert(inside[3]);
      } else if (inside.size() > 1 &&
                 inside != Statement{"ethernet-switching", "interface-mode", "access"}) {
        odd_port(port, name, more);
      }
    } else if (starts(inside, {"inet"})) {
      port.routed = true;
      if (starts(inside, {"inet", "address"}) && inside.size() == 3 && port.address.empty()) {
        port.address = inside[2];
      } else if (inside.size() > 1 && inside != Statement{"inet", "mtu", "9000"}) {
        odd_port(port, name, more);
      }
    } else if (!(more.size() == 2 && more[0] == "mtu")) {
      odd_port(port, name, more);
    }
  }

  void odd_port(Port& port, const std::string& name, const Statement& more) {
    port.odd = true;
    out_.unclear("interfaces " + name, render_statement(more));
  }

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
      const auto found = communities_.find(name);
      // A route must have all members of one community: only one of them makes it a target.
      if (found == communities_.end() || found->second.size() != 1 ||
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
      const Policy& has = policies_[policy];
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
      const Policy& has = policies_[policy];
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
    const std::string mac = unit.grouped ? group_mac_ : unit.mac;
    std::string& known = out_.state().anycast_mac;
    if (!mac.empty() && known.empty()) known = mac;
    if (mac != known) out_.unclear(place, "mac '" + mac + "' is not that of the other gateways");
    for (const auto& line : unit.others) out_.unclear(place, render_statement(line));
  }

  void settle_port(const std::string& name, const Port& port) {
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
      const Instance& instance = instances_[*places.begin()];
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
      const auto found = instances_.find(line[1]);
      return found != instances_.end() &&
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
    return std::ranges::any_of(instances_, [&](const auto& entry) {
      const auto& [instance_name, instance] = entry;
      if (!is_our_vrf(instance_name, instance) && !our_vlan(instance)) return false;
      const auto& in = instance.import_policies;
      const auto& out = instance.export_policies;
      return std::find(in.begin(), in.end(), name) != in.end() ||
             std::find(out.begin(), out.end(), name) != out.end();
    });
  }

  LineReader out_;
  std::map<std::string, Instance> instances_;
  std::map<std::string, Names> communities_;
  std::map<std::string, Policy> policies_;
  std::map<std::string, std::vector<Statement>> filters_;
  std::map<int, Unit> units_;
  std::map<std::string, Port> ports_;
  std::map<std::string, Names> places_;
  std::string group_mac_;
};

}  // namespace

SwitchSeen read_config(const Statements& config, const SwitchOwnership& ownership) {
  return Reader(ownership).run(config);
}

}  // namespace tundish::switches::juniper
