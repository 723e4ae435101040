#pragma once
#include <string>

#include "base/result.hpp"

namespace tundish {

/// Puts a backup in the place of a store; no process may have it open. The backup's chain is
/// verified first and the backup itself stays as it is. A store that is there already is kept as
/// STORE.before-restore-N. The restored store starts on hold, in a new epoch.
///
/// Fence: epoch E owns the revisions from E * 2^40. The new epoch is above that of the backup, of
/// the replaced store and of every STORE.before-restore-N; in case the last store is lost and
/// names none of them, the revision also moves up by 256 for every second since 2025. 2^40 is
/// above what 34 years of 1,000 writes a second use, and 8,191 restores stay below 2^53.
Result<> restore_store(const std::string& backup_path, const std::string& store_path);

}  // namespace tundish
