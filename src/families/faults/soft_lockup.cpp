#include "families/faults/fault.hpp"

namespace tundish::families {
namespace {

Result<Injection> render(const FaultOrder& order) {
  return make_injection(
      order, {"none", "watchdog: BUG: soft lockup - CPU#3 stuck for 22s! [kworker/3:1:1234]"});
}

}  // namespace

extern const Fault soft_lockup;
const Fault soft_lockup = {"soft_lockup",
                           "the kernel says that a CPU is stuck in kernel code for 22 s",
                           "passive check kernel_lockup", "blame: CPU", render};

}  // namespace tundish::families
