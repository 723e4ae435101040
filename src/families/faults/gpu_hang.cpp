#include "families/faults/fault.hpp"

namespace tundish::families {
namespace {

Result<Injection> render(const FaultOrder& order) {
  if (order.userspace) return break_part(order, {});
  return break_gpu(order, {"driver_hang", ""});
}

}  // namespace

extern const Fault gpu_hang;
const Fault gpu_hang = {
    "gpu_hang", "every question about a GPU hangs in the driver; nothing is logged",
    "a probe that does not come back is the evidence; at most one child is stuck",
    "reboot: a hung driver cannot be reset", render};

}  // namespace tundish::families
