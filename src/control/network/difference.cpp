#include "control/network/difference.hpp"

#include <algorithm>
#include <functional>

#include "base/text.hpp"
#include "control/network/port_tables.hpp"

namespace tundish::control::network {
namespace {

std::string describe(const SwitchPortState& port) {
  switch (port.mode) {
    case PortMode::quarantine: return "in quarantine";
    case PortMode::access: return "in vlan " + std::to_string(port.vlan);
    case PortMode::routed: return "routed in " + port.vrf + " with " + port.address;
  }
  return "";
}

std::string list(const std::vector<std::string>& items) {
  return items.empty() ? "none" : join(items, ", ");
}

std::string describe(const std::vector<LeakState>& leaks) {
  std::vector<std::string> out;
  for (const auto& leak : leaks) out.push_back(leak.from_vrf + " [" + list(leak.prefixes) + "]");
  return list(out);
}

/// "a: VNI 5, wanted 6" for each field that differs.
class Fields2 {
 public:
  template <class T>
  void operator()(const char* what, const T& has, const T& wants) {
    if (has == wants) return;
    if (!text.empty()) text += "; ";
    text += std::string(what) + " " + show(has) + ", wanted " + show(wants);
  }
  std::string text;

 private:
  static std::string show(int value) { return std::to_string(value); }
  static std::string show(std::int64_t value) { return std::to_string(value); }
  static std::string show(const std::string& value) { return value.empty() ? "none" : value; }
  static std::string show(const std::vector<std::string>& value) { return list(value); }
  static std::string show(const std::vector<LeakState>& value) { return describe(value); }
  static std::string show(const std::vector<AddressRoute>& value) {
    std::vector<std::string> out;
    for (const auto& route : value) out.push_back(route.prefix + " via " + route.via);
    return list(out);
  }
};

std::string compare(const VrfState& has, const VrfState& wants) {
  Fields2 out;
  out("number", has.vrf_id, wants.vrf_id);
  out("VNI", has.l3vni, wants.l3vni);
  out("VLAN of the VNI", has.l3vlan, wants.l3vlan);
  out("rd", has.rd, wants.rd);
  out("imports", has.import_targets, wants.import_targets);
  out("exports", has.export_targets, wants.export_targets);
  out("takes in", has.leaks, wants.leaks);
  out("routes", has.routes, wants.routes);
  return out.text;
}

std::string compare(const SegmentState& has, const SegmentState& wants) {
  Fields2 out;
  out("VRF", has.vrf, wants.vrf);
  out("VNI", has.l2vni, wants.l2vni);
  out("rd", has.rd, wants.rd);
  out("imports", has.import_targets, wants.import_targets);
  out("exports", has.export_targets, wants.export_targets);
  out("gateway", has.gateway, wants.gateway);
  out("list", has.acl_in, wants.acl_in);
  out("MTU", has.mtu, wants.mtu);
  return out.text;
}

std::string compare(const AclState& has, const AclState& wants) {
  if (has.rules == wants.rules) return "";
  std::size_t at = 0;
  while (at < has.rules.size() && at < wants.rules.size() && has.rules[at] == wants.rules[at]) ++at;
  const bool differs = at < has.rules.size() && at < wants.rules.size();
  return std::to_string(has.rules.size()) + " rules, wanted " + std::to_string(wants.rules.size()) +
         (differs ? ", the first that differs is number " + std::to_string(at + 1) : "");
}

std::string compare(const SwitchPortState& has, const SwitchPortState& wants) {
  const bool same = has.mode == wants.mode && has.vlan == wants.vlan && has.vrf == wants.vrf &&
                    has.address == wants.address;
  return same ? "" : describe(has) + ", wanted " + describe(wants);
}

std::string compare(const IbPartitionState& has, const IbPartitionState& wants) {
  Fields2 out;
  out("name", has.name, wants.name);
  const auto guids = [](const IbPartitionState& of, const IbPartitionState& other) {
    std::vector<std::string> only;
    for (const auto& member : of.members) {
      const bool in =
          std::find(other.members.begin(), other.members.end(), member) != other.members.end();
      if (!in) only.push_back(member.guid);
    }
    return only;
  };
  const auto more = guids(has, wants), fewer = guids(wants, has);
  if (!more.empty()) out.text += (out.text.empty() ? "" : "; ") + ("also has " + list(more));
  if (!fewer.empty()) out.text += (out.text.empty() ? "" : "; ") + ("lacks " + list(fewer));
  out("IP over InfiniBand", int{has.ipoib}, int{wants.ipoib});
  out("index 0", int{has.index0}, int{wants.index0});
  out("MTU", has.mtu_bytes, wants.mtu_bytes);
  out("rate", has.rate_gbps, wants.rate_gbps);
  out("service level", has.service_level, wants.service_level);
  return out.text;
}

std::string compare(const NvlinkPartitionState& has, const NvlinkPartitionState& wants) {
  Fields2 out;
  out("name", has.name, wants.name);
  out("GPUs", has.gpus, wants.gpus);
  out("IMEX nodes", has.imex_nodes, wants.imex_nodes);
  return out.text;
}

template <class Map, class Key>
std::set<int> owner(const Map& map, const Key& key) {
  const auto it = map.find(key);
  return it == map.end() ? std::set<int>{} : std::set<int>{it->second};
}

template <class T>
bool holds_something(const T&) {
  return true;
}
/// A port in quarantine is where it is before anybody wants it.
bool holds_something(const SwitchPortState& port) { return port.mode != PortMode::quarantine; }

/// Both lists by their key; `name` and `owners` speak of one item.
template <class T, class Key, class Name, class Owners>
void compare_lists(const std::vector<T>& wanted, const std::vector<T>& seen, Key key, Name name,
                   Owners owners, std::vector<Difference>& out) {
  const auto find = [&](const std::vector<T>& in, const T& item) {
    return std::find_if(in.begin(), in.end(), [&](const T& other) {
      return std::invoke(key, other) == std::invoke(key, item);
    });
  };
  for (const auto& wants : wanted) {
    const auto has = find(seen, wants);
    if (has == seen.end()) {
      out.push_back({name(wants) + ": is missing", owners(wants), false});
      continue;
    }
    const std::string text = compare(*has, wants);
    if (text.empty()) continue;
    auto whose = owners(wants);
    whose.merge(owners(*has));
    out.push_back({name(wants) + ": " + text, std::move(whose), holds_something(*has)});
  }
  for (const auto& has : seen) {
    if (find(wanted, has) == wanted.end()) {
      out.push_back({name(has) + ": is not wanted", owners(has), true});
    }
  }
}

/// Whose way to the storage leads over the switch.
std::set<int> storage_users(const Intent& intent, const std::string& switch_name) {
  std::set<int> out;
  const auto device = intent.switches.find(switch_name);
  if (device == intent.switches.end() || device->second.storage.empty()) return out;
  for (const int index : device->second.networks) {
    const auto& network = intent.networks[static_cast<std::size_t>(index)];
    if (network.storage && !network.storage_prefixes.empty()) out.insert(index);
  }
  return out;
}

const LeakState* find_leak(const VrfState& vrf, const std::string& from) {
  const auto found = std::ranges::find(vrf.leaks, from, &LeakState::from_vrf);
  return found == vrf.leaks.end() ? nullptr : &*found;
}

/// What the storage's VRF takes in, each by itself: it is the matter of the network that it is of.
void compare_leaks(const Intent& intent, const VrfState& wanted, const VrfState& seen,
                   std::vector<Difference>& out) {
  std::set<std::string> all;
  for (const auto* vrf : {&wanted, &seen}) {
    for (const auto& leak : vrf->leaks) all.insert(leak.from_vrf);
  }
  for (const auto& from : all) {
    const LeakState *wants = find_leak(wanted, from), *has = find_leak(seen, from);
    const auto told = [](const LeakState* leak) { return leak ? list(leak->prefixes) : "none"; };
    const std::string now = told(has), then = told(wants);
    if (now == then) continue;
    out.push_back({wanted.name + ": takes in " + now + " of " + from + ", wanted " + then,
                   owner(intent.by_vrf, from), has != nullptr});
  }
}

/// The storage's VRF with its leaks taken out, when both sides have it; those are told by network.
std::vector<VrfState> without_leaks(std::vector<VrfState> vrfs, const std::string& name) {
  for (auto& vrf : vrfs) {
    if (vrf.name == name) vrf.leaks.clear();
  }
  return vrfs;
}

void compare_vrfs(const Intent& intent, const std::string& switch_name, const SwitchState& wanted,
                  const SwitchState& seen, std::vector<Difference>& out) {
  const std::string& storage = intent.spec.storage_vrf;
  const VrfState *wants = find_vrf(wanted, storage), *has = find_vrf(seen, storage);
  compare_lists(
      without_leaks(wanted.vrfs, storage), without_leaks(seen.vrfs, storage), &VrfState::name,
      [](const VrfState& vrf) { return vrf.name; },
      [&](const VrfState& vrf) {
        return vrf.name == storage ? storage_users(intent, switch_name)
                                   : owner(intent.by_vrf, vrf.name);
      },
      out);
  if (wants && has) compare_leaks(intent, *wants, *has, out);
}

/// Whose the port is wanted to be and whose VLAN it is in.
std::set<int> owners_of_port(const Intent& intent, const std::string& switch_name,
                             const SwitchPortState& port) {
  std::set<int> out;
  const auto device = intent.switches.find(switch_name);
  if (device == intent.switches.end()) return out;
  const auto known = device->second.ports.find(port.name);
  if (known != device->second.ports.end() && known->second.network != nobody) {
    out.insert(known->second.network);
  }
  if (port.mode == PortMode::routed && port.vrf == intent.spec.storage_vrf) {
    out.merge(storage_users(intent, switch_name));
  }
  if (port.mode != PortMode::access) return out;
  for (std::size_t i = 0; i < intent.networks.size(); ++i) {
    const auto numbers = intent.networks[i].switches.find(switch_name);
    const bool lives_in =
        numbers != intent.networks[i].switches.end() && numbers->second.vlan == port.vlan;
    if (lives_in) out.insert(static_cast<int>(i));
  }
  return out;
}

constexpr std::size_t lines_told = 3;

}  // namespace

std::string tell_lines(const std::vector<std::string>& lines) {
  std::string out;
  for (std::size_t i = 0; i < lines.size() && i < lines_told; ++i) {
    out += (i == 0 ? "" : " | ") + lines[i];
  }
  if (lines.size() > lines_told) {
    out += " | and " + std::to_string(lines.size() - lines_told) + " more";
  }
  return out;
}

std::vector<Difference> differences(const Intent& intent, const std::string& switch_name,
                                    const SwitchState& wanted, const SwitchState& seen) {
  std::vector<Difference> out;
  Fields2 identity;
  identity("AS number", seen.asn, wanted.asn);
  identity("router id", seen.router_id, wanted.router_id);
  identity("tunnel end", seen.vtep_address, wanted.vtep_address);
  if (!seen.segments.empty()) identity("anycast MAC", seen.anycast_mac, wanted.anycast_mac);
  if (!identity.text.empty()) out.push_back({identity.text, {}, true});
  compare_lists(
      wanted.ports, seen.ports, &SwitchPortState::name,
      [](const SwitchPortState& port) { return port.name; },
      [&](const SwitchPortState& port) { return owners_of_port(intent, switch_name, port); }, out);
  compare_vrfs(intent, switch_name, wanted, seen, out);
  compare_lists(
      wanted.segments, seen.segments, &SegmentState::vlan,
      [](const SegmentState& segment) { return "vlan " + std::to_string(segment.vlan); },
      [&](const SegmentState& segment) { return owner(intent.by_vrf, segment.vrf); }, out);
  compare_lists(
      wanted.acls, seen.acls, &AclState::name, [](const AclState& acl) { return acl.name; },
      [&](const AclState& acl) { return owner(intent.by_acl, acl.name); }, out);
  return out;
}

std::vector<Difference> differences(const Intent& intent, const FabricState& wanted,
                                    const FabricState& seen) {
  std::vector<Difference> out;
  compare_lists(
      wanted.partitions, seen.partitions, &IbPartitionState::pkey,
      [](const IbPartitionState& partition) { return "PKey " + pkey_text(partition.pkey); },
      [&](const IbPartitionState& partition) { return owner(intent.by_pkey, partition.pkey); },
      out);
  compare_lists(
      wanted.nvlink, seen.nvlink, &NvlinkPartitionState::partition_id,
      [](const NvlinkPartitionState& partition) {
        return "NVLink partition " + std::to_string(partition.partition_id);
      },
      [&](const NvlinkPartitionState& partition) {
        return owner(intent.by_nvlink, partition.partition_id);
      },
      out);
  return out;
}

}  // namespace tundish::control::network
