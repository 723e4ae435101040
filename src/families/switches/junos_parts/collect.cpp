#include "families/switches/junos_parts/collect.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "families/switches/parts/addresses.hpp"
#include "families/switches/parts/line_reader.hpp"

namespace tundish::switches::juniper {
namespace {

/// `target:65000:50010` as 65000:50010; empty for anything else.
std::string bare_target(const std::string& word) {
  constexpr std::string_view mark = "target:";
  return word.starts_with(mark) ? word.substr(mark.size()) : "";
}

class Collector {
 public:
  explicit Collector(const SwitchOwnership& ownership) : ownership_(ownership) {}

  Collected run(const Statements& config) {
    for (const auto& line : config.lines) put(line);
    return std::move(out_);
  }

 private:
  void put(const Statement& line) {
    if (starts(line, {"routing-instances"}) && line.size() >= 2) return put_instance(line);
    if (starts(line, {"policy-options", "community"}) && line.size() == 5 && line[3] == "members") {
      out_.communities[line[2]].insert(bare_target(line[4]));
      return;
    }
    if (starts(line, {"policy-options", "policy-statement"}) && line.size() >= 4) {
      return put_policy(out_.policies[line[2]], rest(line, 3));
    }
    if (starts(line, {"firewall", "family", "inet", "filter"}) && line.size() >= 5) {
      out_.filters[line[4]].push_back(rest(line, 5));
      return;
    }
    if (starts(line, {"interfaces"}) && line.size() >= 2) return put_interface(line);
    if (starts(line,
               {"groups", std::string(gateway_group), "interfaces", "irb", "unit", "<*>", "mac"}) &&
        line.size() == 8) {
      out_.group_mac = read_mac(line[7]).value_or("");
    } else if (starts(line, {"routing-options", "router-id"}) && line.size() == 3) {
      out_.router_id = line[2];
    } else if (starts(line, {"routing-options", "autonomous-system"}) && line.size() >= 3) {
      out_.asn = read_asn(line[2]);
    } else if (starts(line, {"vlans"}) && line.size() >= 4) {
      if (line[2] == "vlan-id")
        out_.foreign_vlans.insert(read_number(line[3], 1, 4094).value_or(1));
      if (line[2] == "vxlan" && line.size() == 5) {
        out_.foreign_vnis.insert(read_number(line[4], 1, vni_max).value_or(1));
      }
    }
  }

  void put_instance(const Statement& line) {
    Instance& at = out_.instances[line[1]];
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
    } else if (is({"routing-options", "static", "route"}, 6) && more[4] == "next-hop" &&
               more[3].ends_with("/32")) {
      at.routes.push_back({more[3], more[5]});
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
      return put_unit(out_.units[read_number(more[1], 0, 4094).value_or(0)], rest(more, 2));
    }
    if (name == "lo0" && starts(more, {"unit", "0", "family", "inet", "address"}) &&
        more.size() >= 6) {
      const auto address = parse_prefix4(more[5]);
      const bool primary = more.size() == 7 && more[6] == "primary";
      if (address && address->length == 32 && (out_.vtep_address.empty() || primary)) {
        out_.vtep_address = render_ipv4(address->address);
      }
    }
    const auto& ours = ownership_.ports;
    if (std::find(ours.begin(), ours.end(), name) == ours.end() || more.empty()) return;
    put_port(out_.ports[name], more);
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

  static void put_port(Port& port, const Statement& more) {
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
        port.odd.push_back(more);
      }
    } else if (starts(inside, {"inet"})) {
      port.routed = true;
      if (starts(inside, {"inet", "address"}) && inside.size() == 3 && port.address.empty()) {
        port.address = inside[2];
      } else if (inside.size() > 1 && inside != Statement{"inet", "mtu", "9000"}) {
        port.odd.push_back(more);
      }
    } else if (!(more.size() == 2 && more[0] == "mtu")) {
      port.odd.push_back(more);
    }
  }

  const SwitchOwnership& ownership_;
  Collected out_;
};

}  // namespace

bool starts(const Statement& line, const Statement& head) {
  return line.size() >= head.size() && std::equal(head.begin(), head.end(), line.begin());
}

Statement rest(const Statement& line, std::size_t from) {
  return {line.begin() + static_cast<std::ptrdiff_t>(std::min(from, line.size())), line.end()};
}

Collected collect(const Statements& config, const SwitchOwnership& ownership) {
  return Collector(ownership).run(config);
}

}  // namespace tundish::switches::juniper
