#include "families/faults/fault.hpp"

namespace tundish::families {
namespace {

Result<Injection> render(const FaultOrder& order) {
  return make_injection(order, {"none",
                                "I/O error, dev nvme0n1, sector 2048 op 0x0:(READ) flags 0x0 "
                                "phys_seg 1 prio class 2"});
}

}  // namespace

extern const Fault disk_error;
const Fault disk_error = {"disk_error", "the kernel reports a read error of the local disk",
                          "passive check disk_errors", "by the check", render};

}  // namespace tundish::families
