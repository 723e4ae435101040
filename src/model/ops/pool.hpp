#pragma once
// Numbers of a fabric: taken in the transaction of the order, buried when it ends, reissued when
// they were seen absent and rested.
#include <optional>

#include "model/ops/common.hpp"

namespace tundish {

/// Where a number is drawn from. `fabric` is the name of a fabric, or FABRIC/SWITCH for numbers
/// that are local to a switch (vlan, l3vlan).
struct PoolRef {
  std::string fabric;
  std::string pool;
};

/// Range of a pool. A fabric that nobody declared has the default ranges, so that sites whose
/// switches are not driven number their clusters too. nullopt: no such pool.
std::optional<NumberRange> pool_range(const Registry& view, const PoolRef& pool);

/// The lowest values of the pool that no live entry and no tombstone holds; exhausted, and nothing
/// taken, when there are not enough.
Result<std::vector<int>> take_values(Txn& txn, const PoolRef& pool, const std::string& owner,
                                     int count);
Result<int> take_value(Txn& txn, const std::string& fabric, const std::string& pool,
                       const std::string& owner);
/// Turns every value of an owner into a tombstone. Nothing is assumed of the fabric: a value is
/// reissued only after mark_absent.
void bury_values(Txn& txn, const std::string& owner);
/// Turns one value of an owner into a tombstone.
void bury_value(Txn& txn, const PoolRef& pool, int value, const std::string& owner);
const PoolEntry* find_entry(const Registry& view, const PoolRef& pool, int value);

/// No switch and no fabric shows the value any more, by a look at all of them after its release.
OperationPtr mark_absent(Id<PoolEntry> entry);
/// A tombstone is seen again, for example because a stale monitor put a member back: it rests anew.
OperationPtr mark_present(Id<PoolEntry> entry);
/// After the tombstone time and only when seen absent.
OperationPtr free_pool_entry(Id<PoolEntry> id);

/// A number that somebody else uses.
struct ForeignUse {
  PoolRef pool;
  int value = 0;
  std::string where;  ///< switch or fabric that shows it
};
/// Takes numbers of others out of the pools of `fabric`; those of the pools that are no longer in
/// `seen` become tombstones that were seen absent. The caller looked at the whole fabric. A number
/// that an object of ours holds stays with it.
OperationPtr note_foreign(std::string fabric, std::vector<ForeignUse> seen);
bool is_foreign(const PoolEntry& entry);

/// How long a value rests after it was last seen.
constexpr Duration tombstone_time = minutes(10);

}  // namespace tundish
