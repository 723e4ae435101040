#include "families/faults/fault.hpp"

namespace tundish::families {
namespace {

Result<Injection> render(const FaultOrder& order) {
  return make_injection(order,
                        {"none", "INFO: task python3:4242 blocked for more than 120 seconds."});
}

}  // namespace

extern const Fault hung_task;
const Fault hung_task = {"hung_task", "the kernel says that a task waits for more than 120 s",
                         "a witness for blame; passive check kernel_lockup",
                         "blame: storage or CPU; alone nothing", render};

}  // namespace tundish::families
