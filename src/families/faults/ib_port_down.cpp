#include "families/faults/fault.hpp"

namespace tundish::families {
namespace {

Result<Injection> render(const FaultOrder& order) {
  auto injection = break_part(order, {"cable_cut", ""});
  if (injection && injection->for_s == 0) injection->for_s = 60;
  return injection;
}

}  // namespace

extern const Fault ib_port_down;
const Fault ib_port_down = {"ib_port_down",
                            "the cable of an InfiniBand port is pulled; back after 60 s, or --for",
                            "passive check ib_port within its interval",
                            "blame: port, leaf or cable; the node only if it alone has it", render};

}  // namespace tundish::families
