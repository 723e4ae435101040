#pragma once
// Taking a cluster off a node: shared by leave_cluster (services, accounts, storage, network) and
// wipe (also the tenant's files), and the proof that nothing is left.
#include <string>
#include <vector>

#include "base/result.hpp"
#include "runtime/agent/verbs.hpp"

namespace tundish::agent {

/// What the node is set up as; kept so that it can be undone after a restart.
struct NodeMembership {
  std::string cluster;
  std::string interface;
  void fields(Fields& f) {
    f(1, "cluster", cluster, "cluster that the node was set up for; empty: none");
    f(2, "interface", interface, "port that carries the tenant's network");
  }
};
Result<NodeMembership> load_membership(const std::string& state_dir);
Result<> save_membership(const std::string& state_dir, const NodeMembership& membership);

/// Everything that setup_node made, but no file of a tenant is deleted.
Result<> undo_setup(const VerbTools& tools, const Deadline& deadline);
/// Files of tenants on the node's own disk and in memory.
Result<> remove_tenant_files(const VerbTools& tools);
/// One line for each thing of a tenant that is still there; empty: clean.
Result<std::vector<std::string>> find_leftovers(const VerbTools& tools);

/// Runs `ip`; an Error with its words when it fails.
Result<std::string> run_ip(std::vector<std::string> args, Duration limit);

}  // namespace tundish::agent
