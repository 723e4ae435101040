#pragma once
// Where state is kept. Everything above it works on the Registry in memory.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/operation.hpp"

namespace tundish {

struct StoreHead {
  std::int64_t revision = 0;
  std::int64_t epoch = 1;  ///< raised by a restore: fences everything written before
  Instant newest;          ///< latest Instant stored; the project clock never goes below it
};

struct HistoryQuery {
  std::int64_t after = 0;   ///< entries with a higher sequence
  std::int64_t before = 0;  ///< and with a lower one; 0: up to the newest
  int limit = 1000;
  std::string object;  ///< prefix filter; empty: all
  bool newest_first = false;
};

struct VerifyReport {
  std::int64_t entries = 0;
  bool intact = false;
  std::string fault;  ///< first entry whose hash does not fit
  std::string last_hash;
};

class Store {
 public:
  virtual ~Store() = default;
  virtual StoreHead head() const = 0;
  /// Hands over every live object once.
  virtual Result<> load(const std::function<Result<>(const ObjectBase&)>& take) = 0;
  /// All or nothing, and durable when it returns; an error means that nothing was kept. A store
  /// that cannot tell ends the process. Sets the hashes of the history entries.
  virtual Result<> commit(const Batch& batch) = 0;
  virtual Result<std::vector<HistoryEntry>> history(const HistoryQuery& query) = 0;
  virtual Result<VerifyReport> verify_history() = 0;
  /// A consistent copy while running.
  virtual Result<> backup(const std::string& path) = 0;
};

}  // namespace tundish
