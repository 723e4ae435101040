#include "families/faults/fault.hpp"

namespace tundish::families {
namespace {

Result<Injection> render(const FaultOrder& order) {
  return break_part(order, {"storage_slow", ""});
}

}  // namespace

extern const Fault storage_slow;
const Fault storage_slow = {"storage_slow",
                            "the storage server answers late",
                            "probes take long on all its clients",
                            "blame: the server; no node is drained",
                            render,
                            "a lab cannot slow its storage down, only stop it: see storage_hang"};

}  // namespace tundish::families
