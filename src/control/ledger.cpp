#include "control/ledger.hpp"

#include "base/check.hpp"
#include "base/log.hpp"

namespace tundish::control {

Result<> Ledger::load() {
  registry_ = Registry();
  TRY_VOID(store_.load([this](const ObjectBase& object) -> Result<> {
    if (!registry_.adopt(object)) {
      return make_error(Code::corrupt, "stored object of unknown kind " +
                                           std::string(object.kind()) + "/" + object.id());
    }
    return {};
  }));
  registry_.raise_revision(store_.head().revision);
  epoch_ = store_.head().epoch;
  return {};
}

void Ledger::rehearse(const std::function<void()>& body) {
  check(!rehearsed_, "a rehearsal does not begin within another");
  rehearsed_.emplace();
  body();
  for (auto it = rehearsed_->rbegin(); it != rehearsed_->rend(); ++it) (*it)->undo();
  rehearsed_.reset();
}

Result<> Ledger::try_out(const Operation& operation, const std::string& actor) {
  auto txn = std::make_unique<Txn>(registry_, scheduler_.now(), actor);
  const Result<> done = operation.perform(*txn);
  if (done) {
    rehearsed_->push_back(std::move(txn));
  } else {
    txn->undo();
  }
  return done;
}

Result<> Ledger::perform(const Operation& operation, const std::string& actor,
                         const std::string& reason) {
  if (rehearsed_) return try_out(operation, actor);
  Txn txn(registry_, scheduler_.now(), actor);
  const Result<> done = operation.perform(txn);
  if (!done) {
    txn.undo();
    return done;
  }
  if (txn.changes().empty()) return {};
  for (auto& change : txn.changes()) {
    for (const auto& listener : listeners_) listener(change);
    pending_.changes.push_back(std::move(change));
  }
  HistoryEntry entry;
  entry.revision = registry_.revision();
  entry.at = scheduler_.now();
  entry.actor = actor;
  entry.operation = std::string(operation.name());
  entry.object = operation.object();
  entry.reason = reason;
  entry.outcome = "done";
  pending_.history.push_back(std::move(entry));
  return {};
}

void Ledger::record_refusal(const std::string& actor, const std::string& call,
                            const std::string& object, const Error& error) {
  if (rehearsed_) return;  // nothing was asked for
  HistoryEntry entry;
  entry.revision = registry_.revision();
  entry.at = scheduler_.now();
  entry.actor = actor;
  entry.operation = call;
  // What a stranger sent must not fill a history that is kept for ever.
  constexpr std::size_t most = 400;
  entry.object = object.substr(0, most);
  entry.outcome =
      "refused: " + std::string(code_name(error.code)) + " " + error.what.substr(0, most);
  pending_.history.push_back(std::move(entry));
}

void Ledger::record_deed(HistoryEntry deed) {
  if (rehearsed_) return;
  deed.revision = registry_.revision();
  deed.at = scheduler_.now();
  deed.outcome = "done";
  pending_.history.push_back(std::move(deed));
}

void Ledger::after_flush(std::function<void(const Result<>&)> then) {
  waiting_.push_back(std::move(then));
}

/// Once a minute while it lasts: on a full disk a log that grows makes it worse.
void Ledger::note_commit(const Result<>& outcome) {
  constexpr Duration log_pause = seconds(60);
  const Instant now = scheduler_.now();
  if (outcome) {
    if (fault_) {
      log(LogLevel::warn, "store_commits_again",
          {{"refused", std::to_string(fault_->refused)}, {"since", render_utc(fault_->since)}});
    }
    fault_.reset();
    return;
  }
  if (!fault_) fault_ = StoreFault{now, "", 0};
  fault_->why = outcome.error().message();
  const bool is_first = fault_->refused++ == 0;
  if (!is_first && now - fault_logged_at_ < log_pause) return;
  fault_logged_at_ = now;
  log(LogLevel::error, "store_refused_commit",
      {{"why", fault_->why}, {"refused", std::to_string(fault_->refused)}});
}

Result<> Ledger::flush() {
  Result<> outcome;
  if (!pending_.empty()) {
    Batch batch;
    std::swap(batch, pending_);
    outcome = store_.commit(batch);
    note_commit(outcome);
    if (!outcome) {
      const Result<> loaded = load();
      check(loaded.has_value(), "the store must be readable to go on");
      for (const auto& listener : reload_listeners_) listener();
    }
  }
  std::vector<std::function<void(const Result<>&)>> waiting;
  std::swap(waiting, waiting_);
  for (const auto& then : waiting) then(outcome);
  return outcome;
}

}  // namespace tundish::control
