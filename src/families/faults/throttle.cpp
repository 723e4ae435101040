#include "families/faults/fault.hpp"

namespace tundish::families {
namespace {

Result<Injection> render(const FaultOrder& order) {
  if (order.userspace) return break_part(order, {});
  return break_gpu(order, {"throttle", ""});
}

}  // namespace

extern const Fault throttle;
const Fault throttle = {"throttle", "a GPU is held at a low clock for heat; nothing is logged",
                        "passive check gpu_throttle; a comparison with the peers of the job",
                        "by the check; a report of the tenant swaps it", render};

}  // namespace tundish::families
