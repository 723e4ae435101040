#pragma once
// The closed list of what active checks run: for each check its programs and their arguments. No
// text of a command comes from elsewhere.
#include <optional>
#include <string>
#include <vector>

#include "model/check_sample.hpp"
#include "runtime/agent/agent_config.hpp"
#include "runtime/process/process.hpp"

namespace tundish::agent {

/// One program to run; `head` is filled in but for what comes out.
struct ToolStep {
  ToolRun head;
  process::Command command;
  /// Runs beside it and is ended with it: the other end of a loopback, the manager of a pair.
  std::optional<process::Command> server = {};
  /// Its far end may not listen yet: tried again for so long.
  Duration patience = {};
};

/// Checks that this agent can run, sorted.
std::vector<std::string> active_checks();

/// Pure. `unsupported` for a check that is not on the list, `unavailable` with the reason where
/// there is nothing to run on.
Result<std::vector<ToolStep>> plan_active(const std::string& check, const CheckSample& sample,
                                          const AgentConfig& config);

}  // namespace tundish::agent
