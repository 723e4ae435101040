#pragma once
// Work in a forked child: what crashes, hangs, floods or forks there does not touch us.
#include <functional>
#include <string>

#include "base/instant.hpp"
#include "base/result.hpp"

namespace tundish::process {

struct Containment {
  Duration limit = seconds(10);           ///< then SIGKILL to the child's whole process group
  int cpu_seconds = 5;                    ///< RLIMIT_CPU
  std::size_t output_limit = 4 << 20;     ///< bytes of the answer
  std::size_t memory_limit = 4ULL << 30;  ///< RLIMIT_AS
};

/// The answer of `work`, which runs in a copy of this process with no files but the pipe, may
/// write no file and may not outlive the call. Errors: `timeout` (hangs; `abandoned` gets the pid
/// of a child that cannot be killed), `corrupt` (crashed, or an answer that is too long).
Result<std::string> run_contained(const std::function<std::string()>& work,
                                  const Containment& containment, int& abandoned);

}  // namespace tundish::process
