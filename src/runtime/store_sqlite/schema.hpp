#pragma once
// Tables and how they change between versions. Internal to store_sqlite.
#include <span>
#include <string>

#include "base/result.hpp"
#include "runtime/store_sqlite/guard.hpp"

namespace tundish::store_sqlite {

/// Leads from version `to - 1` to `to`. Never edited once released: a new version is a new step.
struct Migration {
  int to;
  const char* sql;
};

/// The steps of this program, in order.
std::span<const Migration> migrations();

enum class Access { read, write };

/// Opens an existing file that is empty or ours; refuses another program's database. With write:
/// WAL, every commit synchronised.
Result<SQLite::Database> open_database(const std::string& path, Access access);
/// 0 for an empty file.
Result<int> read_schema_version(SQLite::Database& database);
/// Brings the tables to the last of `steps`, one transaction per step, so that a crash leaves a
/// version and no mixture. Refuses a store written by a newer program.
Result<> migrate(SQLite::Database& database, std::span<const Migration> steps);

}  // namespace tundish::store_sqlite
