#include "runtime/agent/lease_box.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace tundish::agent {
namespace {

/// While a lease is known that nobody works on yet.
constexpr std::int64_t soon_ms = 2000;

}  // namespace

std::shared_ptr<process::Leash> LeaseBox::begin(const std::string& key, Duration life) {
  const std::lock_guard lock(mutex_);
  auto leash = std::make_shared<process::Leash>(life);
  if (forfeited_.contains(key)) leash->pull("the agent was started anew while it ran");
  if (!named_.contains(key)) leash->pull("its lease was taken back before it began");
  runs_[key] = {leash, life};
  return leash;
}

void LeaseBox::end(const std::string& key) {
  const std::lock_guard lock(mutex_);
  runs_.erase(key);
}

void LeaseBox::forfeit(const std::vector<std::string>& keys) {
  const std::lock_guard lock(mutex_);
  forfeited_.insert(keys.begin(), keys.end());
}

void LeaseBox::heard(const std::vector<std::string>& keys) {
  const std::lock_guard lock(mutex_);
  named_ = {keys.begin(), keys.end()};
  for (auto& [key, run] : runs_) {
    if (named_.contains(key)) {
      run.leash->extend(run.life);
    } else {
      run.leash->pull("tundishd took the lease back");
    }
  }
}

void LeaseBox::preempt(const std::string& why) {
  {
    const std::lock_guard lock(mutex_);
    for (auto& [key, run] : runs_) run.leash->pull(why);
  }
  for (int i = 0; i < 200 && is_busy(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

bool LeaseBox::is_busy() const {
  const std::lock_guard lock(mutex_);
  return !runs_.empty();
}

std::int64_t LeaseBox::pull_wait_ms(std::int64_t most_ms) const {
  const std::lock_guard lock(mutex_);
  std::int64_t out = most_ms;
  if (!named_.empty()) out = std::min(out, soon_ms);
  for (const auto& [key, run] : runs_) out = std::min(out, run.life.ms() / 3);
  return out;
}

}  // namespace tundish::agent
