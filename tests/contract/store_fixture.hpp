#pragma once
// What the contract of stores needs from each kind: a disk that outlives the open store, and hands
// that do what an intruder or another version would do to it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "runtime/process/process.hpp"
#include "runtime/store_sqlite/restore.hpp"
#include "runtime/store_sqlite/sqlite_store.hpp"
#include "sim/memory_store.hpp"
#include "store_author.hpp"

namespace tundish::contract {

/// A folder that is gone afterwards.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "tundish-store-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// Runs the sqlite3 tool, so that what is planted does not pass through our own code.
inline void run_sql(const std::string& database, const std::string& sql) {
  process::Command command;
  command.argv = {"sqlite3", "-bail", database};
  command.input = sql + ";\n";
  const auto output = process::run(command);
  ASSERT_TRUE(output.has_value()) << output.error().message();
  ASSERT_TRUE(output->ok()) << output->err;
}

inline std::string quote(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("''") : std::string(1, c);
  return out + "'";
}

/// Each changes a history of five entries; the entry that verify_history() must name.
enum class Tamper { edit_reason, delete_middle, cut_tail, forge_hash };

class SqliteDisk {
 public:
  /// Opens it unless it is open.
  Store& open() {
    if (store_) return *store_;
    auto store = SqliteStore::open(path());
    check(store.has_value(), store ? "" : store.error().message());
    store_ = std::move(*store);
    return *store_;
  }
  void close() { store_.reset(); }
  std::unique_ptr<Store> open_backup(const std::string& name) {
    auto store = SqliteStore::open(name);
    check(store.has_value(), store ? "" : store.error().message());
    return std::move(*store);
  }
  Result<> restore(const std::string& backup) {
    close();
    return restore_store(backup, path());
  }
  void plant(const std::string& kind, const std::string& id, const std::string& body) {
    run_sql(path(), "INSERT OR REPLACE INTO objects VALUES(" + quote(kind) + "," + quote(id) +
                        ",'','',1," + quote(body) + ")");
  }
  std::string find_body(const std::string& kind, const std::string& id) {
    SQLite::Database database(path());
    SQLite::Statement row(database, "SELECT body FROM objects WHERE kind = ?1 AND id = ?2");
    row.bind(1, kind);
    row.bind(2, id);
    return row.executeStep() ? row.getColumn(0).getString() : "";
  }
  void tamper(Tamper how) {
    close();
    switch (how) {
      case Tamper::edit_reason:
        return run_sql(path(), "UPDATE history SET reason = 'nothing to see' WHERE seq = 3");
      case Tamper::delete_middle: return run_sql(path(), "DELETE FROM history WHERE seq = 3");
      case Tamper::cut_tail: return run_sql(path(), "DELETE FROM history WHERE seq >= 3");
      case Tamper::forge_hash:
        return run_sql(path(), "UPDATE history SET hash = 'f00d' WHERE seq = 3");
    }
  }
  std::string path() const { return folder_ / "store.db"; }
  std::string backup_name(const std::string& name) const { return folder_ / name; }

 private:
  Folder folder_;
  std::unique_ptr<SqliteStore> store_;
};

class MemoryDisk {
 public:
  Store& open() { return store_; }
  void close() {}
  std::unique_ptr<Store> open_backup(const std::string& name) {
    auto store = store_.open_backup(name);
    check(store.has_value(), "the backup must be there");
    return std::move(*store);
  }
  Result<> restore(const std::string& backup) { return store_.restore(backup, Instant{1000}); }
  void plant(const std::string& kind, const std::string& id, const std::string& body) {
    store_.plant_object(kind, id, body);
  }
  std::string find_body(const std::string& kind, const std::string& id) {
    return store_.find_body(kind, id);
  }
  void tamper(Tamper how) {
    store_.tamper([&](std::vector<HistoryEntry>& history) {
      switch (how) {
        case Tamper::edit_reason: history[2].reason = "nothing to see"; break;
        case Tamper::delete_middle: history.erase(history.begin() + 2); break;
        case Tamper::cut_tail: history.resize(2); break;
        case Tamper::forge_hash: history[2].hash = "f00d"; break;
      }
    });
  }
  std::string backup_name(const std::string& name) const { return name; }

 private:
  sim::MemoryStore store_;
};

}  // namespace tundish::contract
