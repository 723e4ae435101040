#pragma once
// Every durable change is a named class with one perform(): the list of these names is the history
// of the cloud (after Mesos' registry operations).
#include <string>
#include <string_view>

#include "model/registry.hpp"

namespace tundish {

class Operation {
 public:
  virtual ~Operation() = default;
  /// Verb and noun, for example claim_node. Stable: history is read by it.
  virtual std::string_view name() const = 0;
  /// "kind/id-or-name" of the object that it is mainly about.
  virtual std::string object() const = 0;
  /// Checks, then changes. On an Error nothing was changed. A change that is there already is
  /// success without a put.
  virtual Result<> perform(Txn& txn) const = 0;
};

using OperationPtr = std::unique_ptr<Operation>;

/// Builds an operation from its name, its object and what it does. Each operation of the model is
/// one function in model/ops that returns one of these; its name is the function's name.
OperationPtr make_operation(std::string_view name, std::string object,
                            std::function<Result<>(Txn&)> perform);

/// One line of history, hash-chained by the store.
struct HistoryEntry {
  std::int64_t revision = 0;
  Instant at;
  std::string actor;
  std::string operation;
  std::string object;
  std::string reason;
  std::string outcome;  ///< done, or refused: CODE what
  std::string previous_hash;
  std::string hash;
  std::int64_t sequence = 0;
  void fields(Fields& f) {
    f(1, "revision", revision, "global revision after the operation");
    f(2, "at", at, "when");
    f(3, "actor", actor, "controller:NAME, user:NAME, agent:NODE, system");
    f(4, "operation", operation, "name of the registry operation, or of a refused call");
    f(5, "object", object, "kind/id that it is about");
    f(6, "reason", reason, "why");
    f(7, "outcome", outcome, "done, or refused with code and text");
    f(8, "previous_hash", previous_hash, "hash of the entry before");
    f(9, "hash", hash, "over sequence, previous_hash and every field above");
    f(10, "sequence", sequence, "number of the entry, from 1 without a gap; given by the store");
  }
};

/// What is committed together: all or nothing.
struct Batch {
  std::vector<Change> changes;
  std::vector<HistoryEntry> history;
  bool empty() const { return changes.empty() && history.empty(); }
};

}  // namespace tundish
