#include "model/ops/pool.hpp"

#include <set>

namespace tundish {
namespace {

/// First value and number of values of each pool of a fabric.
struct PoolRange {
  std::string_view pool;
  int first;
  int count;
};
constexpr PoolRange ranges[] = {
    {"address_block", 1, 250},  // 10.64.1.0/24 ... 10.64.250.0/24
    {"segment", 1001, 4000},    // becomes the VNI once the fabric is driven
    {"cluster_index", 0, 400},  // ports of engine daemons: 7000 + 10 * index
};

}  // namespace

Result<int> take_value(Txn& txn, const std::string& fabric, const std::string& pool,
                       const std::string& owner) {
  std::set<int> used;
  for (const auto& [id, entry] : txn.view().all<PoolEntry>()) {
    if (entry.fabric == fabric && entry.pool == pool) used.insert(entry.value);
  }
  for (const auto& range : ranges) {
    if (range.pool != pool) continue;
    for (int value = range.first; value < range.first + range.count; ++value) {
      if (used.contains(value)) continue;
      PoolEntry entry;
      entry.id = txn.make_id<PoolEntry>();
      entry.meta.name = fabric + "/" + pool + "/" + std::to_string(value);
      entry.fabric = fabric;
      entry.pool = pool;
      entry.value = value;
      entry.owner = owner;
      entry.since = txn.now();
      txn.put(std::move(entry));
      return value;
    }
    return make_error(Code::exhausted,
                      "pool " + pool + " of fabric " + fabric + " has no free value")
        .with_remedy("delete a cluster, or wait until tombstones run out (10 min)");
  }
  return make_error(Code::internal, "no pool " + pool);
}

void bury_values(Txn& txn, const std::string& owner) {
  std::vector<PoolEntry> held;
  for (const auto& [id, entry] : txn.view().all<PoolEntry>()) {
    if (entry.owner == owner && entry.state == PoolState::held) held.push_back(entry);
  }
  for (auto& entry : held) {
    entry.state = PoolState::tombstone;
    entry.since = txn.now();
    entry.seen_absent = true;
    txn.put(std::move(entry));
  }
}

std::string block_address(int block, int last_byte) {
  return "10.64." + std::to_string(block) + "." + std::to_string(last_byte);
}

}  // namespace tundish
