#include "families/faults/fault.hpp"

namespace tundish::families {
namespace {

Result<Injection> render(const FaultOrder& order) {
  const std::string line =
      "NVRM: Xid (PCI:" + order.pci +
      "): 74, pid='<unknown>', name=<unknown>, NVLink: fatal error detected on link 14(0x10000, "
      "0x0, 0x0, 0x0, 0x0, 0x0, 0x0)";
  return break_gpu(order, {"nvlink_down", line});
}

}  // namespace

extern const Fault nvlink_down;
const Fault nvlink_down = {"nvlink_down", "an NVLink of a GPU dies: XID 74, one link fewer is up",
                           "kernel line to incident below 100 ms; passive check nvlink_state",
                           "fabric: reset and its checks", render};

}  // namespace tundish::families
