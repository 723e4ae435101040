#pragma once
// A program that may only run as long as somebody says so: when its leash is pulled or runs out,
// everything that it started is dead within a second, whatever it forked and detached.
#include <memory>
#include <mutex>
#include <string>

#include "runtime/process/fd.hpp"
#include "runtime/process/process.hpp"

namespace tundish::process {

/// Any thread. Holds for `life` from now on, and again from each extension.
class Leash {
 public:
  explicit Leash(Duration life);
  Leash(const Leash&) = delete;
  Leash& operator=(const Leash&) = delete;

  void extend(Duration life);
  /// The first reason stays.
  void pull(const std::string& why);
  /// Why it does not hold any more; empty: it holds.
  std::string fault() const;
  /// Until it runs out; zero when it does not hold.
  Duration left() const;
  /// Readable once it was pulled.
  int wake_fd() const { return wake_.get(); }

 private:
  mutable std::mutex mutex_;
  std::int64_t until_us_ = 0;  ///< steady clock
  std::string why_;
  Fd wake_;
};

struct LeashedOutput {
  Output output;
  std::string preempted;  ///< why the leash did not hold; empty: it did
};

/// By this name keepers are found in /proc. Who ends the agent by its name does not mean what is
/// to clean up behind it.
inline constexpr const char* keeper_name = "tundish-keeper";

/// 0: there is no such process.
pid_t parent_of(pid_t pid);

/// As run(), and ends with the leash. A program that detaches what it starts is no way out: its
/// keeper inherits every orphan and kills it, also when this process dies.
Result<LeashedOutput> run_leashed(const Command& command, const Leash& leash);

}  // namespace tundish::process
