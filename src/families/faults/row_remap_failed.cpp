#include "families/faults/fault.hpp"

namespace tundish::families {
namespace {

Result<Injection> render(const FaultOrder& order) {
  const std::string line =
      "NVRM: Xid (PCI:" + order.pci +
      "): 64, pid='<unknown>', name=<unknown>, Row Remapper Error: (0x0000000000001a2b) - All "
      "reserved rows for bank are remapped";
  return break_gpu(order, {"row_remap_failure", line});
}

}  // namespace

extern const Fault row_remap_failed;
const Fault row_remap_failed = {"row_remap_failed",
                                "a row could not be remapped: XID 64, and the InfoROM remembers it",
                                "kernel line to incident below 100 ms",
                                "RMA with the serial of the GPU; the claim stays", render};

}  // namespace tundish::families
