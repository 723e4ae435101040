#include "families/faults/fault.hpp"

namespace tundish::families {
namespace {

Result<Injection> render(const FaultOrder& order) {
  auto injection = break_part(order, {"bmc_ignore", ""});
  if (injection && injection->for_s == 0) injection->for_s = 60;
  return injection;
}

}  // namespace

extern const Fault bmc_away;
const Fault bmc_away = {"bmc_away",
                        "the BMC of a node ignores every order; back after 60 s, or --for",
                        "only when a reboot or power cycle is tried",
                        "tried again within the budget, then told", render};

}  // namespace tundish::families
