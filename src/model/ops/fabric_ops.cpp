// Operations on fabrics, and switches' status: what is checked before anything is drawn.
#include <algorithm>

#include "model/allocation.hpp"
#include "model/ops/network_ops.hpp"
#include "model/ops/pool.hpp"
#include "model/prefix.hpp"

namespace tundish {
namespace {

bool operator==(const Condition& a, const Condition& b) {
  return a.type == b.type && a.state == b.state && a.reason == b.reason && a.since == b.since;
}

bool same(const std::vector<Condition>& a, const std::vector<Condition>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Condition& x, const Condition& y) { return x == y; });
}

struct Bounds {
  const char* what;
  NumberRange range, within;
};

/// Numbers that the grammar of some vendor or protocol cannot hold, or that we do not own.
Result<> check_ranges(const std::string& name, const FabricSpec& spec) {
  const auto& own = spec.switches;
  const Bounds all[] = {
      {"rt_admin", {spec.rt_admin, spec.rt_admin}, {1, 65534}},  // 2-byte AS: facts/cloud.md 3.2
      {"vrf_ids", spec.vrf_ids, {1, 65535}},                     // type-1 RD has 16 bits
      {"storage_vrf_id", {spec.storage_vrf_id, spec.storage_vrf_id}, {1, 65535}},
      {"l3vnis", spec.l3vnis, {own.vni_from, own.vni_to}},
      {"l2vnis", spec.l2vnis, {own.vni_from, own.vni_to}},
      {"storage_l3vni", {spec.storage_l3vni, spec.storage_l3vni}, {own.vni_from, own.vni_to}},
      {"vlans", spec.vlans, {own.vlan_from, own.vlan_to}},
      {"l3vlans", spec.l3vlans, {own.l3vlan_from, own.l3vlan_to}},
      {"vni_from and vni_to", {own.vni_from, own.vni_to}, {1, 16777215}},
      {"vlan_from and vlan_to", {own.vlan_from, own.vlan_to}, {2, 4094}},
      {"l3vlan_from and l3vlan_to", {own.l3vlan_from, own.l3vlan_to}, {2, 4094}},
      {"pkeys", spec.pkeys, {spec.partitions.pkey_from, spec.partitions.pkey_to}},
      {"pkey_from and pkey_to",
       {spec.partitions.pkey_from, spec.partitions.pkey_to},
       {0x0001, 0x7ffe}},
      {"nvlink_partitions", spec.nvlink_partitions, {1, 32766}},
  };
  for (const auto& bounds : all) {
    if (bounds.range.from <= bounds.range.to && bounds.within.contains(bounds.range.from) &&
        bounds.within.contains(bounds.range.to)) {
      continue;
    }
    return make_error(Code::invalid, "fabric " + name + ": " + bounds.what + " " +
                                         std::to_string(bounds.range.from) + " to " +
                                         std::to_string(bounds.range.to) + " do not fit")
        .about("fabric/" + name)
        .with_remedy("use numbers from " + std::to_string(bounds.within.from) + " to " +
                     std::to_string(bounds.within.to));
  }
  return {};
}

bool overlap(const NumberRange& a, const NumberRange& b) {
  return a.from <= b.to && b.from <= a.to;
}

Result<> check_apart(const std::string& name, const FabricSpec& spec) {
  const NumberRange storage_vni{spec.storage_l3vni, spec.storage_l3vni};
  const NumberRange storage_vrf{spec.storage_vrf_id, spec.storage_vrf_id};
  const NumberRange storage_vlan{spec.storage_l3vlan, spec.storage_l3vlan};
  const struct {
    const char* what;
    bool clash;
  } pairs[] = {
      {"l2vnis and l3vnis", overlap(spec.l2vnis, spec.l3vnis)},
      {"storage_l3vni and a pool of VNIs",
       overlap(storage_vni, spec.l2vnis) || overlap(storage_vni, spec.l3vnis)},
      // Both are the number of a distinguisher: facts/cloud.md section 3.2.
      {"vrf_ids and VLANs", overlap(spec.vrf_ids, {2, 4094})},
      {"storage_vrf_id and vrf_ids", overlap(storage_vrf, spec.vrf_ids)},
      {"storage_l3vlan and a pool of VLANs",
       overlap(storage_vlan, spec.l3vlans) || overlap(storage_vlan, spec.vlans)},
      {"vlans and l3vlans", overlap(spec.vlans, spec.l3vlans)},
  };
  for (const auto& pair : pairs) {
    if (!pair.clash) continue;
    return make_error(Code::invalid, "fabric " + name + ": " + pair.what + " share numbers")
        .about("fabric/" + name)
        .with_remedy("give each its own range");
  }
  return {};
}

Result<> check_own_prefixes(const std::string& name, const FabricSpec& spec) {
  std::vector<std::pair<std::string, std::string>> named;
  for (const auto& text : spec.underlay) named.emplace_back("underlay", text);
  for (const auto& text : spec.management) named.emplace_back("management", text);
  if (!spec.storage_prefix.empty()) {
    named.emplace_back("storage_prefix", spec.storage_prefix);
    named.emplace_back("storage_node_pool", spec.storage_node_pool);
  }
  if (!spec.access_prefix.empty()) named.emplace_back("access_prefix", spec.access_prefix);
  std::vector<Prefix> taken;
  for (const auto& [what, text] : named) {
    const auto parsed = parse_prefix(text);
    if (!parsed) {
      return make_error(Code::invalid,
                        "fabric " + name + ": " + what + " \"" + text + "\" is no IPv4 prefix")
          .about("fabric/" + name)
          .with_remedy("write the network with its length, for example 10.200.0.0/24");
    }
    const auto clash = std::find_if(taken.begin(), taken.end(),
                                    [&](const Prefix& other) { return other.overlaps(*parsed); });
    if (clash != taken.end()) {
      return make_error(Code::conflict, "fabric " + name + ": " + what + " " + text + " overlaps " +
                                            render_prefix(*clash))
          .about("fabric/" + name)
          .with_remedy("keep underlay, management, storage and node addresses apart");
    }
    taken.push_back(*parsed);
  }
  const auto access = parse_prefix(spec.access_prefix);
  const auto router = parse_ipv4(spec.access_router);
  const bool has_router = !spec.access_router.empty();
  if (has_router && (!access || !router || !access->contains({*router, 32}))) {
    return make_error(Code::invalid, "fabric " + name + ": access_router \"" + spec.access_router +
                                         "\" is not in access_prefix")
        .about("fabric/" + name)
        .with_remedy("give the router's IPv4 address in the access network, or leave it out");
  }
  const auto storage = parse_prefix(spec.storage_prefix);
  for (const auto& port : spec.storage_ports) {
    const auto address = parse_interface(port.address);
    if (storage && address && storage->contains(*address)) continue;
    return make_error(Code::invalid, "fabric " + name + ": storage port " + port.switch_name + " " +
                                         port.port + " has address \"" + port.address + "\"")
        .about("fabric/" + name)
        .with_remedy("use an address with length inside the storage prefix");
  }
  return {};
}

Error unfit(const Txn& txn, const std::string& name, const std::string& what,
            const std::string& holder) {
  const Cluster* cluster = txn.view().find(ClusterId(holder));
  return make_error(Code::conflict, "fabric " + name + ": " + what + ", which " +
                                        (cluster ? "cluster " + cluster->meta.name : holder) +
                                        " holds")
      .about("fabric/" + name)
      .with_remedy("keep it in the range, or delete the cluster first");
}

std::string range_text(const std::optional<NumberRange>& range) {
  return range ? std::to_string(range->from) + " to " + std::to_string(range->to) : "no values";
}

/// Every number that is held is still one of its pool.
Result<> check_numbers(const Txn& txn, const std::string& name) {
  for (const auto& [id, entry] : txn.view().all<PoolEntry>()) {
    const bool here = entry.fabric.substr(0, entry.fabric.find('/')) == name;
    if (!here || entry.state != PoolState::held || is_foreign(entry)) continue;
    const auto range = pool_range(txn.view(), {entry.fabric, entry.pool});
    if (range && range->contains(entry.value)) continue;
    return unfit(txn, name, "pool " + entry.pool + " with " + range_text(range) + " leaves out " +
                                std::to_string(entry.value),
                 entry.owner);
  }
  return {};
}

/// An address is held as its distance from the start of the pool, which may not move under it.
Result<> check_addresses(const Txn& txn, const std::string& name, const FabricSpec& spec) {
  const auto holds = [&](const std::string& pool, const std::string& prefix,
                         const std::string& text) {
    const auto base = parse_prefix(prefix);
    const auto address = parse_ipv4(text);
    if (!address) return true;
    if (!base || *address < base->address) return false;
    const auto* entry =
        find_entry(txn.view(), {name, pool}, static_cast<int>(*address - base->address));
    return entry != nullptr && entry->state == PoolState::held;
  };
  for (const auto& [id, network] : txn.view().all<Network>()) {
    if (network.status.fabric != name) continue;
    const Allocation* held = txn.view().find(network.allocation);
    const std::string owner = held ? held->cluster.str() : network.meta.name;
    for (const auto& own : network.status.storage) {
      if (holds("storage_address", spec.storage_node_pool, own.address)) continue;
      return unfit(txn, name, "storage_node_pool " + spec.storage_node_pool + " leaves out " +
                                  own.address,
                   owner);
    }
    const Cluster* cluster = held ? txn.view().find(held->cluster) : nullptr;
    const std::string access = cluster ? cluster->status.access_address : "";
    if (access.empty() || holds("access_address", spec.access_prefix, access)) continue;
    return unfit(txn, name, "access_prefix " + spec.access_prefix + " leaves out " + access, owner);
  }
  return {};
}

/// What exists must still fit: nothing that runs is renumbered.
Result<> check_networks(Txn& txn, const std::string& name, const FabricSpec& spec) {
  TRY_VOID(check_addresses(txn, name, spec));
  TRY_VOID(check_numbers(txn, name));
  for (const auto& [id, network] : txn.view().all<Network>()) {
    if (network.status.fabric != name) continue;
    TRY_VOID(
        check_prefixes(txn.view(), name, network.spec.prefixes, "network/" + network.meta.name));
  }
  return {};
}

/// Exports that are made by us need a server that nodes find where the storage's routes lead.
Result<> check_storage(const std::string& name, const FabricSpec& spec) {
  if (spec.storage_url.empty()) return {};
  const auto storage = parse_prefix(spec.storage_prefix);
  const auto mounted = parse_prefix(spec.storage_mount_address + "/32");
  if (!spec.storage_url.starts_with("ssh://")) {
    return make_error(Code::invalid,
                      "fabric " + name + ": storage_url \"" + spec.storage_url + "\" is none")
        .about("fabric/" + name)
        .with_remedy("write ssh://user@address");
  }
  if (storage && mounted && storage->contains(*mounted)) return {};
  return make_error(Code::invalid,
                    "fabric " + name + ": storage_mount_address \"" + spec.storage_mount_address +
                        "\" is not in storage_prefix \"" + spec.storage_prefix + "\"")
      .about("fabric/" + name)
      .with_remedy("declare both, or leave storage_url out");
}

}  // namespace

OperationPtr put_fabric(std::string name, FabricSpec spec) {
  const std::string object = "fabric/" + name;
  return make_operation("put_fabric", object, [=](Txn& txn) -> Result<> {
    TRY_VOID(require_valid_name("fabric", name));
    TRY_VOID(check_ranges(name, spec));
    TRY_VOID(check_apart(name, spec));
    TRY_VOID(check_own_prefixes(name, spec));
    TRY_VOID(check_storage(name, spec));
    Fabric fabric;
    if (const Fabric* known = txn.view().find_named<Fabric>(name)) {
      fabric = *known;
      ++fabric.meta.version;
    } else {
      fabric.id = txn.make_id<Fabric>();
      fabric.meta.name = name;
    }
    fabric.spec = spec;
    txn.put(std::move(fabric));
    return check_networks(txn, name, spec);
  });
}

OperationPtr record_switch_status(Id<Switch> id, SwitchStatus status) {
  return make_operation("record_switch_status", "switch/" + id.str(), [=](Txn& txn) -> Result<> {
    Switch device = TRY(get_object(txn, id));
    const auto& old = device.status;
    if (same(old.conditions, status.conditions) && old.drift == status.drift &&
        old.drift_since == status.drift_since) {
      return {};
    }
    device.status = status;
    txn.put(std::move(device));
    return {};
  });
}

OperationPtr record_fabric_conditions(Id<Fabric> id, std::vector<Condition> conditions) {
  return make_operation("record_fabric_conditions", "fabric/" + id.str(),
                        [=](Txn& txn) -> Result<> {
                          Fabric fabric = TRY(get_object(txn, id));
                          if (same(fabric.conditions, conditions)) return {};
                          fabric.conditions = conditions;
                          txn.put(std::move(fabric));
                          return {};
                        });
}

}  // namespace tundish
