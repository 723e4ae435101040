#pragma once
// The store of the simulator. It outlives the simulated processes that open it.
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ports/store.hpp"

namespace tundish::sim {

/// How a commit fails.
enum class CommitFault {
  lost,                   ///< nothing of it was kept
  done_but_reported_lost  ///< all of it was kept, and its writer is told otherwise
};

/// Gives back what a real store does: what its text says. So an object that does not survive its
/// own encoding shows. The text is made when it is asked for: most versions are never read.
class MemoryStore final : public Store {
 public:
  StoreHead head() const override { return disk_.head; }
  Result<> load(const std::function<Result<>(const ObjectBase&)>& take) override;
  Result<> commit(const Batch& batch) override;
  Result<std::vector<HistoryEntry>> history(const HistoryQuery& query) override;
  Result<VerifyReport> verify_history() override;
  /// `path` only names the copy, which open_backup() and restore() find again.
  Result<> backup(const std::string& path) override;

  /// `commits` more commits succeed, the one after them fails; then all is well again.
  void fail_commit_after(int commits, CommitFault fault);
  std::int64_t commits() const { return commits_; }
  /// Sees every batch that was kept, also when its writer is told otherwise.
  void on_commit(std::function<void(const Batch&)> listener) { listener_ = std::move(listener); }

  Result<std::unique_ptr<MemoryStore>> open_backup(const std::string& path) const;
  /// As restore_store does: a new epoch, its revisions above all written here, on hold.
  Result<> restore(const std::string& path, Instant now);

  /// What an older or newer version, or an intruder, left on the disk.
  void plant_object(const std::string& kind, const std::string& id, std::string body);
  std::string find_body(const std::string& kind, const std::string& id) const;
  void tamper(const std::function<void(std::vector<HistoryEntry>&)>& change);

 private:
  using Key = std::pair<std::string, std::string>;
  struct Stored {
    std::shared_ptr<ObjectBase> body;  ///< a copy of our own; nullptr: there is `text`
    std::string text;
  };
  struct Disk {
    StoreHead head;
    std::map<Key, Stored> objects;      ///< by kind and id
    std::map<Key, std::string> kept;    ///< their members that this version does not know
    std::vector<HistoryEntry> history;  ///< sequence = index + 1
    std::size_t entries = 0;
    std::string last_hash;
  };
  static void apply(Disk& disk, const Batch& batch);
  static void append(Disk& disk, HistoryEntry entry);
  static std::string text_of(const Disk& disk, const Key& key, const Stored& stored);

  Disk disk_;
  std::map<std::string, Disk> backups_;
  std::int64_t commits_ = 0;
  int commits_until_fault_ = -1;  ///< below zero: none is due
  CommitFault fault_ = CommitFault::lost;
  std::function<void(const Batch&)> listener_;
};

}  // namespace tundish::sim
