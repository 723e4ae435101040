#include "families/faults/fault.hpp"

namespace tundish::families {
namespace {

Result<Injection> render(const FaultOrder& order) {
  return break_gpu(order, {"fabric_lost", ""});
}

}  // namespace

extern const Fault fabric_lost;
const Fault fabric_lost = {
    "fabric_lost",
    "a GPU is registered with the NVLink fabric no more, as behind a switch tray that fails",
    "passive check nvswitch_fabric",
    "blame: the NVLink domain where there is one beyond the node; no tray is taken out", render};

}  // namespace tundish::families
