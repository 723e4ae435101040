#include "base/text.hpp"
#include "runtime/agent/accounts.hpp"
#include "runtime/agent/teardown.hpp"

namespace tundish::agent {
namespace {

constexpr std::size_t shown_limit = 20;

Error still_there(std::vector<std::string> left) {
  const std::size_t count = left.size();
  if (count > shown_limit) left.resize(shown_limit);
  return make_error(Code::conflict, std::to_string(count) + " things of a tenant are left: " +
                                        join(left, "; "));
}

}  // namespace

Result<VerbNote> verb_wipe(const VerbCall& call, const VerbTools& tools) {
  const Deadline deadline(milliseconds(call.limit_ms));
  const auto undone = undo_setup(tools, deadline);
  const auto removed = remove_tenant_files(tools);
  TRY_VOID(apply_accounts(tools.paths.etc, {}));
  TRY_VOID(undone);
  TRY_VOID(removed);
  // What was done proves nothing; what can be found does.
  auto left = TRY(find_leftovers(tools));
  if (!left.empty()) return still_there(std::move(left));
  TRY_VOID(save_membership(tools.config.state_dir, {}));
  return VerbNote{"no process, account, mount or file of a tenant was found", {}, {}};
}

}  // namespace tundish::agent
