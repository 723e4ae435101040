#pragma once
// What every manager's partitions obey, checked before anything is written.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/fabric_state.hpp"

namespace tundish::fabrics {

/// 0x and 16 lower-case hex digits; not zero, not all ones.
bool is_guid(std::string_view text);
/// 16 to 20 hex digits in any case, with or without 0x, in the one spelling.
std::optional<std::string> normalise_guid(std::string_view text);
std::string pkey_text(int pkey);  ///< 0x0110
/// Whether the name is `prefix` and five digits.
bool is_own_name(std::string_view name, std::string_view prefix);
bool is_own_pkey(int pkey, const FabricOwnership& ownership);

/// InfiniBand: names, numbers, GUIDs, order, and nothing twice.
Result<> check_ib_partitions(const FabricState& desired);
/// Every partition is inside what is ours.
Result<> check_ownership(const FabricState& desired, const FabricOwnership& ownership);

/// `now` with everything taken out that is not in `to` the same way: the first half of a change.
FabricState without_leavers(const FabricState& now, const FabricState& to);
const IbPartitionState* find_partition(const FabricState& state, int pkey);
const IbMember* find_member(const IbPartitionState& partition, std::string_view guid);
/// "GUID 0x... leaves PKey 0x0110"; removal first.
struct MemberChange {
  std::string guid;
  int pkey = 0;
  std::optional<IbMembership> from, to;  ///< absent: not a member
};
std::vector<MemberChange> member_changes(const FabricState& from, const FabricState& to);
std::string describe(const MemberChange& change);

}  // namespace tundish::fabrics
