#include "families/faults/fault.hpp"

namespace tundish::families {
namespace {

Result<Injection> render(const FaultOrder& order) {
  auto injection = break_part(order, {"storage_slow", ""});
  if (injection && injection->for_s == 0) injection->for_s = 60;
  return injection;
}

}  // namespace

extern const Fault storage_slow;
const Fault storage_slow = {
    "storage_slow",
    "the storage server answers later than probes wait; as before after 60 s, or --for",
    "probes of every mount that it serves time out", "blame: the server; no node is drained",
    render};

}  // namespace tundish::families
