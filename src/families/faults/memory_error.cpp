#include "families/faults/fault.hpp"

namespace tundish::families {
namespace {

Result<Injection> render(const FaultOrder& order) {
  return make_injection(order,
                        {"memory_error",
                         "EDAC MC0: 1 UE memory read error on CPU_SrcID#0_MC#0_Chan#0_DIMM#0 "
                         "(channel:0 slot:0 page:0x1f2a3 offset:0x0 grain:32)"});
}

}  // namespace

extern const Fault memory_error;
const Fault memory_error = {"memory_error", "an uncorrected error of the node's own memory: EDAC",
                            "passive check dram_ecc", "by the check", render};

}  // namespace tundish::families
