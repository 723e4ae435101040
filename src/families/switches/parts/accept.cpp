#include "families/switches/parts/accept.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "families/switches/parts/addresses.hpp"

namespace tundish::switches {
namespace {

// Source: IEEE 802.1Q-2018, table 9-2 (VLAN 0 and 4095 reserved, 1 is the default); checked
// 2026-11.
constexpr int vlan_min = 2, vlan_max = 4094;
// Source: RFC 7348, section 5 (24-bit VNI; 0 is not used); checked 2026-11.
constexpr int vni_max = 16777215;
constexpr int number_max = 65535;  // of a type 1 route distinguisher
// Source: RFC 791 (least MTU of IPv4) and facts/cloud.md 3.2 (9216 less 54); checked 2026-11.
constexpr int mtu_min = 576, mtu_max = 9162;

bool within(int value, int from, int to) { return value >= from && value <= to; }

Result<> accept_vlan(const std::string& object, int vlan, const SwitchCapabilities& capabilities) {
  if (!within(vlan, vlan_min, vlan_max)) {
    return refuse(object, "VLAN " + std::to_string(vlan) + " does not exist", "use 2..4094");
  }
  for (const auto& [from, to] : capabilities.reserved_vlans) {
    if (!within(vlan, from, to)) continue;
    const std::string range = std::to_string(from) + ".." + std::to_string(to);
    return refuse(object, "VLAN " + std::to_string(vlan) + " is reserved by this vendor",
                  "use a VLAN outside " + range);
  }
  return {};
}

Result<> accept_targets(const std::string& object, const std::vector<std::string>& targets) {
  const std::string remedy = "use AS:number with a 2-byte AS, for example 65000:50010";
  // An empty list would let the vendor derive targets, which match other tenants' (cloud.md 3.2).
  if (targets.empty()) return refuse(object, "a list of route targets is empty", remedy);
  for (std::size_t at = 0; at < targets.size(); ++at) {
    if (!is_route_target(targets[at])) {
      return refuse(object, "route target " + targets[at] + " is not of the form", remedy);
    }
    if (at > 0 && targets[at - 1] >= targets[at]) {
      return refuse(object, "route targets are not sorted or not unique", "call sort_state");
    }
  }
  return {};
}

Result<> accept_rd(const std::string& object, const std::string& rd) {
  if (is_route_distinguisher(rd)) return {};
  return refuse(object, "route distinguisher '" + rd + "' is not of the form",
                "use router-id:number with a number of at most 65535");
}

class Accepter {
 public:
  Accepter(const SwitchState& state, const SwitchCapabilities& capabilities)
      : state_(state), capabilities_(capabilities) {}

  Result<> run() {
    TRY_VOID(declared());
    for (const auto& vrf : state_.vrfs) TRY_VOID(accept(vrf));
    for (const auto& acl : state_.acls) TRY_VOID(accept(acl));
    for (const auto& segment : state_.segments) TRY_VOID(accept(segment));
    for (const auto& port : state_.ports) TRY_VOID(accept(port));
    for (const auto& vrf : state_.vrfs) {
      TRY_VOID(accept_leaks(vrf));
      TRY_VOID(accept_routes(vrf));
    }
    return {};
  }

 private:
  Result<> declared() {
    if (state_.asn < 1 || state_.asn > 4294967295) {
      return refuse("switch", "AS number " + std::to_string(state_.asn) + " does not exist",
                    "declare 1..4294967295");
    }
    for (const auto* address : {&state_.router_id, &state_.vtep_address}) {
      if (!parse_ipv4(*address) || *address == "0.0.0.0") {
        return refuse("switch", "router_id or vtep_address '" + *address + "' is no IPv4 address",
                      "declare both");
      }
    }
    if (is_unicast_mac(state_.anycast_mac)) return {};
    return refuse("switch", "anycast_mac '" + state_.anycast_mac + "' is no unicast address",
                  "use six lower-case octets, for example 00:00:5e:00:01:10");
  }

  Result<> accept(const VrfState& vrf) {
    const std::string object = "vrf/" + vrf.name;
    const auto limit = static_cast<std::size_t>(capabilities_.vrf_name_limit);
    if (!is_plain_name(vrf.name, limit)) {
      return refuse(object, "this vendor cannot hold the name",
                    "use letters, digits, - and _, at most " + std::to_string(limit));
    }
    if (!take(vrf_names_, vrf.name)) return twice(object, "name");
    // vrf_id is read back from the name: it is written nowhere else.
    const std::string digits = std::to_string(100000 + vrf.vrf_id).substr(1);
    if (!within(vrf.vrf_id, 1, number_max) || !vrf.name.ends_with(digits)) {
      return refuse(object, "the name does not end with vrf_id " + std::to_string(vrf.vrf_id),
                    "use 1..65535 and five digits, for example Vrf00010");
    }
    if (!within(vrf.l3vni, 1, vni_max)) {
      return refuse(object, "VNI " + std::to_string(vrf.l3vni) + " does not exist",
                    "use 1..16777215");
    }
    if (!take(vnis_, vrf.l3vni)) return twice(object, "VNI " + std::to_string(vrf.l3vni));
    if (capabilities_.needs_l3vlan) {
      TRY_VOID(accept_vlan(object, vrf.l3vlan, capabilities_));
      if (!take(vlans_, vrf.l3vlan)) return twice(object, "VLAN " + std::to_string(vrf.l3vlan));
    } else if (vrf.l3vlan != 0) {
      return refuse(object, "l3vlan is set, but this vendor needs none", "leave it 0");
    }
    if (!is_plain_text(vrf.description, 200)) return bad_text(object);
    TRY_VOID(accept_rd(object, vrf.rd));
    if (!take(vrf_rds_, vrf.rd)) return twice(object, "route distinguisher " + vrf.rd);
    TRY_VOID(accept_targets(object, vrf.import_targets));
    return accept_targets(object, vrf.export_targets);
  }

  Result<> accept(const SegmentState& segment) {
    const std::string object = "segment/vlan " + std::to_string(segment.vlan);
    TRY_VOID(accept_vlan(object, segment.vlan, capabilities_));
    if (!take(vlans_, segment.vlan)) return twice(object, "VLAN");
    if (!within(segment.l2vni, 1, vni_max)) {
      return refuse(object, "VNI " + std::to_string(segment.l2vni) + " does not exist",
                    "use 1..16777215");
    }
    if (!take(vnis_, segment.l2vni)) return twice(object, "VNI " + std::to_string(segment.l2vni));
    if (!vrf_names_.contains(segment.vrf)) return no_vrf(object, segment.vrf);
    TRY_VOID(accept_rd(object, segment.rd));
    if (!take(segment_rds_, segment.rd)) return twice(object, "route distinguisher " + segment.rd);
    TRY_VOID(accept_targets(object, segment.import_targets));
    TRY_VOID(accept_targets(object, segment.export_targets));
    if (!within(segment.mtu, mtu_min, mtu_max)) {
      return refuse(object, "MTU " + std::to_string(segment.mtu) + " cannot be carried",
                    "use 576..9162: the underlay of 9216 carries 54 bytes more");
    }
    if (!segment.acl_in.empty() && !acl_names_.contains(segment.acl_in)) {
      return refuse(object, "there is no access list " + segment.acl_in, "add it to acls");
    }
    if (segment.gateway.empty()) return {};
    const auto gateway = parse_prefix4(segment.gateway);
    if (!gateway || !within(gateway->length, 8, 30) || gateway->network() == gateway->address) {
      return refuse(object, "gateway '" + segment.gateway + "' is no address of a subnet",
                    "use an address with a length of 8..30, for example 10.10.0.1/24");
    }
    return claim_prefix(object, segment.vrf, *gateway);
  }

  Result<> accept(const SwitchPortState& port) {
    const std::string object = "port/" + port.name;
    if (!take(port_names_, port.name)) return twice(object, "port");
    if (port.name.empty() || port.name.find_first_of(" \t\"'|;") != std::string::npos) {
      return refuse(object, "this is no name of a port", "write it as the vendor does");
    }
    if (!is_plain_text(port.description, 200)) return bad_text(object);
    const bool access = port.mode == PortMode::access, routed = port.mode == PortMode::routed;
    if ((!access && port.vlan != 0) || (!routed && !(port.vrf.empty() && port.address.empty()))) {
      return refuse(object, "it has fields of another mode", "clear vlan, vrf or address");
    }
    if (access && find_segment(state_, port.vlan) == nullptr) {
      return refuse(object, "there is no segment on VLAN " + std::to_string(port.vlan),
                    "add the segment to the same switch");
    }
    if (!routed) return {};
    if (!vrf_names_.contains(port.vrf)) return no_vrf(object, port.vrf);
    const auto address = parse_prefix4(port.address);
    if (!address || !within(address->length, 8, 31)) {
      return refuse(object, "address '" + port.address + "' is no address of a link",
                    "use an address with a length of 8..31, for example 10.1.0.0/31");
    }
    return claim_prefix(object, port.vrf, *address);
  }

  Result<> accept(const AclState& acl) {
    const std::string object = "acl/" + acl.name;
    const auto limit = static_cast<std::size_t>(capabilities_.acl_name_limit);
    if (!is_plain_name(acl.name, limit)) {
      return refuse(object, "this vendor cannot hold the name",
                    "use letters, digits, - and _, at most " + std::to_string(limit));
    }
    if (!take(acl_names_, acl.name)) return twice(object, "name");
    int last = 0;
    for (const auto& rule : acl.rules) {
      TRY_VOID(accept_rule(object + " rule " + std::to_string(rule.sequence), rule));
      if (rule.sequence <= last) return refuse(object, "sequences do not rise", "call sort_state");
      last = rule.sequence;
    }
    return {};
  }

  Result<> accept_rule(const std::string& object, const AclRule& rule) {
    if (!within(rule.sequence, 1, 9999)) {
      return refuse(object, "sequence is out of range", "use 1..9999");
    }
    static const std::set<std::string> protocols{"ip", "tcp", "udp", "icmp"};
    if (!protocols.contains(rule.protocol)) {
      return refuse(object, "protocol " + rule.protocol + " is not known",
                    "use ip, tcp, udp or icmp");
    }
    for (const auto* prefix : {&rule.source, &rule.destination}) {
      if (!prefix->empty() && !parse_network4(*prefix)) {
        return refuse(object, "'" + *prefix + "' is no prefix", "write for example 10.10.0.0/24");
      }
    }
    const bool has_ports = rule.port_from != 0 || rule.port_to != 0;
    if (!has_ports) return {};
    if (rule.protocol != "tcp" && rule.protocol != "udp") {
      return refuse(object, "only tcp and udp have ports", "clear the ports");
    }
    const bool is_range = within(rule.port_from, 1, 65535) &&
                          (rule.port_to == 0 || within(rule.port_to, rule.port_from + 1, 65535));
    if (is_range) return {};
    return refuse(object, "the ports are no range", "use port_to 0 for one port");
  }

  Result<> accept_leaks(const VrfState& vrf) {
    const std::string object = "vrf/" + vrf.name;
    std::string last;
    for (const auto& leak : vrf.leaks) {
      if (!vrf_names_.contains(leak.from_vrf)) return no_vrf(object, leak.from_vrf);
      if (leak.from_vrf == vrf.name || leak.from_vrf <= last) {
        return refuse(object, "leaks are not sorted, not unique or from itself", "call sort_state");
      }
      last = leak.from_vrf;
      if (leak.prefixes.empty()) {
        return refuse(object, "a leak from " + leak.from_vrf + " names no prefix",
                      "name the prefixes: an open leak would join two networks");
      }
      if (!std::is_sorted(leak.prefixes.begin(), leak.prefixes.end())) {
        return refuse(object, "prefixes of a leak are not sorted", "call sort_state");
      }
      for (const auto& text : leak.prefixes) TRY_VOID(accept_leaked(object, vrf, leak, text));
    }
    return {};
  }

  Result<> accept_routes(const VrfState& vrf) {
    const std::string object = "vrf/" + vrf.name;
    if (!vrf.routes.empty() && !capabilities_.address_routes) {
      return refuse(object, "this vendor's item writes no routes to single addresses",
                    "give the cluster no storage, or put its nodes on another kind of switch");
    }
    std::string last;
    for (const auto& route : vrf.routes) {
      const auto prefix = parse_network4(route.prefix);
      if (!prefix || prefix->length != 32 || !parse_ipv4(route.via)) {
        return refuse(object, "'" + route.prefix + " via " + route.via + "' is no host route",
                      "write 100.64.0.5/32 and the address of its node");
      }
      if (route.prefix <= last) {
        return refuse(object, "host routes are not sorted or not unique", "call sort_state");
      }
      last = route.prefix;
      if (!in_segment(vrf, route.via)) {
        return refuse(object, "no segment of the VRF holds " + route.via,
                      "route to an address behind a gateway of this switch");
      }
      TRY_VOID(claim_prefix(object, vrf.name, *prefix));
    }
    return {};
  }

  bool in_segment(const VrfState& vrf, const std::string& address) const {
    const auto at = parse_prefix4(address + "/32");
    return std::any_of(state_.segments.begin(), state_.segments.end(), [&](const auto& segment) {
      const auto net = parse_prefix4(segment.gateway);
      return segment.vrf == vrf.name && net && at && net->overlaps(*at);
    });
  }

  Result<> accept_leaked(const std::string& object, const VrfState& vrf, const LeakState& leak,
                         const std::string& text) {
    const auto prefix = parse_network4(text);
    if (!prefix || prefix->length < 8) {
      return refuse(object, "'" + text + "' is no prefix of at least /8",
                    "write for example 10.200.0.0/24");
    }
    TRY_VOID(claim_prefix(object, vrf.name, *prefix));
    if (capabilities_.transitive_leak) return {};
    for (const auto& further : find_vrf(state_, leak.from_vrf)->leaks) {
      for (const auto& theirs : further.prefixes) {
        const auto other = parse_network4(theirs);
        if (!other || !other->overlaps(*prefix)) continue;
        return refuse(object,
                      "this vendor does not leak again what " + leak.from_vrf +
                          " already got from " + further.from_vrf + " (" + theirs + ")",
                      "leak " + text + " from " + further.from_vrf + " itself");
      }
    }
    return {};
  }

  /// Nothing within one VRF may overlap: I14.
  Result<> claim_prefix(const std::string& object, const std::string& vrf, const Prefix4& prefix) {
    for (const auto& [other, owner] : prefixes_[vrf]) {
      if (!other.overlaps(prefix)) continue;
      return refuse(object,
                    render_network4(prefix) + " overlaps " + render_network4(other) + " of " +
                        owner + " in " + vrf,
                    "use another prefix, or another VRF");
    }
    prefixes_[vrf].emplace_back(prefix, object);
    return {};
  }

  template <class T>
  static bool take(std::set<T>& set, const T& value) {
    return set.insert(value).second;
  }
  static Error twice(const std::string& object, const std::string& what) {
    return refuse(object, what + " is used twice on this switch", "use a free one");
  }
  static Error no_vrf(const std::string& object, const std::string& vrf) {
    return refuse(object, "there is no VRF '" + vrf + "' on this switch", "add the VRF");
  }
  static Error bad_text(const std::string& object) {
    return refuse(object, "the description has characters that a switch may not take",
                  "use at most 200 printable ASCII characters without quotes and backslash");
  }

  const SwitchState& state_;
  const SwitchCapabilities& capabilities_;
  std::set<std::string> vrf_names_, acl_names_, port_names_;
  // A VRF and a segment may share one: their routes are of different types (RFC 7432, RFC 9136).
  std::set<std::string> vrf_rds_, segment_rds_;
  std::set<int> vnis_, vlans_;
  std::map<std::string, std::vector<std::pair<Prefix4, std::string>>> prefixes_;
};

}  // namespace

Error refuse(std::string object, std::string what, std::string remedy) {
  std::string text = object + ": " + what;
  return make_error(Code::invalid, std::move(text))
      .about(std::move(object))
      .with_remedy(std::move(remedy));
}

bool is_plain_text(std::string_view text, std::size_t limit) {
  if (text.size() > limit) return false;
  if (!text.empty() && (text.front() == ' ' || text.back() == ' ')) return false;
  return text.find("  ") == std::string_view::npos &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return c >= ' ' && c <= '~' &&
                  std::string_view("\"'`\\$!#?;{}").find(c) == std::string_view::npos;
         });
}

bool is_plain_name(std::string_view text, std::size_t limit) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return !text.empty() && text.size() <= limit && letter(text[0]) &&
         std::all_of(text.begin(), text.end(), [&](char c) {
           return letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '_';
         });
}

Result<> accept_state(const SwitchState& desired, const SwitchCapabilities& capabilities) {
  return Accepter(desired, capabilities).run();
}

}  // namespace tundish::switches
