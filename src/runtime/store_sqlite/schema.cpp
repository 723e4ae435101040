#include "runtime/store_sqlite/schema.hpp"

#include <cstdint>
#include <fstream>

#include "base/text.hpp"

namespace tundish::store_sqlite {
namespace {

constexpr int busy_timeout_ms = 5000;
constexpr std::int64_t application_id = 0x54554E44;  // "TUND", so that file(1) and we know it

constexpr Migration steps_of_this_program[] = {
    {1, R"(
CREATE TABLE meta(
  key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE objects(
  kind TEXT NOT NULL, id TEXT NOT NULL, name TEXT NOT NULL, tenant TEXT NOT NULL,
  revision INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY(kind, id)) STRICT;
CREATE TABLE history(
  seq INTEGER PRIMARY KEY, revision INTEGER NOT NULL, at INTEGER NOT NULL, actor TEXT NOT NULL,
  operation TEXT NOT NULL, object TEXT NOT NULL, reason TEXT NOT NULL, outcome TEXT NOT NULL,
  previous_hash TEXT NOT NULL, hash TEXT NOT NULL) STRICT;
CREATE INDEX history_by_object ON history(object, seq);
CREATE TABLE head(
  one INTEGER PRIMARY KEY CHECK (one = 1), revision INTEGER NOT NULL, epoch INTEGER NOT NULL,
  newest INTEGER NOT NULL, entries INTEGER NOT NULL, last_hash TEXT NOT NULL) STRICT;
INSERT INTO head VALUES (1, 0, 1, 0, 0, '');
)"}};

std::int64_t read_number(SQLite::Database& database, const char* sql) {
  return database.execAndGet(sql).getInt64();
}

/// Looked at before SQLite does: it would delete the log beside a file whose first page is damaged,
/// and with it the commits that can still be saved.
Result<> check_first_bytes(const std::string& path) {
  const std::string expected("SQLite format 3\0", 16);
  std::string found(expected.size(), '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(found.data(), static_cast<std::streamsize>(found.size()));
  if (file.gcount() == 0 || (file && found == expected)) return {};  // empty: a new store
  return make_error(Code::corrupt, path + " is no SQLite database, or its first page is damaged")
      .with_remedy("check the path; restore the newest backup if this was the store");
}

Result<> check_ours(SQLite::Database& database) {
  const bool is_ours = read_number(database, "PRAGMA application_id") == application_id;
  if (is_ours || read_number(database, "SELECT count(*) FROM sqlite_master") == 0) return {};
  return make_error(Code::conflict,
                    database.getFilename() + " is the database of another program")
      .with_remedy("give another path; the file was not touched");
}

Result<> use_wal(SQLite::Database& database) {
  const std::string mode = database.execAndGet("PRAGMA journal_mode=WAL").getString();
  if (mode == "wal") return {};
  return make_error(Code::unsupported, "the file system of " + database.getFilename() +
                                           " cannot hold a write-ahead log (mode " + mode + ")")
      .with_remedy("put the store on a local disk");
}

}  // namespace

std::span<const Migration> migrations() { return steps_of_this_program; }

Result<SQLite::Database> open_database(const std::string& path, Access access) {
  TRY_VOID(check_first_bytes(path));
  return guard(path, [&]() -> Result<SQLite::Database> {
    const int flags = access == Access::read ? SQLite::OPEN_READONLY : SQLite::OPEN_READWRITE;
    SQLite::Database database(path, flags, busy_timeout_ms);
    database.exec("PRAGMA trusted_schema=OFF");
    TRY_VOID(check_ours(database));
    if (access == Access::write) {
      TRY_VOID(use_wal(database));
      database.exec("PRAGMA synchronous=FULL");
    }
    return database;
  });
}

Result<int> read_schema_version(SQLite::Database& database) {
  return guard(database.getFilename(), [&]() -> Result<int> {
    if (!database.tableExists("meta")) return 0;
    SQLite::Statement query(database, "SELECT value FROM meta WHERE key = 'schema_version'");
    const bool has = query.executeStep();
    const auto version = has ? parse_integer(query.getColumn(0).getString()) : std::nullopt;
    if (version && *version > 0 && *version < 1000000) return static_cast<int>(*version);
    return make_error(Code::corrupt, "store " + database.getFilename() + " has no schema version")
        .with_remedy("restore the newest backup");
  });
}

Result<> migrate(SQLite::Database& database, std::span<const Migration> steps) {
  const std::string& path = database.getFilename();
  const int version = TRY(read_schema_version(database));
  const int newest = steps.empty() ? 0 : steps.back().to;
  if (version > newest) {
    return make_error(Code::unsupported, "store " + path + " has schema " +
                                             std::to_string(version) + ", this program knows " +
                                             std::to_string(newest))
        .with_remedy("run the newer version, or restore a backup made before the upgrade");
  }
  return guard(path, [&]() -> Result<> {
    for (const auto& step : steps) {
      if (step.to <= version) continue;
      SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
      database.exec("PRAGMA application_id=" + std::to_string(application_id));
      database.exec(step.sql);
      SQLite::Statement set(database, "INSERT INTO meta VALUES ('schema_version', ?1) "
                                      "ON CONFLICT(key) DO UPDATE SET value = excluded.value");
      set.bind(1, std::to_string(step.to));
      set.exec();
      transaction.commit();
    }
    return {};
  });
}

}  // namespace tundish::store_sqlite
