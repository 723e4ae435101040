#pragma once
// The agent as a whole: files, threads and what passes between them.
#include <memory>

#include "base/result.hpp"
#include "runtime/agent/agent_config.hpp"
#include "runtime/agent/verbs.hpp"

namespace tundish::agent {

/// Starts on creation, stops on destruction (which waits for a running pull and running verbs; a
/// process may as well just end, since everything that matters is on disk).
class Agent {
 public:
  /// `checks`: those of the passive loop; none: nothing is judged but on request.
  static Result<std::unique_ptr<Agent>> start(AgentConfig config, Judge judge,
                                              std::vector<PassiveCheck> checks = {});
  ~Agent();
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;
  /// Tells what is only counted yet, so that it is on disk before the process ends.
  void flush();

 private:
  struct Impl;
  explicit Agent(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tundish::agent
