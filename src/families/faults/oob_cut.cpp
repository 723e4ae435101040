#include "families/faults/fault.hpp"

namespace tundish::families {
namespace {

Result<Injection> render(const FaultOrder& order) {
  auto injection = break_part(order, {"oob_cut", ""});
  if (injection && injection->for_s == 0) injection->for_s = 60;
  return injection;
}

}  // namespace

extern const Fault oob_cut;
const Fault oob_cut = {
    "oob_cut", "the out-of-band cable of a node is pulled; back after 60 s, or --for",
    "agent and BMC are silent together", "nothing: losing sight is not a fault", render};

}  // namespace tundish::families
