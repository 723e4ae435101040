#include "runtime/agent/accounts.hpp"
#include "runtime/agent/teardown.hpp"
#include "runtime/agent/validate.hpp"

namespace tundish::agent {

/// Local files of the tenant stay until a wipe, accounts do not: nobody can log in meanwhile.
Result<VerbNote> verb_leave_cluster(const VerbCall& call, const VerbTools& tools) {
  if (!call.cluster.empty()) TRY_VOID(validate_cluster(call.cluster));
  const auto membership = TRY(load_membership(tools.config.state_dir));
  if (!membership.cluster.empty() && !call.cluster.empty() && membership.cluster != call.cluster) {
    return make_error(Code::conflict, "the node belongs to cluster " + membership.cluster);
  }
  const auto undone = undo_setup(tools, Deadline(milliseconds(call.limit_ms)));
  TRY_VOID(apply_accounts(tools.paths.etc, {}));
  TRY_VOID(undone);
  TRY_VOID(save_membership(tools.config.state_dir, {}));
  return VerbNote{membership.cluster.empty() ? "was in no cluster" : "left " + membership.cluster,
                  {}, {}};
}

}  // namespace tundish::agent
