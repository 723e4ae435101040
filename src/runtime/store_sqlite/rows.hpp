#pragma once
// The statements of the store, prepared once. What SQLite throws passes through: callers guard.
// Internal to store_sqlite.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ports/store.hpp"
#include "runtime/store_sqlite/guard.hpp"

namespace tundish::store_sqlite {

struct HeadRow {
  StoreHead head;
  std::int64_t entries = 0;  ///< of history; a cut tail shows by it
  std::string last_hash;
};

struct ObjectRow {
  std::string kind;
  std::string id;
  std::string name;
  std::string tenant;
  std::int64_t revision = 0;
  std::string body;
};

class Rows {
 public:
  explicit Rows(SQLite::Database& database);
  void put(const ObjectRow& row);
  void erase(const Change& change);
  /// Chains `entry` to the last one and counts it in `head`.
  void append(HistoryEntry entry, HeadRow& head);
  void set_head(const HeadRow& head);

 private:
  SQLite::Statement put_;
  SQLite::Statement erase_;
  SQLite::Statement append_;
  SQLite::Statement head_;
};

HeadRow read_head(SQLite::Database& database);
/// Ordered by kind and id.
Result<> each_object(SQLite::Database& database,
                     const std::function<Result<>(const ObjectRow&)>& take);
std::vector<HistoryEntry> read_history(SQLite::Database& database, const HistoryQuery& query);
/// Walks the whole chain in one snapshot and compares its end with the head.
VerifyReport verify_chain(SQLite::Database& database);

}  // namespace tundish::store_sqlite
