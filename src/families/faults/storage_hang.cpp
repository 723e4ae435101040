#include "families/faults/fault.hpp"

namespace tundish::families {
namespace {

Result<Injection> render(const FaultOrder& order) {
  auto injection = break_part(order, {"storage_hang", ""});
  if (injection && injection->for_s == 0) injection->for_s = 60;
  return injection;
}

}  // namespace

extern const Fault storage_hang;
const Fault storage_hang = {
    "storage_hang", "the storage server stops answering all its clients; back after 60 s, or --for",
    "hung probes of every mount that it serves", "blame: the server; no node is drained", render};

}  // namespace tundish::families
