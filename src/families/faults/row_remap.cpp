#include "families/faults/fault.hpp"

namespace tundish::families {
namespace {

Result<Injection> render(const FaultOrder& order) {
  const std::string line =
      "NVRM: Xid (PCI:" + order.pci +
      "): 63, pid='<unknown>', name=<unknown>, Row Remapper: New row (0x0000000000001a2b) marked "
      "for remapping, reset gpu to activate.";
  return break_gpu(order, {"row_remap_pending", line});
}

}  // namespace

extern const Fault row_remap;
const Fault row_remap = {
    "row_remap",
    "a row of GPU memory is marked for remapping: XID 63, pending until the next reset",
    "snapshot: remap pending; XID 63 alone costs no job", "a reset when the node is idle next",
    render};

}  // namespace tundish::families
