#include "families/faults/fault.hpp"

namespace tundish::families {
namespace {

Result<Injection> render(const FaultOrder& order) { return break_part(order, {"cable_flap", ""}); }

}  // namespace

extern const Fault link_flap;
const Fault link_flap = {"link_flap", "a link drops for 0.3 s and comes back",
                         "passive check ib_flap, or the interface counts a change",
                         "trend; nothing for one flap", render};

}  // namespace tundish::families
