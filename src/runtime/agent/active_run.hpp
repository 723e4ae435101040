#pragma once
// Runs the programs of active checks, one after the other, as long as the lease holds.
#include "runtime/agent/active_tools.hpp"
#include "runtime/process/leash.hpp"

namespace tundish::agent {

/// What came out of one program.
ToolRun run_step(const ToolStep& step, const process::Leash& leash);

/// Fills sample.active; why there was nothing to run stands in sample.faults["active"].
void run_active(const std::vector<std::string>& checks, const AgentConfig& config,
                const process::Leash& leash, CheckSample& sample);

}  // namespace tundish::agent
