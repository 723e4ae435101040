#pragma once
// Health programs of others that run on the node, asked for their last word. None of their tests is
// started; a program that is not there is no witness and makes no noise.
#include <vector>

#include "model/verdict.hpp"
#include "runtime/agent/agent_config.hpp"

namespace tundish::agent {

/// Empty: none runs here.
std::vector<Verdict> ask_other_programs(const AgentConfig& config, Instant now);

}  // namespace tundish::agent
