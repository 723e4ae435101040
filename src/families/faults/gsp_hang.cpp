#include "families/faults/fault.hpp"

namespace tundish::families {
namespace {

Result<Injection> render(const FaultOrder& order) {
  const std::string line =
      "NVRM: Xid (PCI:" + order.pci +
      "): 119, pid=4242, name=python3, Timeout after 45s of waiting for RPC response from GPU" +
      std::to_string(order.gpu) + " GSP! Expected function 76 (GSP_RM_CONTROL) (0x20800a4c 0x4).";
  return break_gpu(order, {"gsp", line});
}

}  // namespace

extern const Fault gsp_hang;
const Fault gsp_hang = {
    "gsp_hang", "the firmware of a GPU stops answering: XID 119, telemetry gives errors",
    "kernel line to incident below 100 ms", "reset; a reboot when it comes back", render};

}  // namespace tundish::families
