#pragma once
// A tenant's export over the tenant's own network: sshfs as root in a folder that only root enters,
// and bindfs above it, which gives every new file to who made it (sshfs would leave all of them to
// root). Under each of the two lies a file system that nobody can write, so that what a job writes
// when the storage is gone fails, and is not lost on the node's own disk.
#include "base/result.hpp"
#include "model/verbs.hpp"
#include "runtime/agent/verbs.hpp"

namespace tundish::agent {

/// Folder of sshfs; its mounts are taken off with those of the exports.
std::string export_base(const AgentPaths& paths);
/// Key and server as ssh wants them, for the exports of this set-up.
Result<> write_export_access(const SetupNode& setup, const AgentPaths& paths);
/// The node's address towards the storage, and the route that uses it.
Result<> apply_storage_route(const SetupNode& setup, Duration limit);
/// Mounts what is not mounted, or is mounted and dead.
Result<> mount_sshfs(const ExportMount& mount, const AgentPaths& paths, Duration limit);
/// Ends sshfs and bindfs: what still waits for them gets an error.
Result<> stop_export_programs(const AgentPaths& paths);
/// Ends the programs behind the mounts and forgets the key. After the mounts are off.
Result<> drop_export_access(const AgentPaths& paths);

/// A login that asks for nothing, with this node's key: for probes.
std::vector<std::string> export_login_words(const std::string& user_and_server,
                                            const AgentPaths& paths);
/// Arguments of sshfs and bindfs, for tests.
std::vector<std::string> sshfs_words(const ExportMount& mount, const AgentPaths& paths);
std::vector<std::string> bindfs_words(const ExportMount& mount, const AgentPaths& paths);

}  // namespace tundish::agent
