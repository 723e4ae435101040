#include "families/faults/fault.hpp"

namespace tundish::families {
namespace {

Result<Injection> render(const FaultOrder& order) {
  if (order.pci.empty()) return break_gpu(order, {});
  return break_gpu(order, {"none", "pcieport " + order.pci +
                                       ".0: AER: Corrected error received: " + order.pci + ".0"});
}

}  // namespace

extern const Fault pcie_error;
const Fault pcie_error = {"pcie_error", "a corrected PCIe error above a GPU: AER",
                          "passive check pcie_aer", "trend", render};

}  // namespace tundish::families
