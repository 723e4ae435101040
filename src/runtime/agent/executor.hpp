#pragma once
// Runs verbs: each key once, acts of one lane in the order in which they came, lanes side by side.
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "model/verbs.hpp"
#include "runtime/agent/result_journal.hpp"

namespace tundish::agent {

struct ExecutorHooks {
  std::function<VerbResult(const VerbCall&)> run;
  std::function<std::string(const VerbCall&)> lane;
  /// Changes nothing: its result need not outlive a crash.
  std::function<bool(const VerbCall&)> is_read_only;
  std::function<void()> on_result;
};

/// Any thread. Destroying it waits for what runs; what waits in a lane is dropped, since tundishd
/// repeats a call until it has a result.
class Executor {
 public:
  Executor(ResultJournal& journal, ExecutorHooks hooks, int workers);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  enum class Taken { started, running, answered };
  Taken submit(VerbCall call);
  /// Answers a call that cannot be understood.
  void refuse(const std::string& key, const Error& why);
  std::vector<std::string> running_keys() const;

 private:
  void work();
  bool take(std::unique_lock<std::mutex>& lock, std::string& lane, VerbCall& call);
  void run_one(const VerbCall& call);

  ResultJournal& journal_;
  ExecutorHooks hooks_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::map<std::string, std::deque<VerbCall>> lanes_;
  std::deque<std::string> ready_;  ///< lanes with work that nobody works on, oldest first
  std::map<std::string, int> keys_;  ///< waiting or running
  std::vector<std::thread> workers_;
};

}  // namespace tundish::agent
