#include "control/network/audit.hpp"

#include "base/text.hpp"
#include "control/network/audit_parts.hpp"
#include "model/prefix.hpp"

namespace tundish::control::network {
namespace parts {
namespace {

/// Each number once, over networks; `what` names the kind.
class Owners {
 public:
  Owners(Findings& out, std::string what) : out_(out), what_(std::move(what)) {}
  void add(const std::string& number, const std::string& owner) {
    const auto [at, fresh] = first_.emplace(number, owner);
    if (fresh || at->second == owner) return;
    out_.add(AuditRule::one_owner, what_ + " " + number,
             what_ + " " + number + " belongs to " + at->second + " and to " + owner,
             "give one of them another number");
  }

 private:
  Findings& out_;
  std::string what_;
  std::map<std::string, std::string> first_;
};

void check_numbers(const Intent& intent, Findings& out) {
  Owners vrf_ids(out, "VRF number"), vnis(out, "VNI"), pkeys(out, "PKey"), vlans(out, "VLAN"),
      partitions(out, "NVLink partition"), addresses(out, "storage address");
  vrf_ids.add(std::to_string(intent.spec.storage_vrf_id), "storage");
  vnis.add(std::to_string(intent.spec.storage_l3vni), "storage");
  for (const auto& network : intent.networks) {
    vrf_ids.add(std::to_string(network.vrf_id), network.label);
    vnis.add(std::to_string(network.l3vni), network.label + " (routing)");
    vnis.add(std::to_string(network.l2vni), network.label);
    if (network.pkey != 0) pkeys.add(std::to_string(network.pkey), network.label);
    if (network.nvlink_partition != 0) {
      partitions.add(std::to_string(network.nvlink_partition), network.label);
    }
    for (const auto& [name, numbers] : network.switches) {
      const std::string on = " on " + name;
      if (numbers.vlan != 0) vlans.add(std::to_string(numbers.vlan) + on, network.label);
      if (numbers.l3vlan != 0) {
        vlans.add(std::to_string(numbers.l3vlan) + on, network.label + " (routing)");
      }
    }
    for (const auto& prefix : network.storage_prefixes) addresses.add(prefix, network.label);
  }
}

void check_prefixes_of(const Intent& intent, const WantedNetwork& network, Findings& out) {
  std::vector<std::pair<std::string, std::string>> taken;
  for (const auto& text : intent.spec.underlay) taken.emplace_back("underlay", text);
  for (const auto& text : intent.spec.management) taken.emplace_back("management", text);
  if (!intent.spec.storage_prefix.empty()) {
    taken.emplace_back("storage", intent.spec.storage_prefix);
    taken.emplace_back("storage addresses of nodes", intent.spec.storage_node_pool);
  }
  for (const auto& text : network.prefixes) {
    const auto prefix = parse_prefix(text);
    for (const auto& [what, other_text] : taken) {
      const auto other = parse_prefix(other_text);
      if (!prefix || !other || !prefix->overlaps(*other)) continue;
      out.add(AuditRule::overlap, network.label,
              "prefix " + text + " overlaps " + what + " " + other_text,
              "choose a prefix outside " + other_text);
    }
    taken.emplace_back("prefix", text);
  }
}

/// Router ids and tunnel ends tell switches apart: two alike would share every distinguisher.
void check_identities(const SwitchesSeen& switches, Findings& out) {
  Owners router_ids(out, "router id"), tunnels(out, "tunnel end");
  for (const auto& [name, seen] : switches) {
    if (!seen.own.router_id.empty()) router_ids.add(seen.own.router_id, name);
    if (!seen.own.vtep_address.empty()) tunnels.add(seen.own.vtep_address, name);
  }
}

}  // namespace

std::string label_of(const Intent& intent, int index) {
  return index == nobody ? "nobody" : intent.networks[static_cast<std::size_t>(index)].label;
}

int network_of_target(const Intent& intent, const std::string& target) {
  const auto colon = target.find(':');
  if (colon == std::string::npos) return nobody;
  const auto admin = parse_integer(target.substr(0, colon));
  const auto number = parse_integer(target.substr(colon + 1));
  if (!admin || *admin != intent.spec.rt_admin || !number) return nobody;
  for (const auto* table : {&intent.by_l3vni, &intent.by_l2vni}) {
    if (const auto it = table->find(static_cast<int>(*number)); it != table->end()) {
      return it->second;
    }
  }
  return nobody;
}

std::string owner_of_target(const Intent& intent, const std::string& target) {
  if (target == intent.storage_target) return "the storage";
  const auto colon = target.find(':');
  if (colon == std::string::npos) return "nobody";
  const auto admin = parse_integer(target.substr(0, colon));
  const auto number = parse_integer(target.substr(colon + 1));
  if (!admin || *admin != intent.spec.rt_admin || !number) return "somebody else";
  const int value = static_cast<int>(*number);
  if (const auto it = intent.by_l3vni.find(value); it != intent.by_l3vni.end()) {
    return "the VRF of " + label_of(intent, it->second);
  }
  if (const auto it = intent.by_l2vni.find(value); it != intent.by_l2vni.end()) {
    return "the segment of " + label_of(intent, it->second);
  }
  return "nobody";
}

void audit_intent(const Intent& intent, const SwitchesSeen& switches,
                  std::vector<AuditFinding>& out) {
  Findings found(intent.fabric);
  check_numbers(intent, found);
  for (const auto& network : intent.networks) check_prefixes_of(intent, network, found);
  check_identities(switches, found);
  out.insert(out.end(), found.list.begin(), found.list.end());
}

}  // namespace parts

bool is_breach(const AuditFinding& finding) { return finding.rule != AuditRule::missing; }

std::vector<AuditFinding> audit(const Intent& intent, const SwitchesSeen& switches,
                                const FabricsSeen& fabrics) {
  std::vector<AuditFinding> out;
  parts::audit_intent(intent, switches, out);
  for (const auto& [name, seen] : switches) parts::audit_switch(intent, name, seen, out);
  for (const auto& [name, seen] : fabrics) parts::audit_fabric(intent, name, seen, out);
  return out;
}

}  // namespace tundish::control::network
