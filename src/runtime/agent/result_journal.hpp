#pragma once
// Which acts were begun and how they ended, by key. A repeated call gets the old result; an act
// that was begun and has no result (a crash) is done again, as every verb is idempotent.
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/verbs.hpp"
#include "runtime/agent/journal_file.hpp"

namespace tundish::agent {

/// Any thread.
class ResultJournal {
 public:
  static Result<std::unique_ptr<ResultJournal>> open(const std::string& path,
                                                     std::size_t keep = 1000);

  /// Durable before the act starts.
  Result<> begin(const std::string& key);
  /// Durable when it returns; queued for tundishd.
  Result<> finish(const VerbResult& result);
  /// For acts that change nothing and for refusals: lost in a crash, forgotten once acknowledged,
  /// so that the same call may be made again.
  void finish_in_memory(const VerbResult& result);

  /// True when the key has a result; that one is queued again unless it waits already. A failure
  /// that tundishd has stored is no result any more: asking again means trying again.
  bool repeat(const std::string& key);
  std::vector<VerbResult> waiting(std::int64_t bytes) const;
  bool has_waiting() const;
  Result<> acknowledge(const std::vector<std::string>& keys);
  /// Begun and not ended before the last start of the agent.
  std::vector<std::string> interrupted() const;

 private:
  struct Entry {
    VerbResult result;
    bool durable = false;
    bool waiting = false;
  };
  ResultJournal(JournalFile file, std::size_t keep) : file_(std::move(file)), keep_(keep) {}
  void store(Entry entry);
  Result<> compact_if_due();

  mutable std::mutex mutex_;
  JournalFile file_;
  std::size_t keep_;
  std::list<Entry> entries_;  ///< oldest first
  std::map<std::string, std::list<Entry>::iterator> by_key_;
  std::map<std::string, int> begun_;
};

}  // namespace tundish::agent
