#include "runtime/agent/result_journal.hpp"

#include "base/log.hpp"
#include "codec/json.hpp"

namespace tundish::agent {
namespace {

/// Texts beyond this are cut in the journal: it is no archive.
constexpr std::size_t text_limit = 32 << 10;

struct JournalRecord {
  std::string begun;
  std::optional<VerbResult> result;
  std::vector<std::string> acknowledged;
  bool waiting = true;
  void fields(Fields& f) {
    f(1, "begun", begun, "key of an act that starts");
    f(2, "result", result, "how an act ended");
    f(3, "acknowledged", acknowledged, "keys whose result tundishd has stored");
    f(4, "waiting", waiting, "for result: not yet acknowledged when the file was rewritten");
  }
};

std::string begun_record(const std::string& key) {
  JournalRecord record;
  record.begun = key;
  return render_json(record);
}

std::string result_record(const VerbResult& result, bool waiting) {
  JournalRecord record;
  record.result = result;
  record.waiting = waiting;
  return render_json(record);
}

std::int64_t size_of(const VerbResult& result) {
  std::size_t size = 200 + result.text.size() + result.what.size();
  for (const auto& verdict : result.verdicts) {
    size += 100 + verdict.reason.size() + verdict.evidence.size();
  }
  return static_cast<std::int64_t>(size);
}

}  // namespace

Result<std::unique_ptr<ResultJournal>> ResultJournal::open(const std::string& path,
                                                           std::size_t keep) {
  std::vector<JournalRecord> records;
  auto file = TRY(JournalFile::open(path, [&](std::string_view payload, JournalFile::Place) {
    JournalRecord record;
    if (const auto parsed = parse_json(payload, record, Unknown::keep_out); !parsed) {
      log(LogLevel::error, "journal_record_unreadable", {{"why", parsed.error().message()}});
      return;
    }
    records.push_back(std::move(record));
  }));
  auto journal = std::unique_ptr<ResultJournal>(new ResultJournal(std::move(file), keep));
  for (auto& record : records) {
    if (!record.begun.empty()) journal->begun_[record.begun] = 1;
    if (record.result) journal->store({std::move(*record.result), true, record.waiting});
    for (const auto& key : record.acknowledged) {
      const auto it = journal->by_key_.find(key);
      if (it != journal->by_key_.end()) it->second->waiting = false;
    }
  }
  TRY_VOID(journal->compact_if_due());
  return journal;
}

void ResultJournal::store(Entry entry) {
  const std::string key = entry.result.key;
  begun_.erase(key);
  if (const auto it = by_key_.find(key); it != by_key_.end()) {
    entries_.erase(it->second);
    by_key_.erase(it);
  }
  entries_.push_back(std::move(entry));
  by_key_[key] = std::prev(entries_.end());
  auto it = entries_.begin();
  while (entries_.size() > keep_ && it != entries_.end()) {
    if (it->waiting) {
      ++it;
      continue;
    }
    by_key_.erase(it->result.key);
    it = entries_.erase(it);
  }
}

Result<> ResultJournal::begin(const std::string& key) {
  const std::lock_guard lock(mutex_);
  TRY(file_.append({begun_record(key)}));
  begun_[key] = 1;
  return {};
}

Result<> ResultJournal::finish(const VerbResult& result) {
  const std::lock_guard lock(mutex_);
  Entry entry{result, true, true};
  if (entry.result.text.size() > text_limit) entry.result.text.resize(text_limit);
  if (entry.result.what.size() > text_limit) entry.result.what.resize(text_limit);
  const auto written = file_.append({result_record(entry.result, true)});
  // The result is told even when it cannot be kept: after a crash the act is done again.
  store(std::move(entry));
  if (!written) return written.error();
  return compact_if_due();
}

void ResultJournal::finish_in_memory(const VerbResult& result) {
  const std::lock_guard lock(mutex_);
  store({result, false, true});
}

bool ResultJournal::repeat(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto it = by_key_.find(key);
  if (it == by_key_.end()) return false;
  if (!it->second->waiting && !it->second->result.ok) return false;
  it->second->waiting = true;
  return true;
}

std::vector<VerbResult> ResultJournal::waiting(std::int64_t bytes) const {
  const std::lock_guard lock(mutex_);
  std::vector<VerbResult> out;
  std::int64_t sum = 0;
  for (const auto& entry : entries_) {
    if (!entry.waiting) continue;
    sum += size_of(entry.result);
    if (!out.empty() && sum > bytes) break;
    out.push_back(entry.result);
  }
  return out;
}

bool ResultJournal::has_waiting() const {
  const std::lock_guard lock(mutex_);
  for (const auto& entry : entries_) {
    if (entry.waiting) return true;
  }
  return false;
}

Result<> ResultJournal::acknowledge(const std::vector<std::string>& keys) {
  const std::lock_guard lock(mutex_);
  JournalRecord record;
  for (const auto& key : keys) {
    const auto it = by_key_.find(key);
    if (it == by_key_.end() || !it->second->waiting) continue;
    if (it->second->durable) {
      it->second->waiting = false;
      record.acknowledged.push_back(key);
    } else {
      entries_.erase(it->second);
      by_key_.erase(it);
    }
  }
  if (record.acknowledged.empty()) return {};
  TRY(file_.append({render_json(record)}));
  return compact_if_due();
}

std::vector<std::string> ResultJournal::interrupted() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> out;
  for (const auto& [key, unused] : begun_) out.push_back(key);
  return out;
}

Result<> ResultJournal::compact_if_due() {
  std::int64_t live = 1 << 16;
  for (const auto& entry : entries_) live += entry.durable ? size_of(entry.result) : 0;
  if (file_.size() < 4 * live) return {};
  std::vector<std::string> records;
  for (const auto& entry : entries_) {
    if (entry.durable) records.push_back(result_record(entry.result, entry.waiting));
  }
  for (const auto& [key, unused] : begun_) records.push_back(begun_record(key));
  TRY(file_.rewrite(records));
  return {};
}

}  // namespace tundish::agent
