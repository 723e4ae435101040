#include "families/faults/fault.hpp"

namespace tundish::families {
namespace {

Result<Injection> render(const FaultOrder& order) {
  const std::string line =
      "NVRM: Xid (PCI:" + order.pci +
      "): 48, pid='<unknown>', name=<unknown>, DBE (double bit error) ECC error";
  return break_gpu(order, {"ecc_uncorrected", line});
}

}  // namespace

extern const Fault ecc_dbe;
const Fault ecc_dbe = {
    "ecc_dbe", "a double-bit memory error: XID 48, the counter rises, a row waits for its remap",
    "kernel line to incident below 100 ms; the snapshot shows it, too", "reset, then its checks",
    render};

}  // namespace tundish::families
