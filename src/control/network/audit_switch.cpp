// The audit of one switch against the table of owners.
#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.hpp"
#include "control/network/acl.hpp"
#include "control/network/audit_parts.hpp"
#include "control/network/tunnel_peers.hpp"
#include "control/network/unclear.hpp"
#include "model/prefix.hpp"

namespace tundish::control::network::parts {
namespace {

constexpr int most_vni = 16777215;
const std::string undo = "restore it: tundish network plan shows the lines";

/// "A:B" with both numbers in their fields. Source: facts/cloud.md, section 3.2; checked 2026-11.
bool is_target(const std::string& text) {
  const auto colon = text.find(':');
  if (colon == std::string::npos) return false;
  const auto admin = parse_integer(text.substr(0, colon));
  const auto number = parse_integer(text.substr(colon + 1));
  return admin && number && *admin >= 1 && *admin <= 65535 && *number >= 0 && *number <= 4294967295;
}

bool is_distinguisher(const std::string& text) {
  const auto colon = text.find(':');
  if (colon == std::string::npos || !parse_ipv4(text.substr(0, colon))) return false;
  const auto number = parse_integer(text.substr(colon + 1));
  return number && *number >= 0 && *number <= 65535;
}

/// "A:B" without building it.
bool is_pair(const std::string& text, const std::string& left, int right) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), right).ptr;
  const std::size_t size = static_cast<std::size_t>(end - digits.data());
  return text.size() == left.size() + 1 + size && text.starts_with(left) &&
         text[left.size()] == ':' &&
         text.compare(left.size() + 1, size, std::string_view(digits.data(), size)) == 0;
}

class SwitchAudit {
 public:
  SwitchAudit(const Intent& intent, const std::string& name, const WantedSwitch& wanted,
              const SwitchSeen& seen)
      : intent_(intent), name_(name), wanted_(wanted), seen_(seen), own_(seen.own), out_(name) {}

  std::vector<AuditFinding> run() {
    check_identity();
    for (const auto& line : seen_.unclear) {
      out_.add(AuditRule::unclear, "line", "not understood: " + line,
               "remove it by hand, or report the line so that the parser learns it",
               networks_joined_in(intent_, name_, line));
    }
    for (const auto& vrf : own_.vrfs) check_vrf(vrf);
    for (const auto& segment : own_.segments) check_segment(segment);
    for (const auto& acl : own_.acls) check_acl(acl);
    for (const auto& port : own_.ports) check_port(port);
    for (const auto& one : peer_differences(intent_, name_, seen_.peers)) {
      add(AuditRule::routes, "tunnel", one.what);
    }
    check_present();
    check_foreign();
    return std::move(out_.list);
  }

 private:
  void add(AuditRule rule, const std::string& object, const std::string& what,
           std::set<int> joins = {}) {
    out_.add(rule, object, what, undo, std::move(joins));
  }
  void missing(const std::string& object, const std::string& what) {
    add(AuditRule::missing, object, what);
  }
  const WantedNetwork& network(int index) const {
    return intent_.networks[static_cast<std::size_t>(index)];
  }
  const SwitchNumbers* numbers_of(const WantedNetwork& owner) const {
    const auto it = owner.switches.find(name_);
    return it == owner.switches.end() ? nullptr : &it->second;
  }
  int owner_of_vrf(const std::string& vrf) const {
    const auto it = intent_.by_vrf.find(vrf);
    return it == intent_.by_vrf.end() ? nobody : it->second;
  }

  void check_identity() {
    const auto differs = [&](const std::string& what, const std::string& has,
                             const std::string& wants) {
      if (has == wants) return;
      add(AuditRule::untouchable, name_, what + " is " + has + ", declared " + wants);
    };
    differs("AS number", std::to_string(own_.asn), std::to_string(wanted_.asn));
    differs("router id", own_.router_id, wanted_.router_id);
    differs("tunnel end", own_.vtep_address, wanted_.vtep_address);
    const SwitchState fresh;
    if (!own_.segments.empty() && own_.anycast_mac != fresh.anycast_mac) {
      add(AuditRule::gateway, name_,
          "gateways answer as " + own_.anycast_mac + ", elsewhere as " + fresh.anycast_mac);
    }
  }

  void check_targets(const std::string& object, const std::string& direction,
                     const std::vector<std::string>& has, const std::string& own, int owner) {
    bool found = false;
    for (const auto& target : has) {
      if (target == own) {
        found = true;
        continue;
      }
      if (!is_target(target)) {
        add(AuditRule::numbering, object, direction + "s " + target + ", which no target can hold");
      }
      std::set<int> joins = {owner, network_of_target(intent_, target)};
      // What the storage's VRF takes in can be reached by everybody who uses the storage.
      const bool opens = object == intent_.spec.storage_vrf && *joins.rbegin() != nobody;
      if (opens) joins.merge(storage_users());
      add(AuditRule::routes, object,
          direction + "s " + target + ", which belongs to " + owner_of_target(intent_, target),
          std::move(joins));
    }
    if (!found) missing(object, "does not " + direction + " its own " + own);
    if (std::count(has.begin(), has.end(), own) > 1) missing(object, own + " is there twice");
  }

  std::set<int> storage_users() const {
    std::set<int> out;
    for (const int index : wanted_.networks) {
      if (network(index).storage && !network(index).storage_prefixes.empty()) out.insert(index);
    }
    return out;
  }

  void check_rd(const std::string& object, const std::string& rd, int number) {
    if (is_pair(rd, own_.router_id, number) && number > 0 && number <= 65535) return;
    if (!is_distinguisher(rd)) {
      add(AuditRule::numbering, object, "rd " + rd + " does not fit its field");
      return;
    }
    add(AuditRule::one_owner, object,
        "rd is " + rd + ", wanted " + own_.router_id + ":" + std::to_string(number));
  }

  void check_vni(const std::string& object, int vni) {
    if (vni < 1 || vni > most_vni) {
      add(AuditRule::numbering, object, "VNI " + std::to_string(vni) + " does not fit 24 bits");
    }
  }

  std::string owner_of_vni(int vni) const {
    if (vni == intent_.spec.storage_l3vni) return "the storage";
    if (const auto it = intent_.by_l3vni.find(vni); it != intent_.by_l3vni.end()) {
      return "the VRF of " + label_of(intent_, it->second);
    }
    if (const auto it = intent_.by_l2vni.find(vni); it != intent_.by_l2vni.end()) {
      return "the segment of " + label_of(intent_, it->second);
    }
    return "nobody";
  }
  int network_of_vni(int vni) const {
    for (const auto* table : {&intent_.by_l3vni, &intent_.by_l2vni}) {
      if (const auto it = table->find(vni); it != table->end()) return it->second;
    }
    return nobody;
  }

  void check_vlan(const std::string& object, int has, int wants, NumberRange ours) {
    if (has == wants) return;
    const std::string text = "VLAN " + std::to_string(has);
    if (has < 2 || has > 4094) {
      add(AuditRule::numbering, object, text + " is no VLAN of a switch");
    } else if (!ours.contains(has)) {
      add(AuditRule::untouchable, object, text + " is outside our range");
    }
    add(AuditRule::one_owner, object, text + " carries it, wanted " + std::to_string(wants));
  }

  void check_vrf(const VrfState& vrf) {
    if (!vrfs_.insert(vrf.name).second) add(AuditRule::one_owner, vrf.name, "is there twice");
    check_vni(vrf.name, vrf.l3vni);
    if (vrf.vrf_id < 1 || vrf.vrf_id > 65535) {
      add(AuditRule::numbering, vrf.name, "number does not fit 16 bits");
    }
    if (vrf.name == intent_.spec.storage_vrf) {
      check_storage_vrf(vrf);
      return;
    }
    const int owner = owner_of_vrf(vrf.name);
    if (owner == nobody) {
      add(AuditRule::one_owner, vrf.name, "belongs to no network");
      return;
    }
    const WantedNetwork& wants = network(owner);
    if (!std::binary_search(wanted_.networks.begin(), wanted_.networks.end(), owner)) {
      add(AuditRule::ports, vrf.name, "of " + wants.label + " is not wanted on this switch");
    }
    const SwitchNumbers* numbers = numbers_of(wants);
    check_vrf_numbers(vrf, wants.vrf_id, wants.l3vni);
    check_vlan(vrf.name, vrf.l3vlan, numbers && wanted_.needs_l3vlan ? numbers->l3vlan : 0,
               l3vlans());
    check_targets(vrf.name, "import", vrf.import_targets, wants.l3_target, owner);
    check_targets(vrf.name, "export", vrf.export_targets, wants.l3_target, owner);
    const bool leaks = wants.storage && !wants.storage_prefixes.empty() && !wanted_.storage.empty();
    for (const auto& leak : vrf.leaks) {
      const bool storage = leak.from_vrf == intent_.spec.storage_vrf && leaks;
      check_leak(vrf, leak, storage, {intent_.spec.storage_prefix});
    }
    if (leaks && vrf.leaks.empty()) missing(vrf.name, "has no routes to the storage");
    const auto local = wants.local_routes.find(name_);
    static const std::vector<AddressRoute> none;
    check_routes(vrf, local == wants.local_routes.end() ? none : local->second);
  }

  /// An address that is told to be here draws what is for its owner.
  void check_routes(const VrfState& vrf, const std::vector<AddressRoute>& wants) {
    for (const auto& route : vrf.routes) {
      if (std::count(wants.begin(), wants.end(), route) != 0) continue;
      add(AuditRule::routes, vrf.name,
          "routes " + route.prefix + " to " + route.via + ", which is not wanted here" +
              joined_tenants(parse_prefix(route.prefix)),
          joined_by(parse_prefix(route.prefix), owner_of_vrf(vrf.name)));
    }
    for (const auto& route : wants) {
      if (std::count(vrf.routes.begin(), vrf.routes.end(), route) != 0) continue;
      missing(vrf.name, "has no route to " + route.prefix);
    }
  }

  void check_vrf_numbers(const VrfState& vrf, int vrf_id, int l3vni) {
    if (vrf.vrf_id != vrf_id) {
      add(AuditRule::one_owner, vrf.name,
          "number is " + std::to_string(vrf.vrf_id) + ", wanted " + std::to_string(vrf_id));
    }
    if (vrf.l3vni != l3vni) {
      add(AuditRule::one_owner, vrf.name,
          "VNI " + std::to_string(vrf.l3vni) + " belongs to " + owner_of_vni(vrf.l3vni) +
              ", wanted " + std::to_string(l3vni),
          {owner_of_vrf(vrf.name), network_of_vni(vrf.l3vni)});
    }
    check_rd(vrf.name, vrf.rd, vrf_id);
  }

  void check_storage_vrf(const VrfState& vrf) {
    if (wanted_.storage.empty()) {
      add(AuditRule::ports, vrf.name, "the storage is not cabled to this switch");
    }
    check_vrf_numbers(vrf, intent_.spec.storage_vrf_id, intent_.spec.storage_l3vni);
    check_vlan(vrf.name, vrf.l3vlan, wanted_.needs_l3vlan ? intent_.spec.storage_l3vlan : 0,
               l3vlans());
    check_targets(vrf.name, "import", vrf.import_targets, intent_.storage_target, nobody);
    check_targets(vrf.name, "export", vrf.export_targets, intent_.storage_target, nobody);
    check_routes(vrf, {});
    std::set<std::string> from;
    for (const auto& leak : vrf.leaks) {
      const int owner = owner_of_vrf(leak.from_vrf);
      const bool fine = owner != nobody && network(owner).storage;
      static const std::vector<std::string> none;
      check_leak(vrf, leak, fine, fine ? network(owner).storage_prefixes : none);
      from.insert(leak.from_vrf);
    }
    for (const int index : wanted_.networks) {
      const auto& tenant = network(index);
      if (tenant.storage && !tenant.storage_prefixes.empty() && !from.contains(tenant.vrf)) {
        missing(vrf.name, "has no routes back to " + tenant.label);
      }
    }
  }

  /// Exactly these prefixes from exactly this VRF; what is wider joins two tenants through storage.
  void check_leak(const VrfState& into, const LeakState& leak, bool allowed,
                  const std::vector<std::string>& wants) {
    const int owner = owner_of_vrf(leak.from_vrf);
    const std::string from =
        leak.from_vrf + (owner == nobody ? "" : " (" + label_of(intent_, owner) + ")");
    if (!allowed) {
      add(AuditRule::routes, into.name, "takes in routes of " + from,
          {owner_of_vrf(into.name), owner});
      return;
    }
    if (leak.prefixes == wants) return;
    std::vector<Prefix> inside;
    for (const auto& text : wants) {
      if (const auto prefix = parse_prefix(text)) inside.push_back(*prefix);
    }
    bool wider = false;
    for (const auto& text : leak.prefixes) {
      const auto prefix = parse_prefix(text);
      const bool held = prefix && std::any_of(inside.begin(), inside.end(),
                                              [&](const Prefix& p) { return p.contains(*prefix); });
      if (held) continue;
      wider = true;
      add(AuditRule::routes, into.name,
          "takes in " + text + " of " + from + ", declared is " + join(wants, ", ") +
              joined_tenants(prefix),
          joined_by(prefix, owner == nobody ? owner_of_vrf(into.name) : owner));
    }
    if (!wider) missing(into.name, "takes in only a part of " + join(wants, ", ") + " of " + from);
  }

  /// Names who becomes visible when storage hands on more than its own prefix.
  std::string joined_tenants(const std::optional<Prefix>& prefix) const {
    if (!prefix) return "";
    std::vector<std::string> names;
    for (const auto& tenant : intent_.networks) {
      for (const auto& text : tenant.storage_prefixes) {
        const auto own = parse_prefix(text);
        if (!own || !own->overlaps(*prefix)) continue;
        names.push_back(tenant.label);
        break;
      }
      if (names.size() == 3) break;
    }
    return names.empty() ? "" : "; it reaches nodes of " + join(names, ", ");
  }

  /// The same, with the network whose routes they are.
  std::set<int> joined_by(const std::optional<Prefix>& prefix, int owner) const {
    std::set<int> out = {owner};
    for (std::size_t i = 0; prefix && i < intent_.networks.size(); ++i) {
      for (const auto& text : intent_.networks[i].storage_prefixes) {
        const auto own = parse_prefix(text);
        if (own && own->overlaps(*prefix)) out.insert(static_cast<int>(i));
      }
    }
    return out;
  }

  NumberRange vlans() const {
    return {intent_.spec.switches.vlan_from, intent_.spec.switches.vlan_to};
  }
  NumberRange l3vlans() const {
    return {intent_.spec.switches.l3vlan_from, intent_.spec.switches.l3vlan_to};
  }

  void check_segment(const SegmentState& segment) {
    const std::string object = "vlan " + std::to_string(segment.vlan);
    if (!vlans_.emplace(segment.vlan, &segment).second) {
      add(AuditRule::one_owner, object, "is two segments");
    }
    check_vni(object, segment.l2vni);
    if (!vnis_.insert(segment.l2vni).second) {
      add(AuditRule::one_owner, object, "VNI " + std::to_string(segment.l2vni) + " is there twice");
    }
    const int owner = owner_of_vrf(segment.vrf);
    const auto by_vni = intent_.by_l2vni.find(segment.l2vni);
    const int vni_owner = by_vni == intent_.by_l2vni.end() ? nobody : by_vni->second;
    if (owner == nobody) {
      add(AuditRule::one_owner, object,
          "is routed by \"" + segment.vrf + "\", which belongs to no network");
    }
    if (vni_owner == nobody || (owner != nobody && vni_owner != owner)) {
      add(AuditRule::one_owner, object,
          "VNI " + std::to_string(segment.l2vni) + " belongs to " + owner_of_vni(segment.l2vni) +
              ", the VRF to " + label_of(intent_, owner),
          {owner, vni_owner});
    }
    if (owner == nobody) return;
    const WantedNetwork& wants = network(owner);
    const SwitchNumbers* numbers = numbers_of(wants);
    check_vlan(object, segment.vlan, numbers ? numbers->vlan : 0, vlans());
    check_targets(object, "import", segment.import_targets, wants.l2_target, owner);
    check_targets(object, "export", segment.export_targets, wants.l2_target, owner);
    check_rd(object, segment.rd, numbers ? numbers->vlan : segment.vlan);
    check_gateway(object, segment, wants);
    if (segment.acl_in != wants.acl) {
      add(AuditRule::firewall, object,
          segment.acl_in.empty() ? "applies no list, wanted " + wants.acl
                                 : "applies list " + segment.acl_in + ", wanted " + wants.acl,
          {owner, stranger});
    }
    if (segment.mtu != wants.mtu) {
      missing(object,
              "MTU is " + std::to_string(segment.mtu) + ", wanted " + std::to_string(wants.mtu));
    }
    segments_.insert(owner);
  }

  void check_gateway(const std::string& object, const SegmentState& segment,
                     const WantedNetwork& wants) {
    if (segment.gateway == wants.gateway) return;
    add(AuditRule::gateway, object,
        "gateway of " + wants.label + " is \"" + segment.gateway + "\", elsewhere " +
            wants.gateway);
    const auto prefix = parse_interface(segment.gateway);
    if (!prefix) return;
    const auto clash = [&](const std::string& what, const std::string& text) {
      const auto other = parse_prefix(text);
      if (other && other->overlaps(*prefix)) {
        add(AuditRule::overlap, object, "gateway lies in " + what + " " + text);
      }
    };
    for (const auto& text : intent_.spec.underlay) clash("the underlay", text);
    for (const auto& text : intent_.spec.management) clash("management", text);
    clash("the storage", intent_.spec.storage_prefix);
  }

  void check_acl(const AclState& acl) {
    if (!acls_.insert(acl.name).second) add(AuditRule::one_owner, acl.name, "is there twice");
    const auto owner = intent_.by_acl.find(acl.name);
    if (owner == intent_.by_acl.end() || !wanted_.attached.contains(owner->second)) {
      add(AuditRule::one_owner, acl.name, "belongs to no network on this switch");
      return;
    }
    const WantedNetwork& wants = network(owner->second);
    if (is_as_wanted(acl, wants)) return;
    const auto found = compare_acls(acl_rules(intent_, wants, name_), acl.rules);
    switch (found.verdict) {
      case AclVerdict::same: return;
      case AclVerdict::weaker:
        add(AuditRule::firewall, acl.name, "lets through what is not declared: " + found.example,
            {owner->second, stranger});
        return;
      case AclVerdict::stronger:
        missing(acl.name, "holds back what is declared: " + found.example);
        return;
      case AclVerdict::same_effect:
        missing(acl.name, "is written otherwise, with the same effect");
        return;
    }
  }

  /// acl_rules() without building it: most lists are as wanted.
  bool is_as_wanted(const AclState& acl, const WantedNetwork& wants) const {
    const auto local = wants.local_storage.find(name_);
    const std::size_t more = local == wants.local_storage.end() ? 0 : local->second.size();
    if (acl.rules.size() != wants.rules.size() + more) return false;
    if (!std::equal(wants.rules.begin(), wants.rules.end(), acl.rules.begin())) return false;
    for (std::size_t i = 0; i < more; ++i) {
      const AclRule& rule = acl.rules[wants.rules.size() + i];
      const std::string& address = local->second[i];
      const bool same = rule.sequence == static_cast<int>(wants.rules.size() + i + 1) * 10 &&
                        rule.action == AclAction::permit && rule.protocol == "ip" &&
                        rule.port_from == 0 && rule.port_to == 0 &&
                        rule.source.size() == address.size() + 3 &&
                        rule.source.starts_with(address) && rule.source.ends_with("/32") &&
                        rule.destination == intent_.spec.storage_prefix;
      if (!same) return false;
    }
    return true;
  }

  void check_port(const SwitchPortState& port) {
    if (!ports_.insert(port.name).second) add(AuditRule::one_owner, port.name, "is there twice");
    const auto storage =
        std::find_if(wanted_.storage.begin(), wanted_.storage.end(),
                     [&](const StoragePort& own) { return own.port == port.name; });
    if (storage != wanted_.storage.end()) {
      check_storage_port(port, *storage);
      return;
    }
    const auto known = wanted_.ports.find(port.name);
    if (known == wanted_.ports.end()) {
      add(AuditRule::untouchable, port.name, "is not one of our ports");
      return;
    }
    const WantedPort& wants = known->second;
    const std::string object = port.name + " (" + wants.node + ")";
    if (port.mode == PortMode::routed) {
      add(AuditRule::ports, object, "is routed in " + port.vrf);
    } else if (port.mode == PortMode::access) {
      check_access(port, wants, object);
    } else if (wants.network != nobody) {
      missing(object, "is in quarantine, wanted in " + network(wants.network).label);
    }
  }

  void check_access(const SwitchPortState& port, const WantedPort& wants,
                    const std::string& object) {
    const int lives_in = owner_of_vlan(port.vlan);
    const std::string vlan = "vlan " + std::to_string(port.vlan);
    if (wants.network == nobody) {
      add(AuditRule::ports, object,
          "is in " + vlan + " of " + label_of(intent_, lives_in) + ", wanted in quarantine");
    } else if (lives_in != wants.network) {
      add(AuditRule::ports, object,
          "is in " + vlan + " of " + label_of(intent_, lives_in) + ", wanted in " +
              network(wants.network).label,
          {lives_in, wants.network});
    }
  }

  /// Whose VLAN it is: by the registry, and by the segment that is there.
  int owner_of_vlan(int vlan) const {
    const auto there = vlans_.find(vlan);
    if (there != vlans_.end()) {
      const auto by_vni = intent_.by_l2vni.find(there->second->l2vni);
      return by_vni == intent_.by_l2vni.end() ? nobody : by_vni->second;
    }
    for (const int index : wanted_.networks) {
      const SwitchNumbers* numbers = numbers_of(network(index));
      if (numbers && numbers->vlan == vlan) return index;
    }
    return nobody;
  }

  void check_storage_port(const SwitchPortState& port, const StoragePort& wants) {
    if (port.mode == PortMode::quarantine) {
      missing(port.name, "towards the storage is shut");
      return;
    }
    if (port.mode != PortMode::routed || port.vrf != intent_.spec.storage_vrf) {
      add(AuditRule::ports, port.name, "leads to the storage and is not in its VRF");
    }
    if (port.mode == PortMode::routed && port.address != wants.address) {
      add(AuditRule::gateway, port.name,
          "has address " + port.address + ", wanted " + wants.address);
    }
  }

  void check_present() {
    for (const auto& [name, port] : wanted_.ports) {
      if (!ports_.contains(name)) missing(name + " (" + port.node + ")", "was not read");
    }
    for (const auto& port : wanted_.storage) {
      if (!ports_.contains(port.port)) missing(port.port, "towards the storage was not read");
    }
    if (!wanted_.storage.empty() && !vrfs_.contains(intent_.spec.storage_vrf)) {
      missing(intent_.spec.storage_vrf, "is not there");
    }
    for (const int index : wanted_.networks) {
      const WantedNetwork& wants = network(index);
      if (!vrfs_.contains(wants.vrf)) missing(wants.vrf, "of " + wants.label + " is not there");
    }
    for (const int index : wanted_.attached) {
      const WantedNetwork& wants = network(index);
      if (!segments_.contains(index)) {
        missing(wants.segment, "of " + wants.label + " is not there");
      }
      if (!acls_.contains(wants.acl)) {
        add(AuditRule::firewall, wants.acl, "of " + wants.label + " is not there");
      }
    }
  }

  void check_foreign() {
    for (const int vlan : seen_.foreign.vlans) {
      const int owner = owner_of_vlan(vlan);
      if (owner == nobody) continue;
      add(AuditRule::one_owner, "vlan " + std::to_string(vlan),
          "belongs to " + label_of(intent_, owner) + " and is used by somebody else's lines");
    }
    for (const int vni : seen_.foreign.vnis) {
      const std::string owner = owner_of_vni(vni);
      if (owner == "nobody") continue;
      add(AuditRule::one_owner, "VNI " + std::to_string(vni),
          "belongs to " + owner + " and is used by somebody else's lines",
          {network_of_vni(vni), stranger});
    }
    for (const auto& target : seen_.foreign.route_targets) {
      const std::string owner = owner_of_target(intent_, target);
      if (owner == "nobody" || owner == "somebody else") continue;
      add(AuditRule::routes, target,
          "belongs to " + owner + " and is used by somebody else's lines",
          {network_of_target(intent_, target), stranger});
    }
  }

  const Intent& intent_;
  const std::string& name_;
  const WantedSwitch& wanted_;
  const SwitchSeen& seen_;
  const SwitchState& own_;
  Findings out_;
  std::set<std::string> vrfs_, acls_, ports_;
  std::map<int, const SegmentState*> vlans_;
  std::set<int> vnis_, segments_;
};

}  // namespace

void audit_switch(const Intent& intent, const std::string& name, const SwitchSeen& seen,
                  std::vector<AuditFinding>& out) {
  const auto wanted = intent.switches.find(name);
  if (wanted == intent.switches.end()) return;
  auto found = SwitchAudit(intent, name, wanted->second, seen).run();
  out.insert(out.end(), std::make_move_iterator(found.begin()),
             std::make_move_iterator(found.end()));
}

}  // namespace tundish::control::network::parts
