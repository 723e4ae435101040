#include "runtime/store_sqlite/rows.hpp"

#include <sqlite3.h>

#include <algorithm>

#include "runtime/store_sqlite/chain.hpp"

namespace tundish::store_sqlite {
namespace {

constexpr const char* entry_columns =
    "seq, revision, at, actor, operation, object, reason, outcome, previous_hash, hash";

/// Resets on every way out: a statement left half way keeps its transaction open.
class Use {
 public:
  explicit Use(SQLite::Statement& statement) : statement_(statement) {}
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  ~Use() { statement_.tryReset(); }
  template <class... Values>
  void run(const Values&... values) {
    int index = 0;
    (statement_.bind(++index, values), ...);
    statement_.exec();
  }

 private:
  SQLite::Statement& statement_;
};

HistoryEntry read_entry(SQLite::Statement& row) {
  HistoryEntry entry;
  entry.sequence = row.getColumn(0).getInt64();
  entry.revision = row.getColumn(1).getInt64();
  entry.at = Instant{row.getColumn(2).getInt64()};
  entry.actor = row.getColumn(3).getString();
  entry.operation = row.getColumn(4).getString();
  entry.object = row.getColumn(5).getString();
  entry.reason = row.getColumn(6).getString();
  entry.outcome = row.getColumn(7).getString();
  entry.previous_hash = row.getColumn(8).getString();
  entry.hash = row.getColumn(9).getString();
  return entry;
}

/// The least text above everything that starts with `prefix`; "" when there is none. Compared as
/// bytes, which is how SQLite orders text.
std::string upper_bound_of(std::string prefix) {
  while (!prefix.empty() && static_cast<unsigned char>(prefix.back()) == 255) prefix.pop_back();
  if (!prefix.empty()) prefix.back() = static_cast<char>(prefix.back() + 1);
  return prefix;
}

std::string fault_of(std::int64_t sequence, std::int64_t found, const HistoryEntry& entry,
                     const std::string& previous_hash) {
  const std::string name = "entry " + std::to_string(sequence);
  if (found != sequence) return name + " is missing: the next one is " + std::to_string(found);
  if (entry.previous_hash != previous_hash) return name + " does not follow the entry before it";
  if (entry.hash != hash_entry(sequence, entry)) return name + " was changed: its hash differs";
  return "";
}

}  // namespace

Rows::Rows(SQLite::Database& database)
    : put_(database,
           "INSERT INTO objects(kind, id, name, tenant, revision, body) "
           "VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT(kind, id) DO UPDATE SET "
           "name = excluded.name, tenant = excluded.tenant, revision = excluded.revision, "
           "body = excluded.body"),
      erase_(database, "DELETE FROM objects WHERE kind = ?1 AND id = ?2"),
      append_(database, std::string("INSERT INTO history(") + entry_columns +
                            ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"),
      head_(database,
            "UPDATE head SET revision = ?1, epoch = ?2, newest = ?3, entries = ?4, "
            "last_hash = ?5") {}

void Rows::put(const ObjectRow& row) {
  Use(put_).run(row.kind, row.id, row.name, row.tenant, row.revision, row.body);
}

void Rows::erase(const Change& change) { Use(erase_).run(change.kind, change.id); }

void Rows::append(HistoryEntry entry, HeadRow& head) {
  entry.previous_hash = head.last_hash;
  const std::int64_t sequence = ++head.entries;
  entry.hash = hash_entry(sequence, entry);
  Use(append_).run(sequence, entry.revision, entry.at.us, entry.actor, entry.operation,
                   entry.object, entry.reason, entry.outcome, entry.previous_hash, entry.hash);
  head.last_hash = std::move(entry.hash);
  head.head.revision = std::max(head.head.revision, entry.revision);
  head.head.newest = std::max(head.head.newest, entry.at);
}

void Rows::set_head(const HeadRow& head) {
  Use(head_).run(head.head.revision, head.head.epoch, head.head.newest.us, head.entries,
                 head.last_hash);
}

HeadRow read_head(SQLite::Database& database) {
  SQLite::Statement row(database, "SELECT revision, epoch, newest, entries, last_hash FROM head");
  HeadRow out;
  if (!row.executeStep()) throw SQLite::Exception("the head row is missing", SQLITE_CORRUPT);
  out.head.revision = row.getColumn(0).getInt64();
  out.head.epoch = row.getColumn(1).getInt64();
  out.head.newest = Instant{row.getColumn(2).getInt64()};
  out.entries = row.getColumn(3).getInt64();
  out.last_hash = row.getColumn(4).getString();
  return out;
}

Result<> each_object(SQLite::Database& database,
                     const std::function<Result<>(const ObjectRow&)>& take) {
  SQLite::Statement row(database,
                        "SELECT kind, id, name, tenant, revision, body FROM objects "
                        "ORDER BY kind, id");
  while (row.executeStep()) {
    ObjectRow object;
    object.kind = row.getColumn(0).getString();
    object.id = row.getColumn(1).getString();
    object.name = row.getColumn(2).getString();
    object.tenant = row.getColumn(3).getString();
    object.revision = row.getColumn(4).getInt64();
    object.body = row.getColumn(5).getString();
    TRY_VOID(take(object));
  }
  return {};
}

std::vector<HistoryEntry> read_history(SQLite::Database& database, const HistoryQuery& query) {
  const std::string below = upper_bound_of(query.object);
  std::string sql = std::string("SELECT ") + entry_columns + " FROM history WHERE seq > ?1";
  if (!query.object.empty()) sql += " AND object >= ?3";
  if (!below.empty()) sql += " AND object < ?4";
  if (query.before > 0) sql += " AND seq < ?5";
  sql += query.newest_first ? " ORDER BY seq DESC LIMIT ?2" : " ORDER BY seq LIMIT ?2";
  SQLite::Statement row(database, sql);
  row.bind(1, query.after);
  row.bind(2, query.limit);
  if (!query.object.empty()) row.bind(3, query.object);
  if (!below.empty()) row.bind(4, below);
  if (query.before > 0) row.bind(5, query.before);
  std::vector<HistoryEntry> out;
  while (row.executeStep()) out.push_back(read_entry(row));
  return out;
}

VerifyReport verify_chain(SQLite::Database& database) {
  SQLite::Transaction snapshot(database);
  const HeadRow head = read_head(database);
  VerifyReport report;
  SQLite::Statement row(database,
                        std::string("SELECT ") + entry_columns + " FROM history ORDER BY seq");
  while (row.executeStep()) {
    const HistoryEntry entry = read_entry(row);
    const std::int64_t sequence = report.entries + 1;
    report.fault = fault_of(sequence, row.getColumn(0).getInt64(), entry, report.last_hash);
    if (!report.fault.empty()) return report;
    report.entries = sequence;
    report.last_hash = entry.hash;
  }
  if (report.entries < head.entries) {
    report.fault = "entry " + std::to_string(report.entries + 1) + " is missing: the head counts " +
                   std::to_string(head.entries);
  } else if (report.entries > head.entries) {
    report.fault = "entry " + std::to_string(head.entries + 1) + " was added behind the head";
  } else if (report.last_hash != head.last_hash) {
    report.fault = "entry " + std::to_string(report.entries) + " is not the one the head names";
  }
  report.intact = report.fault.empty();
  return report;
}

}  // namespace tundish::store_sqlite
