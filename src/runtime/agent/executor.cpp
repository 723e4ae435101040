#include "runtime/agent/executor.hpp"

#include "base/log.hpp"

namespace tundish::agent {
namespace {

void note(const Result<>& written) {
  if (written) return;
  log(LogLevel::error, "journal_write_failed", {{"why", written.error().message()}});
}

}  // namespace

Executor::Executor(ResultJournal& journal, ExecutorHooks hooks, int workers)
    : journal_(journal), hooks_(std::move(hooks)) {
  for (int i = 0; i < workers; ++i) workers_.emplace_back([this] { work(); });
}

Executor::~Executor() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (auto& worker : workers_) worker.join();
}

Executor::Taken Executor::submit(VerbCall call) {
  const std::lock_guard lock(mutex_);
  if (keys_.count(call.key) != 0) return Taken::running;
  if (journal_.repeat(call.key)) {
    hooks_.on_result();
    return Taken::answered;
  }
  keys_.emplace(call.key, 1);
  const std::string lane = hooks_.lane(call);
  const auto it = lanes_.find(lane);
  if (it != lanes_.end()) {
    it->second.push_back(std::move(call));
    return Taken::started;
  }
  lanes_[lane].push_back(std::move(call));
  ready_.push_back(lane);
  wake_.notify_one();
  return Taken::started;
}

void Executor::refuse(const std::string& key, const Error& why) {
  VerbResult result;
  result.key = key;
  result.code = code_name(Code::unsupported);
  result.what = why.message();
  journal_.finish_in_memory(result);
  hooks_.on_result();
}

std::vector<std::string> Executor::running_keys() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> out;
  for (const auto& [key, unused] : keys_) out.push_back(key);
  return out;
}

bool Executor::take(std::unique_lock<std::mutex>& lock, std::string& lane, VerbCall& call) {
  wake_.wait(lock, [this] { return stopping_ || !ready_.empty(); });
  if (stopping_) return false;
  lane = ready_.front();
  ready_.pop_front();
  call = std::move(lanes_[lane].front());
  lanes_[lane].pop_front();
  return true;
}

void Executor::work() {
  std::unique_lock lock(mutex_);
  std::string lane;
  VerbCall call;
  while (take(lock, lane, call)) {
    lock.unlock();
    run_one(call);
    lock.lock();
    keys_.erase(call.key);
    // The lane stays in the table while it is worked on: that is what keeps its order.
    if (lanes_[lane].empty()) {
      lanes_.erase(lane);
    } else {
      ready_.push_back(lane);
      wake_.notify_one();
    }
  }
}

void Executor::run_one(const VerbCall& call) {
  const bool acts = !hooks_.is_read_only(call);
  if (acts) note(journal_.begin(call.key));
  const VerbResult result = hooks_.run(call);
  // A refusal is no act: the same call may be made again when the reason is gone.
  if (acts && result.code != code_name(Code::denied)) {
    note(journal_.finish(result));
  } else {
    journal_.finish_in_memory(result);
  }
  hooks_.on_result();
}

}  // namespace tundish::agent
