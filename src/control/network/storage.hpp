#pragma once
// Tenants' exports: who is to be let to which one, and what the storage shows of it. Pure.
#include "control/action.hpp"

namespace tundish::control::network {

/// What the fabric's storage gives to a network, or nothing when nobody drives it there.
struct StoragePlan {
  StorageRef ref;
  std::string export_name;
  std::string mount_address;  ///< IPv4 that nodes mount from
  std::string prefix;         ///< of the storage
};
std::optional<StoragePlan> storage_plan(const View& view, const Network& network);
/// As last read, when that is not too long ago.
const StorageObserved* fresh_storage(const View& view, const std::string& fabric);
/// Address of a node towards the storage; empty: none.
std::string storage_address(const Network& network, const NodeId& node);

/// Where a member is seen: `inside` when its address is granted and routed, `outside` when neither
/// a grant nor a session nor a route is left of it. `none`: nobody drives a storage for it.
enum class StoragePlace { none, inside, outside, unknown };
StoragePlace storage_place(const View& view, const Allocation& allocation,
                           const AllocationNode& member);
/// Nobody drives a storage for it, or it was read since tundishd began: its key is known.
bool storage_place_is_known(const View& view, const Allocation& allocation);
/// Grants for members, and revocations for who left. At most one act.
void add_export_acts(const View& view, const Allocation& allocation, std::vector<Action>& out);
/// Takes away grants of addresses that we gave out once and no network has any more: a write of a
/// tundishd that died may land after its successor looked. Others' grants are left alone.
std::optional<Action> revoke_orphans(const View& view, const std::string& fabric);
/// The tenant's export when the storage does not have it. The caller, who knows secrets, puts the
/// key into it.
std::optional<Action> make_export(const View& view, const Allocation& allocation);

/// The storage of a fabric, as `network show` and `network list` call it.
std::string storage_name(const std::string& fabric);
/// Who is let to the network's export, or has a session in it, and is nobody of its tenant; whose
/// of its own nodes another export lets in; and every key but the tenant's own that opens it. In
/// words for people.
std::vector<std::string> foreign_grants(const View& view, const Network& network);
/// What is known of the network on the storage. Nothing: nobody drives one for it.
std::optional<NetworkSync> storage_sync(const View& view, const Network& network);

enum class RowKnown { yes, no };
/// One line of `network show`.
struct ExportRow {
  std::string item, wanted, observed;
  RowKnown known = RowKnown::yes;
};
/// Export, grants and sessions of a network: wanted beside seen. Empty: nobody drives a storage.
std::vector<ExportRow> export_rows(const View& view, const Network& network);

}  // namespace tundish::control::network
