#pragma once
// The tenant's sshd: keys only, no root, no passwords, bound to the tenant's address.
#include <string>

#include "base/result.hpp"
#include "model/verbs.hpp"
#include "runtime/agent/slurm/slurm.hpp"

namespace tundish::agent {

std::string render_sshd_config(const SetupNode& setup, const AgentPaths& paths);
/// Public keys lie outside the homes, where no link of a tenant can redirect a write of root.
Result<> write_ssh_keys(const std::vector<AccountUser>& users, const AgentPaths& paths);
/// Idempotent; restarts it when its configuration changed. Open sessions go on.
Result<> start_sshd(const SetupNode& setup, const AgentPaths& paths);
Result<> stop_sshd(const AgentPaths& paths);
Result<> remove_ssh_keys(const AgentPaths& paths);

}  // namespace tundish::agent
