#pragma once
// Slurm's daemons on a node and on a service node, as the agent runs them.
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/verbs.hpp"

namespace tundish::agent {

/// Folders of this machine; tests put them elsewhere.
struct AgentPaths {
  std::string etc = "/etc";
  std::string state = "/var/lib/tundish";
  std::string run = "/run";
  std::string log = "/var/log/tundish";
};

/// munged and slurmd of a node of one cluster. Idempotent; a daemon that runs with the same files
/// is left alone.
Result<std::string> start_slurm_node(const SetupNode& setup, const AgentPaths& paths);
/// munged only, and client configuration: a login node.
Result<std::string> start_slurm_login(const SetupNode& setup, const AgentPaths& paths);
Result<> stop_slurm_node(const AgentPaths& paths);

/// munged, mariadbd (shared), slurmdbd, slurmctld of one cluster; accounts for its users.
Result<std::string> setup_slurm_controller(const SetupController& setup, const AgentPaths& paths);
Result<> stop_slurm_controller(const std::string& cluster, const AgentPaths& paths);
Result<std::string> run_engine_commands(const std::string& cluster,
                                        const std::vector<EngineCommand>& commands,
                                        const AgentPaths& paths);
/// Raw text of what the controller shows, for the engine item's parser; `unavailable` when it does
/// not answer within the limit.
Result<std::string> observe_engine(const std::string& cluster, const AgentPaths& paths);

}  // namespace tundish::agent
