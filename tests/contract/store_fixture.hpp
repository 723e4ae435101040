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
#include "codec/json.hpp"
#include "model/operation.hpp"
#include "runtime/process/process.hpp"
#include "runtime/store_sqlite/restore.hpp"
#include "runtime/store_sqlite/sqlite_store.hpp"
#include "sim/memory_store.hpp"

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

/// Writes what a controller would: numbered revisions from the head up.
class Author {
 public:
  explicit Author(Store& store) : store_(store), revision_(store.head().revision) {}

  Rack make_rack(const std::string& name) {
    Rack rack;
    rack.id = Id<Rack>("rack-" + std::to_string(revision_ + 1));
    rack.meta.name = name;
    return rack;
  }
  template <class T>
  Author& put(T object) {
    object.meta.revision = ++revision_;
    const std::string id = object.id.str();
    batch_.changes.push_back(
        {std::string(T::kind), id, revision_, std::make_shared<Holder<T>>(std::move(object))});
    return *this;
  }
  template <class T>
  Author& erase(const Id<T>& id) {
    batch_.changes.push_back({std::string(T::kind), id.str(), ++revision_, nullptr});
    return *this;
  }
  Author& note(const std::string& object, const std::string& reason = "because") {
    HistoryEntry entry;
    entry.revision = revision_;
    entry.at = Instant{1000 + ++notes_};
    entry.actor = "user:ann";
    entry.operation = "rename_rack";
    entry.object = object;
    entry.reason = reason;
    entry.outcome = "done";
    batch_.history.push_back(std::move(entry));
    return *this;
  }
  Batch take() { return std::exchange(batch_, {}); }
  Result<> commit() { return store_.commit(take()); }
  std::int64_t revision() const { return revision_; }

 private:
  Store& store_;
  std::int64_t revision_;
  std::int64_t notes_ = 0;
  Batch batch_;
};

/// Every object as "kind/id json", in the order of load().
inline std::vector<std::string> read_all(Store& store) {
  std::vector<std::string> out;
  const auto loaded = store.load([&](const ObjectBase& object) -> Result<> {
    out.push_back(std::string(object.kind()) + "/" + object.id() + " " + render_json(object));
    return {};
  });
  EXPECT_TRUE(loaded.has_value()) << loaded.error().message();
  return out;
}

/// Five batches, each a rack and its entry.
inline void write_five(Store& store) {
  Author author(store);
  for (const char* name : {"r1", "r2", "r3", "r4", "r5"}) {
    author.put(author.make_rack(name)).note(std::string("rack/") + name);
    const auto done = author.commit();
    ASSERT_TRUE(done.has_value()) << done.error().message();
  }
}

/// Name of the first fault that the store finds in its history; "" when intact.
inline std::string find_fault(Store& store) {
  const auto report = store.verify_history();
  if (!report) return report.error().message();
  EXPECT_EQ(report->intact, report->fault.empty());
  return report->fault;
}

}  // namespace tundish::contract
