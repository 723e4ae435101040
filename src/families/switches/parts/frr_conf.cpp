#include "families/switches/parts/frr_conf.hpp"

#include <algorithm>

#include "families/switches/parts/changes.hpp"
#include "families/switches/parts/words.hpp"

namespace tundish::switches {
namespace {

constexpr const char* evpn = " address-family l2vpn evpn\n";
constexpr const char* ipv4 = " address-family ipv4 unicast\n";
constexpr const char* end_family = " exit-address-family\n";

std::string router_bgp(const SwitchState& state, const std::string& vrf = "") {
  return "router bgp " + std::to_string(state.asn) + (vrf.empty() ? "" : " vrf " + vrf) + "\n";
}

std::string list_name(const VrfState& vrf, const LeakState& leak) {
  return vrf.name + "-FROM-" + leak.from_vrf;
}
std::string map_name(const VrfState& vrf) { return vrf.name + "-LEAK"; }

std::string targets(const std::string& indent, const std::vector<std::string>& imports,
                    const std::vector<std::string>& exports) {
  std::string out;
  for (const auto& target : imports) out += indent + "route-target import " + target + "\n";
  for (const auto& target : exports) out += indent + "route-target export " + target + "\n";
  return out;
}

/// New ones first within each list, so that no list is ever empty.
std::string target_changes(const std::string& indent, const char* way,
                           const std::vector<std::string>& from,
                           const std::vector<std::string>& to) {
  std::string out;
  for (const auto& target : missing_in(to, from)) {
    out += indent + "route-target " + way + " " + target + "\n";
  }
  for (const auto& target : missing_in(from, to)) {
    out += indent + "no route-target " + way + " " + target + "\n";
  }
  return out;
}

std::string vni_lines(const SegmentState& segment) {
  return "  vni " + std::to_string(segment.l2vni) + "\n   rd " + segment.rd + "\n" +
         targets("   ", segment.import_targets, segment.export_targets) + "  exit-vni\n";
}

std::string in_default_evpn(const SwitchState& state, const std::string& lines) {
  return router_bgp(state) + evpn + lines + end_family + "exit\n";
}

std::string in_vrf_evpn(const SwitchState& state, const std::string& vrf,
                        const std::string& lines) {
  return router_bgp(state, vrf) + evpn + lines + end_family + "exit\n";
}

std::string permit_lines(const VrfState& vrf, const LeakState& leak) {
  std::string out;
  int sequence = 5;
  for (const auto& prefix : leak.prefixes) {
    out += "ip prefix-list " + list_name(vrf, leak) + " seq " + std::to_string(sequence) +
           " permit " + prefix + (prefix.ends_with("/32") ? "\n" : " le 32\n");
    sequence += 5;
  }
  return out;
}

/// The number of the source is the sequence: a leak that comes or goes moves no other.
std::string map_line(const VrfState& vrf, const LeakState& leak) {
  return "route-map " + map_name(vrf) + " permit " + std::to_string(vrf_id_of(leak.from_vrf)) +
         "\n";
}

std::string map_lines(const VrfState& vrf, const LeakState& leak, const FrrDialect& dialect) {
  std::string out =
      map_line(vrf, leak) + " match ip address prefix-list " + list_name(vrf, leak) + "\n";
  if (dialect.leaks == FrrLeaks::import_vrf) out += " match source-vrf " + leak.from_vrf + "\n";
  return out + "exit\n";
}

std::string route_lines(const VrfState& vrf, const LeakState& leak,
                        const std::vector<std::string>& prefixes, const char* no) {
  std::string out;
  const int other = vrf_id_of(leak.from_vrf);
  const std::string_view far = vrf.vrf_id < other ? leak_address_b : leak_address_a;
  for (const auto& prefix : prefixes) {
    out += std::string(" ") + no + "ip route " + prefix + " " + std::string(far) + " " +
           leak_end(vrf.vrf_id, other) + " onlink\n";
  }
  return out;
}

std::string leak_switch(const VrfState& vrf, const FrrDialect& dialect, const char* no) {
  if (dialect.leaks == FrrLeaks::link) {
    return std::string("  ") + no + "redistribute static route-map " + map_name(vrf) + "\n";
  }
  return std::string("  ") + no + "import vrf route-map " + map_name(vrf) + "\n";
}

std::string leak_family(const VrfState& vrf, const FrrDialect& dialect) {
  if (vrf.leaks.empty()) return "";
  std::string out = leak_switch(vrf, dialect, "");
  if (dialect.leaks == FrrLeaks::link) return out;
  for (const auto& leak : vrf.leaks) out += "  import vrf " + leak.from_vrf + "\n";
  return out;
}

std::string host_lines(const std::vector<AddressRoute>& routes, const char* no) {
  std::string out;
  for (const auto& route : routes) {
    out += std::string(" ") + no + "ip route " + route.prefix + " " + route.via + "\n";
  }
  return out;
}

/// A switch tells others of what it is told to, and of no other static route.
std::string network_lines(const std::vector<std::string>& prefixes, const char* no) {
  std::string out;
  for (const auto& prefix : prefixes) out += std::string("  ") + no + "network " + prefix + "\n";
  return out;
}

std::vector<std::string> prefixes_of(const VrfState* vrf) {
  std::vector<std::string> out;
  if (vrf == nullptr) return out;
  for (const auto& route : vrf->routes) out.push_back(route.prefix);
  return out;
}

std::vector<AddressRoute> missing_routes(const std::vector<AddressRoute>& from,
                                         const VrfState* to) {
  std::vector<AddressRoute> out;
  for (const auto& route : from) {
    const bool has = to != nullptr && std::count(to->routes.begin(), to->routes.end(), route) != 0;
    if (!has) out.push_back(route);
  }
  return out;
}

std::string in_vrf(const VrfState& vrf, const std::string& lines) {
  return lines.empty() ? "" : "vrf " + vrf.name + "\n" + lines + "exit-vrf\n";
}

std::string in_vrf_ipv4(const SwitchState& state, const VrfState& vrf, const std::string& lines) {
  if (lines.empty()) return "";
  return router_bgp(state, vrf.name) + ipv4 + lines + end_family + "exit\n";
}

const LeakState* find_leak(const VrfState* vrf, const std::string& from) {
  if (vrf == nullptr) return nullptr;
  for (const auto& leak : vrf->leaks) {
    if (leak.from_vrf == from) return &leak;
  }
  return nullptr;
}

std::string connected_line(const FrrDialect& dialect) {
  return dialect.leaks == FrrLeaks::link ? "  redistribute connected route-map T-CONNECTED\n"
                                         : "  redistribute connected\n";
}

std::string vrf_bgp_block(const SwitchState& state, const VrfState& vrf, const std::string& family,
                          const FrrDialect& dialect) {
  return router_bgp(state, vrf.name) + " bgp router-id " + state.router_id + "\n" + ipv4 +
         connected_line(dialect) + family + end_family + evpn + "  advertise ipv4 unicast\n  rd " +
         vrf.rd + "\n" + targets("  ", vrf.import_targets, vrf.export_targets) + end_family +
         "exit\n";
}

std::string vrf_block(const VrfState& vrf, const std::string& lines) {
  return "vrf " + vrf.name + "\n" + lines + " vni " + std::to_string(vrf.l3vni) + "\nexit-vrf\n";
}

}  // namespace

std::string leak_link(int vrf_id, int other_id) {
  return "lk" + std::to_string(std::min(vrf_id, other_id));
}

std::string leak_end(int vrf_id, int other_id) {
  return leak_link(vrf_id, other_id) + (vrf_id < other_id ? "a" : "b");
}

std::string render_frr_conf(const SwitchState& state, const FrrDialect& dialect) {
  std::string out = router_bgp(state) + " bgp router-id " + state.router_id + "\n" + evpn +
                    "  advertise-all-vni\n";
  for (const auto& segment : state.segments) out += vni_lines(segment);
  out += std::string(end_family) + "exit\n";
  if (!state.vrfs.empty()) out += frr_shared(dialect);
  for (const auto& vrf : state.vrfs) {
    out += "!\n";
    for (const auto& leak : vrf.leaks) out += permit_lines(vrf, leak);
    for (const auto& leak : vrf.leaks) out += map_lines(vrf, leak, dialect);
    std::string routes = host_lines(vrf.routes, "");
    if (dialect.leaks == FrrLeaks::link) {
      for (const auto& leak : vrf.leaks) routes += route_lines(vrf, leak, leak.prefixes, "");
    }
    out += vrf_block(vrf, routes);
    if (dialect.texts == FrrTexts::in_frr && !vrf.description.empty()) out += frr_vrf_text(vrf);
    out += vrf_bgp_block(state, vrf,
                         network_lines(prefixes_of(&vrf), "") + leak_family(vrf, dialect), dialect);
  }
  return out;
}

std::string frr_shared(const FrrDialect& dialect) {
  if (dialect.leaks != FrrLeaks::link) return "";
  return "ip prefix-list T-CONNECTED seq 5 deny 169.254.0.0/16 le 32\n"
         "ip prefix-list T-CONNECTED seq 10 permit 0.0.0.0/0 le 32\n"
         "route-map T-CONNECTED permit 10\n"
         " match ip address prefix-list T-CONNECTED\n"
         "exit\n";
}

std::string frr_no_shared(const FrrDialect& dialect) {
  if (dialect.leaks != FrrLeaks::link) return "";
  return "no route-map T-CONNECTED\nno ip prefix-list T-CONNECTED\n";
}

std::string frr_vrf_bgp(const SwitchState& state, const VrfState& vrf, const FrrDialect& dialect) {
  return vrf_bgp_block(state, vrf, "", dialect);
}

std::string frr_vrf_vni(const VrfState& vrf, const FrrDialect& dialect) {
  const bool text = dialect.texts == FrrTexts::in_frr && !vrf.description.empty();
  return vrf_block(vrf, "") + (text ? frr_vrf_text(vrf) : "");
}

std::string frr_vrf_text(const VrfState& vrf) {
  const std::string line =
      vrf.description.empty() ? " no description\n" : " description " + vrf.description + "\n";
  return "interface " + vrf.name + "\n" + line + "exit\n";
}

std::string frr_vni(const SwitchState& state, const SegmentState& segment) {
  return in_default_evpn(state, vni_lines(segment));
}

std::string frr_new_leaks(const SwitchState& state, const VrfState* from, const VrfState& to,
                          const FrrDialect& dialect) {
  const bool by_link = dialect.leaks == FrrLeaks::link;
  std::string out, routes, family;
  for (const auto& leak : to.leaks) {
    const LeakState* old = find_leak(from, leak.from_vrf);
    if (old != nullptr && *old == leak) continue;
    if (old != nullptr) out += "no ip prefix-list " + list_name(to, leak) + "\n";
    out += permit_lines(to, leak);
    if (old == nullptr) out += map_lines(to, leak, dialect);
    if (by_link) {
      const auto added = old == nullptr ? leak.prefixes : missing_in(leak.prefixes, old->prefixes);
      routes += route_lines(to, leak, added, "");
    } else if (old == nullptr) {
      family += "  import vrf " + leak.from_vrf + "\n";
    }
  }
  const bool first = !to.leaks.empty() && (from == nullptr || from->leaks.empty());
  if (first) family = leak_switch(to, dialect, "") + family;
  return out + in_vrf(to, routes) + in_vrf_ipv4(state, to, family);
}

std::string frr_old_leaks(const SwitchState& state, const VrfState& from, const VrfState* to,
                          const FrrDialect& dialect) {
  const bool by_link = dialect.leaks == FrrLeaks::link;
  std::string lists, routes, family;
  for (const auto& leak : from.leaks) {
    const LeakState* now = find_leak(to, leak.from_vrf);
    if (by_link) {
      const auto gone = now == nullptr ? leak.prefixes : missing_in(leak.prefixes, now->prefixes);
      routes += route_lines(from, leak, gone, "no ");
    }
    if (now != nullptr) continue;
    if (!by_link) family += "  no import vrf " + leak.from_vrf + "\n";
    lists += "no " + map_line(from, leak) + "no ip prefix-list " + list_name(from, leak) + "\n";
  }
  const bool last = !from.leaks.empty() && (to == nullptr || to->leaks.empty());
  if (last) family += by_link ? "  no redistribute static\n" : leak_switch(from, dialect, "no ");
  return in_vrf_ipv4(state, from, family) + in_vrf(from, routes) + lists;
}

std::string frr_new_routes(const SwitchState& state, const VrfState* from, const VrfState& to) {
  return in_vrf(to, host_lines(missing_routes(to.routes, from), "")) +
         in_vrf_ipv4(state, to, network_lines(missing_in(prefixes_of(&to), prefixes_of(from)), ""));
}

std::string frr_old_routes(const SwitchState& state, const VrfState& from, const VrfState* to) {
  return in_vrf_ipv4(state, from,
                     network_lines(missing_in(prefixes_of(&from), prefixes_of(to)), "no ")) +
         in_vrf(from, host_lines(missing_routes(from.routes, to), "no "));
}

std::string frr_no_vrf_vni(const VrfState& vrf) {
  return "vrf " + vrf.name + "\n no vni " + std::to_string(vrf.l3vni) + "\nexit-vrf\n";
}

std::string frr_no_vrf(const SwitchState& state, const VrfState& vrf) {
  return "no " + router_bgp(state, vrf.name) + "no vrf " + vrf.name + "\n";
}

std::string frr_no_vni(const SwitchState& state, const SegmentState& segment) {
  return in_default_evpn(state, "  no vni " + std::to_string(segment.l2vni) + "\n");
}

std::string frr_vrf_targets(const SwitchState& state, const VrfState& from, const VrfState& to) {
  std::string lines = target_changes("  ", "import", from.import_targets, to.import_targets) +
                      target_changes("  ", "export", from.export_targets, to.export_targets);
  if (from.rd != to.rd && !from.rd.empty()) lines += "  no rd " + from.rd + "\n";
  if (from.rd != to.rd) lines += "  rd " + to.rd + "\n";
  return lines.empty() ? "" : in_vrf_evpn(state, to.name, lines);
}

std::string frr_vni_targets(const SwitchState& state, const SegmentState& from,
                            const SegmentState& to) {
  std::string lines = target_changes("   ", "import", from.import_targets, to.import_targets) +
                      target_changes("   ", "export", from.export_targets, to.export_targets);
  if (from.rd != to.rd && !from.rd.empty()) lines += "   no rd " + from.rd + "\n";
  if (from.rd != to.rd) lines += "   rd " + to.rd + "\n";
  if (lines.empty()) return "";
  return in_default_evpn(state,
                         "  vni " + std::to_string(to.l2vni) + "\n" + lines + "  exit-vni\n");
}

std::string frr_vrf_revoke(const SwitchState& state, const VrfState& vrf) {
  return in_vrf_evpn(state, vrf.name,
                     target_changes("  ", "import", vrf.import_targets, {target_of_nobody}));
}

std::string frr_vni_revoke(const SwitchState& state, const SegmentState& segment) {
  return in_default_evpn(
      state, "  vni " + std::to_string(segment.l2vni) + "\n" +
                 target_changes("   ", "import", segment.import_targets, {target_of_nobody}) +
                 "  exit-vni\n");
}

}  // namespace tundish::switches
