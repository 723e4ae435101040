#pragma once
// The leases of active checks that run here: tundishd extends them with every pull that names them,
// and ends them with one that does not; without tundishd they run out.
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "runtime/process/leash.hpp"

namespace tundish::agent {

/// Any thread.
class LeaseBox {
 public:
  /// A run begins: it holds for `life`. One that tundishd does not name (any more) is over at once.
  std::shared_ptr<process::Leash> begin(const std::string& key, Duration life);
  void end(const std::string& key);
  /// Runs that an earlier process of this agent began and did not end: what they ran died with it,
  /// and they are not begun anew.
  void forfeit(const std::vector<std::string>& keys);
  /// What a pull named. Called before its calls are taken.
  void heard(const std::vector<std::string>& keys);
  /// Ends every run and waits until it has ended, at most a second.
  void preempt(const std::string& why);
  bool is_busy() const;
  /// How long a pull may be held: a third of the shortest life.
  std::int64_t pull_wait_ms(std::int64_t most_ms) const;

 private:
  struct Run {
    std::shared_ptr<process::Leash> leash;
    Duration life;
  };
  mutable std::mutex mutex_;
  std::map<std::string, Run> runs_;
  std::set<std::string> named_;      ///< by the last pull
  std::set<std::string> forfeited_;
};

}  // namespace tundish::agent
