#pragma once
// Steps of a controller's set-up, in the order in which they depend on each other.
#include <string>
#include <vector>

#include "runtime/agent/slurm/place.hpp"

namespace tundish::agent::slurm {

/// The service node's one database server; every cluster has its own database and user in it.
/// All clusters of a service node share one database, and their verbs run side by side: whoever
/// makes, starts or stops it holds this meanwhile.
class DatabaseLock {
 public:
  explicit DatabaseLock(const DatabasePlace& place);
  ~DatabaseLock();
  DatabaseLock(const DatabaseLock&) = delete;
  DatabaseLock& operator=(const DatabaseLock&) = delete;

 private:
  int fd_;
};

Result<> start_database(const DatabasePlace& place);
void stop_database(const DatabasePlace& place);
struct DatabaseLogin {
  std::string cluster;
  std::string password;
};
/// Creates or updates the user. Database and user are named after the cluster.
Result<> grant_database(const DatabasePlace& place, const DatabaseLogin& login);

/// Accounts of tenants exist for this cluster's daemons alone: two tenants may both have an
/// "alice", and a service node must not let either log in.
Result<> write_accounts(const ClusterPlace& place, const std::vector<AccountUser>& users);
/// Adds the cluster, its account and users to the accounting database.
Result<> register_accounts(const ClusterPlace& place, const std::string& tenant,
                           const std::vector<AccountUser>& users);
Result<> add_accounts(const ClusterPlace& place, const std::vector<AccountUser>& users);

/// `argv` with the cluster's host name, accounts and network, in namespaces of its own.
std::vector<std::string> in_cluster(const ClusterPlace& place, std::vector<std::string> argv);
/// `argv` in the cluster's network namespace, when it has one.
std::vector<std::string> in_network(const ClusterPlace& place, std::vector<std::string> argv);
/// Whether a daemon runs in the network that in_network() enters now.
bool is_in_network(const ClusterPlace& place, int pid);
/// Environment of everything that talks to this cluster's daemons. Times come out in UTC.
std::vector<std::string> cluster_env(const ClusterPlace& place);

Result<> start_dbd(const ClusterPlace& place, const DatabasePlace& database);
Result<> start_ctld(const ClusterPlace& place);
void stop_dbd(const ClusterPlace& place);
void stop_ctld(const ClusterPlace& place);

/// True when the daemon must start anew to see what changed.
struct ChangedFiles {
  bool controller = false;
  bool dbd = false;
};
Result<ChangedFiles> write_cluster_files(const ClusterPlace& place,
                                         const std::vector<EngineFile>& files);
/// slurmdbd.conf, whose password comes from elsewhere.
Result<bool> write_dbd_file(const ClusterPlace& place, const EngineFile& file,
                            const std::string& password);

}  // namespace tundish::agent::slurm
