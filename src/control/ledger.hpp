#pragma once
// The registry and its store behind one door. Operations change memory at once and are committed
// in groups; nothing leaves the process (an act, a reply) before flush() made its cause durable.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/operation.hpp"
#include "ports/scheduler.hpp"
#include "ports/store.hpp"

namespace tundish::control {

/// The store refuses what is committed: nothing is recorded, and nothing is done.
struct StoreFault {
  Instant since;
  std::string why;  ///< of the last refusal
  int refused = 0;
};

class Ledger {
 public:
  Ledger(Store& store, const Scheduler& scheduler) : store_(store), scheduler_(scheduler) {}

  /// Fills the registry from the store.
  Result<> load();
  const Registry& view() const { return registry_; }
  std::int64_t epoch() const { return epoch_; }

  /// Applies an operation in memory; it becomes durable with the next flush().
  Result<> perform(const Operation& operation, const std::string& actor, const std::string& reason);
  /// Runs `body` and then takes back all that it performed: what would be refused is refused and
  /// what would come of it can be read in the meantime, but nobody is told and nothing is stored.
  void rehearse(const std::function<void()>& body);
  bool is_rehearsing() const { return rehearsed_.has_value(); }
  /// Records a call that was refused (also logins): part of the same chain.
  void record_refusal(const std::string& actor, const std::string& call, const std::string& object,
                      const Error& error);

  /// Records what changes no object and is durable elsewhere, as a loaded policy: its actor,
  /// operation, object and reason.
  void record_deed(HistoryEntry deed);

  /// Runs when everything performed so far is durable, or with the error that prevented it.
  void after_flush(std::function<void(const Result<>&)> then);
  /// Commits what is pending. When the store refuses, memory is loaded anew from it, so that both
  /// agree, and the waiting callbacks get the error.
  Result<> flush();
  /// Unset: the last commit was taken.
  const std::optional<StoreFault>& fault() const { return fault_; }
  bool has_pending() const { return !pending_.empty() || !waiting_.empty(); }

  /// Called for every change in memory, before it is durable.
  void on_change(std::function<void(const Change&)> listener) {
    listeners_.push_back(std::move(listener));
  }
  /// Called after memory was loaded anew because a commit failed.
  void on_reload(std::function<void()> listener) {
    reload_listeners_.push_back(std::move(listener));
  }

 private:
  Result<> try_out(const Operation& operation, const std::string& actor);
  void note_commit(const Result<>& outcome);

  Store& store_;
  const Scheduler& scheduler_;
  Registry registry_;
  std::int64_t epoch_ = 1;
  std::optional<StoreFault> fault_;
  Instant fault_logged_at_;
  Batch pending_;
  std::vector<std::function<void(const Result<>&)>> waiting_;
  std::vector<std::function<void(const Change&)>> listeners_;
  std::vector<std::function<void()>> reload_listeners_;
  /// Set while rehearse() runs. By pointer: a Txn must not move.
  std::optional<std::vector<std::unique_ptr<Txn>>> rehearsed_;
};

}  // namespace tundish::control
