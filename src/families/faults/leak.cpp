#include "families/faults/fault.hpp"

namespace tundish::families {
namespace {

Result<Injection> render(const FaultOrder& order) { return break_part(order, {"leak", ""}); }

}  // namespace

extern const Fault leak;
const Fault leak = {
    "leak",
    "a detector of leaks at a node's BMC gets wet: ColdPlate or --part; stays wet, or --for",
    "check leak, out of band within 30 s",
    "blame: the NVLink domain is told; the wet tray is drained, powered off, and repaired",
    render};

}  // namespace tundish::families
