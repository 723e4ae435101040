#include "families/faults/fault.hpp"

namespace tundish::families {
namespace {

Result<Injection> render(const FaultOrder& order) {
  auto injection = break_part(order, {"agent_stop", ""});
  if (injection && injection->for_s == 0) injection->for_s = 60;
  return injection;
}

}  // namespace

extern const Fault agent_silent;
const Fault agent_silent = {
    "agent_silent", "the agent of a node stops; it is started again after 60 s, or --for",
    "silent after 15 s, shown as unknown", "nothing: losing sight is not a fault", render};

}  // namespace tundish::families
