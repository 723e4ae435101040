#include "families/faults/fault.hpp"

namespace tundish::families {
namespace {

Result<Injection> render(const FaultOrder& order) {
  auto injection = break_gpu(order, {"none", "NVRM: Xid (PCI:" + order.pci +
                                                 "): 45, pid=4242, name=python3, Ch 00000002"});
  if (injection && injection->copies == 1) injection->copies = 2000;
  if (injection && injection->copies > 100000) {
    return make_error(Code::invalid, "a storm has at most 100000 lines");
  }
  return injection;
}

}  // namespace

extern const Fault kernel_storm;
const Fault kernel_storm = {
    "kernel_storm", "thousands of kernel lines at once: XID 45 of every channel, 2000 or --copies",
    "no second witness for a repeat; memory stays bounded", "nothing: a storm of 45 is the job",
    render};

}  // namespace tundish::families
