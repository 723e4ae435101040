#pragma once
// Witnesses that tundishd has not stored yet, on disk, bounded, together with the reader's cursor:
// both are durable in one write, so that nothing is told twice or lost over a crash.
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/witness.hpp"
#include "runtime/agent/journal_file.hpp"

namespace tundish::agent {

struct SpoolLimits {
  std::int64_t file_bytes = 16 << 20;  ///< the file is compacted before it grows beyond
  std::int64_t live_bytes = 8 << 20;   ///< not yet acknowledged; then repeats are folded
};

/// Any thread.
class Spool {
 public:
  static Result<std::unique_ptr<Spool>> open(const std::string& path, SpoolLimits limits);

  /// Durable when it returns. Already known ids are not stored again.
  Result<> add(const std::vector<Witness>& witnesses, const KernelLogCursor& cursor);
  /// The oldest ones, at most `count` and about `bytes` of text.
  struct Batch {
    std::size_t count = 500;
    std::int64_t bytes = 1 << 20;
  };
  std::vector<Witness> oldest(Batch batch) const;
  Result<> acknowledge(const std::vector<std::string>& ids);

  std::size_t size() const;
  KernelLogCursor cursor() const;
  /// Witnesses that were folded into a later one of the same kind, or given up, since the start.
  std::int64_t folded() const;
  std::int64_t lost() const;

 private:
  struct Entry {
    std::string id;
    std::string sameness;  ///< kind, code, device ...: equal for repeats of one sighting
    JournalFile::Place place;
    std::int64_t repeat = 1;
    bool forgeable = false;
  };
  Spool(JournalFile file, SpoolLimits limits) : file_(std::move(file)), limits_(limits) {}
  void insert(const Witness& witness, JournalFile::Place place);
  void erase(const std::string& id);
  void make_room(std::vector<std::string>& records);
  bool fold_oldest_repeat(std::vector<std::string>& records);
  void give_up_one(std::vector<std::string>& records);
  Result<> compact_if_due();
  std::optional<Witness> load(const Entry& entry) const;

  mutable std::mutex mutex_;
  JournalFile file_;
  SpoolLimits limits_;
  std::deque<Entry> entries_;
  std::map<std::string, int> alike_;  ///< sameness -> how many wait
  std::map<std::string, int> ids_;    ///< set of ids that wait
  KernelLogCursor cursor_;
  std::int64_t live_bytes_ = 0;
  std::int64_t folded_ = 0;
  std::int64_t lost_ = 0;
};

}  // namespace tundish::agent
