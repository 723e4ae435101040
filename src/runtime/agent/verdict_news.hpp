#pragma once
// Verdicts on their way to tundishd: what changed and is not confirmed yet, or all at once.
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "model/verbs.hpp"

namespace tundish::agent {

/// Any thread.
class VerdictNews {
 public:
  /// `all`: everything that is not ok after the change.
  void update(const std::vector<Verdict>& changed, std::vector<Verdict> all) {
    const std::lock_guard lock(mutex_);
    for (const auto& verdict : changed) pending_[key_of(verdict)] = {verdict, ++version_};
    all_ = std::move(all);
    judged_ = true;
  }
  void set_pressure(const Pressure& pressure) {
    const std::lock_guard lock(mutex_);
    if (pressure_ && !crosses_mark(*pressure_, pressure)) return;
    pressure_ = pressure;
    pressure_told_ = false;
  }
  void want_all() {
    const std::lock_guard lock(mutex_);
    complete_ = true;
  }
  /// Everything that is not ok now.
  std::vector<Verdict> all() const {
    const std::lock_guard lock(mutex_);
    return all_;
  }
  bool has_news() const {
    const std::lock_guard lock(mutex_);
    return judged_ && (complete_ || !pending_.empty() || (pressure_ && !pressure_told_));
  }

  struct Sent {
    std::int64_t version = 0;
    bool complete = false;
    bool pressure = false;
  };
  /// Fills the message; nothing before the first judgement.
  Sent fill(AgentSync& message, std::int64_t seq) const {
    const std::lock_guard lock(mutex_);
    Sent sent;
    if (!judged_) return sent;
    message.verdicts_seq = seq;
    message.verdicts_complete = complete_;
    if (complete_) message.verdicts = all_;
    if (!complete_) {
      for (const auto& [key, entry] : pending_) message.verdicts.push_back(entry.verdict);
    }
    if (pressure_ && !pressure_told_) {
      message.pressure = pressure_;
      sent.pressure = true;
    }
    sent.version = version_;
    sent.complete = complete_;
    return sent;
  }
  void confirm(const Sent& sent) {
    const std::lock_guard lock(mutex_);
    std::erase_if(pending_, [&](const auto& item) { return item.second.version <= sent.version; });
    if (sent.complete) complete_ = false;
    if (sent.pressure) pressure_told_ = true;
  }

 private:
  using Key = std::tuple<std::string, std::string, std::string>;
  struct Entry {
    Verdict verdict;
    std::int64_t version = 0;
  };
  static Key key_of(const Verdict& verdict) {
    return {verdict.check, verdict.device, verdict.source};
  }

  mutable std::mutex mutex_;
  std::map<Key, Entry> pending_;
  std::vector<Verdict> all_;
  std::optional<Pressure> pressure_;
  bool pressure_told_ = false;
  bool judged_ = false;
  bool complete_ = true;
  std::int64_t version_ = 0;
};

/// What the inventory says, as tundishd last told it; kept over restarts of the agent.
class ExpectationBox {
 public:
  explicit ExpectationBox(std::string path);
  void set(const Expectation& expectation, const std::string& mark);
  std::optional<Expectation> get() const;
  std::string mark() const;

 private:
  struct File {
    std::string mark;
    std::optional<Expectation> expectation;
    void fields(Fields& f) {
      f(1, "mark", mark, "tundishd's name of it");
      f(2, "expectation", expectation, "what the inventory says");
    }
  };

  std::string path_;
  mutable std::mutex mutex_;
  File file_;
};

}  // namespace tundish::agent
