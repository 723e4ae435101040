#include "model/ops/pool.hpp"

#include <set>

#include "model/prefix.hpp"

namespace tundish {
namespace {

const std::string foreign_owner = "foreign:";

/// Pools that are no numbers of the fabric itself.
std::optional<NumberRange> plain_range(const std::string& pool) {
  if (pool == "address_block") return NumberRange{1, 250};  // 10.64.1.0/24 ... 10.64.250.0/24
  if (pool == "segment") return NumberRange{1001, 5000};    // of fabrics that are not driven
  if (pool == "cluster_index") return NumberRange{0, 399};  // daemons' ports: 7000 + 10 * index
  return std::nullopt;
}

std::optional<NumberRange> addresses_of(const std::string& prefix) {
  const auto parsed = parse_prefix(prefix);
  if (!parsed || parsed->length < 8 || parsed->length > 30) return std::nullopt;
  return NumberRange{1, static_cast<int>(parsed->last() - parsed->address) - 1};
}

/// The first fifteen are the site's own: routers and the like.
std::optional<NumberRange> gateway_addresses_of(const FabricSpec& spec) {
  auto range = addresses_of(spec.access_prefix);
  if (range) range->from = 16;
  return range && range->from <= range->to ? range : std::nullopt;
}

std::string entry_name(const PoolRef& pool, int value) {
  return pool.fabric + "/" + pool.pool + "/" + std::to_string(value);
}

std::string fabric_of(const std::string& scope) { return scope.substr(0, scope.find('/')); }

std::string count_of(int count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

/// Why nothing is free, and what would help. A number that the pool has no more would help nobody.
Error exhausted(const Registry& view, const PoolRef& pool, NumberRange range) {
  int unseen = 0, resting = 0;
  for (const auto& [id, entry] : view.all<PoolEntry>()) {
    if (entry.fabric != pool.fabric || entry.pool != pool.pool) continue;
    if (!range.contains(entry.value)) continue;
    if (entry.state == PoolState::tombstone) ++(entry.seen_absent ? resting : unseen);
  }
  std::string remedy = "delete a cluster, or widen the pool of the fabric";
  if (resting > 0) {
    remedy += ", or wait: " + count_of(resting, "tombstone") +
              (resting == 1 ? " runs" : " run") + " out within 10 min";
  }
  if (unseen > 0) {
    remedy += "; " + count_of(unseen, "released value") + (unseen == 1 ? " was" : " were") +
              " not yet seen absent on every switch, see: tundish switch list";
  }
  return make_error(Code::exhausted,
                    "pool " + pool.pool + " of fabric " + pool.fabric + " has no free value")
      .about("fabric/" + fabric_of(pool.fabric))
      .with_remedy(remedy);
}

PoolEntry make_entry(Txn& txn, const PoolRef& pool, int value, const std::string& owner) {
  PoolEntry entry;
  entry.id = txn.make_id<PoolEntry>();
  entry.meta.name = entry_name(pool, value);
  entry.fabric = pool.fabric;
  entry.pool = pool.pool;
  entry.value = value;
  entry.owner = owner;
  entry.since = txn.now();
  return entry;
}

void bury(Txn& txn, PoolEntry entry) {
  entry.state = PoolState::tombstone;
  entry.since = txn.now();
  entry.seen_absent = false;
  txn.put(std::move(entry));
}

std::string about(const Id<PoolEntry>& id) { return "pool_entry/" + id.str(); }

}  // namespace

std::optional<NumberRange> pool_range(const Registry& view, const PoolRef& pool) {
  if (const auto plain = plain_range(pool.pool)) return plain;
  static const FabricSpec undeclared;
  const Fabric* fabric = view.find_named<Fabric>(fabric_of(pool.fabric));
  const FabricSpec& spec = fabric ? fabric->spec : undeclared;
  if (pool.pool == "vrf_id") return spec.vrf_ids;
  if (pool.pool == "l3vni") return spec.l3vnis;
  if (pool.pool == "l2vni") return spec.l2vnis;
  if (pool.pool == "vlan") return spec.vlans;
  if (pool.pool == "l3vlan") return spec.l3vlans;
  if (pool.pool == "pkey") return spec.pkeys;
  if (pool.pool == "nvlink_partition") return spec.nvlink_partitions;
  if (pool.pool == "storage_address") return addresses_of(spec.storage_node_pool);
  if (pool.pool == "access_address") return gateway_addresses_of(spec);
  return std::nullopt;
}

Result<std::vector<int>> take_values(Txn& txn, const PoolRef& pool, const std::string& owner,
                                     int count) {
  const auto range = pool_range(txn.view(), pool);
  if (!range) return make_error(Code::internal, "no pool " + pool.pool);
  std::set<int> used;
  for (const auto& [id, entry] : txn.view().all<PoolEntry>()) {
    if (entry.pool == pool.pool && entry.fabric == pool.fabric) used.insert(entry.value);
  }
  std::vector<int> out;
  auto next = used.lower_bound(range->from);
  for (int value = range->from; value <= range->to && static_cast<int>(out.size()) < count;
       ++value) {
    if (next != used.end() && *next == value) {
      ++next;
      continue;
    }
    out.push_back(value);
  }
  if (static_cast<int>(out.size()) < count) return exhausted(txn.view(), pool, *range);
  for (const int value : out) txn.put(make_entry(txn, pool, value, owner));
  return out;
}

Result<int> take_value(Txn& txn, const std::string& fabric, const std::string& pool,
                       const std::string& owner) {
  return TRY(take_values(txn, {fabric, pool}, owner, 1)).front();
}

void bury_values(Txn& txn, const std::string& owner) {
  std::vector<PoolEntry> held;
  for (const auto& [id, entry] : txn.view().all<PoolEntry>()) {
    if (entry.owner == owner && entry.state == PoolState::held) held.push_back(entry);
  }
  for (auto& entry : held) bury(txn, std::move(entry));
}

const PoolEntry* find_entry(const Registry& view, const PoolRef& pool, int value) {
  return view.find_named<PoolEntry>(entry_name(pool, value));
}

void bury_value(Txn& txn, const PoolRef& pool, int value, const std::string& owner) {
  const PoolEntry* found = find_entry(txn.view(), pool, value);
  if (found && found->owner == owner && found->state == PoolState::held) bury(txn, *found);
}

OperationPtr mark_absent(Id<PoolEntry> id) {
  return make_operation("mark_absent", about(id), [id](Txn& txn) -> Result<> {
    PoolEntry entry = TRY(get_object(txn, id));
    if (entry.state != PoolState::tombstone) {
      return make_error(Code::conflict, "pool value " + entry.meta.name + " is in use");
    }
    if (entry.seen_absent) return {};
    entry.seen_absent = true;
    txn.put(std::move(entry));
    return {};
  });
}

OperationPtr mark_present(Id<PoolEntry> id) {
  return make_operation("mark_present", about(id), [id](Txn& txn) -> Result<> {
    PoolEntry entry = TRY(get_object(txn, id));
    if (entry.state != PoolState::tombstone || !entry.seen_absent) return {};
    bury(txn, std::move(entry));
    return {};
  });
}

OperationPtr free_pool_entry(Id<PoolEntry> id) {
  return make_operation("free_pool_entry", about(id), [id](Txn& txn) -> Result<> {
    const PoolEntry entry = TRY(get_object(txn, id));
    if (entry.state != PoolState::tombstone || !entry.seen_absent) {
      return make_error(Code::conflict, "pool value is not a tombstone seen absent");
    }
    if (txn.now() < entry.since + tombstone_time) {
      return make_error(Code::conflict, "pool value " + entry.meta.name + " has not rested enough")
          .with_remedy("wait " + render_duration(entry.since + tombstone_time - txn.now()));
    }
    txn.erase(id);
    return {};
  });
}

bool is_foreign(const PoolEntry& entry) { return entry.owner.starts_with(foreign_owner); }

OperationPtr note_foreign(std::string fabric, std::vector<ForeignUse> seen) {
  const std::string object = "fabric/" + fabric;
  return make_operation("note_foreign", object, [=](Txn& txn) -> Result<> {
    std::set<std::string> names;
    for (const auto& use : seen) {
      if (!names.insert(entry_name(use.pool, use.value)).second) continue;
      const PoolEntry* known = find_entry(txn.view(), use.pool, use.value);
      if (known && known->state == PoolState::held) continue;  // ours, or noted before
      PoolEntry entry = known ? *known : make_entry(txn, use.pool, use.value, "");
      entry.owner = foreign_owner + use.where;
      entry.state = PoolState::held;
      entry.seen_absent = false;
      entry.since = txn.now();
      txn.put(std::move(entry));
    }
    std::vector<PoolEntry> gone;
    for (const auto& [id, entry] : txn.view().all<PoolEntry>()) {
      const bool here = fabric_of(entry.fabric) == fabric && is_foreign(entry);
      if (here && entry.state == PoolState::held && !names.contains(entry.meta.name)) {
        gone.push_back(entry);
      }
    }
    for (auto& entry : gone) {
      entry.state = PoolState::tombstone;
      entry.since = txn.now();
      entry.seen_absent = true;
      txn.put(std::move(entry));
    }
    return {};
  });
}

}  // namespace tundish
