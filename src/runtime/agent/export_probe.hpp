#pragma once
// Trying storage exports for `network probe`: the node's own one, and others', as root of a node
// that means harm would.
#include <vector>

#include "base/result.hpp"
#include "model/net_probe.hpp"
#include "runtime/agent/verbs.hpp"

namespace tundish::agent {

/// In the order asked. Another's address is on the interface for the time of its try only.
std::vector<ProbeExportSeen> probe_exports(const NetProbe& probe, const AgentPaths& paths);
/// What ssh's end says of a login.
ProbeReach reach_of_login(int exit_code, bool timed_out, const std::string& err);

}  // namespace tundish::agent
