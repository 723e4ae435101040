#pragma once
// Which released numbers are gone from the fabric, and which numbers somebody else uses. Pure.
#include "control/view.hpp"
#include "model/operation.hpp"

namespace tundish::control::network {

/// mark_absent for every tombstone that no switch and no fabric shows, each of them looked at since
/// the release; mark_present for one that shows up again. One place that was not looked at keeps
/// the number buried: a single stale flood entry would deliver frames of the old tenant.
/// Source: facts/cloud.md, section 3.9; checked 2026-11.
std::vector<OperationPtr> tombstone_changes(const View& view);
/// Those that no place shows now, each of them looked at in this life of tundishd, and that rested
/// long enough: by its own running time, since a clock may be ahead at a start.
std::vector<Id<PoolEntry>> rested_tombstones(const View& view);
/// When the entry may be free again, if nothing shows it.
Instant rest_end(const View& view, const PoolEntry& entry);
/// note_foreign when what others use has changed; empty before the whole fabric was looked at.
std::vector<OperationPtr> foreign_changes(const View& view, const std::string& fabric);

}  // namespace tundish::control::network
