#pragma once
// The embedded store: one SQLite file, its -wal and -shm, and PATH.lock.
#include <SQLiteCpp/Database.h>

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "ports/store.hpp"
#include "runtime/store_sqlite/lock.hpp"
#include "runtime/store_sqlite/rows.hpp"

namespace tundish {

/// Of one thread, but for backup() and verify_history(): these read through a connection of their
/// own, so that another thread may run them while commits go on.
class SqliteStore final : public Store {
 public:
  /// Makes the store when it is absent and brings an older one to this version. Refuses a file of
  /// another program or of a newer version, and a store that another process has open (`conflict`).
  static Result<std::unique_ptr<SqliteStore>> open(const std::string& path);

  StoreHead head() const override { return head_.head; }
  /// Fields that this version does not know are kept for the next write of their object. Objects
  /// of a kind that it does not know stay on disk; they are logged and not handed over.
  Result<> load(const std::function<Result<>(const ObjectBase&)>& take) override;
  /// `conflict` when a change is not above the head: its writer did not see the latest state.
  /// `exhausted`: no space, nothing was kept. When the disk failed in the commit itself only
  /// opening the store anew tells whether the batch is in it: then the process ends.
  Result<> commit(const Batch& batch) override;
  Result<std::vector<HistoryEntry>> history(const HistoryQuery& query) override;
  Result<VerifyReport> verify_history() override;
  /// One plain file, mode 0600. Refuses an existing one.
  Result<> backup(const std::string& path) override;

 private:
  SqliteStore(std::string path, store_sqlite::StoreLock lock, SQLite::Database database);
  Result<> take_object(const store_sqlite::ObjectRow& row,
                       const std::function<Result<>(const ObjectBase&)>& take);
  Result<store_sqlite::ObjectRow> encode(const Change& change) const;
  Result<store_sqlite::HeadRow> write(const Batch& batch);

  std::string path_;
  store_sqlite::StoreLock lock_;
  SQLite::Database database_;
  store_sqlite::Rows rows_;
  store_sqlite::HeadRow head_;
  bool is_loaded_ = false;
  std::map<std::pair<std::string, std::string>, std::string> kept_;  ///< unknown fields, as JSON
  std::map<std::string, std::int64_t> unknown_kinds_;
  std::map<std::string, std::int64_t>
      unknown_parts_;  ///< objects with fields or words unknown here
};

}  // namespace tundish
