#pragma once
// Numbers of a fabric: taken in the transaction of the order, buried when it ends.
#include "model/ops/common.hpp"

namespace tundish {

/// Lowest value of the pool that no live entry and no tombstone holds; exhausted when none is left.
Result<int> take_value(Txn& txn, const std::string& fabric, const std::string& pool,
                       const std::string& owner);
/// Turns every value of an owner into a tombstone. Its nodes were seen outside the segment before.
void bury_values(Txn& txn, const std::string& owner);

/// Host `host` of block `block` of the lab and default plan: 10.64.BLOCK.HOST.
std::string block_address(int block, int last_byte);

/// How long a value rests after it was last seen.
constexpr Duration tombstone_time = minutes(10);

}  // namespace tundish
