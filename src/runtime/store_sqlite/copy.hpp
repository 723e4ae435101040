#pragma once
// A whole store into one plain file. Internal to store_sqlite.
#include <string>

#include "base/result.hpp"
#include "runtime/store_sqlite/guard.hpp"

namespace tundish::store_sqlite {

/// Copies one snapshot of `source` into `path`, an empty file that exists. Commits of other
/// connections go on meanwhile. Durable, without a write-ahead log beside it.
Result<> copy_into(SQLite::Database& source, const std::string& path);
/// The same under a temporary name, then renamed: `path` is absent or whole. Refuses an existing
/// file (`conflict`).
Result<> save_copy(SQLite::Database& source, const std::string& path);

}  // namespace tundish::store_sqlite
