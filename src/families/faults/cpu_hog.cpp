#include "families/faults/fault.hpp"

namespace tundish::families {
namespace {

Result<Injection> render(const FaultOrder& order) {
  auto injection = break_part(order, {"cpu_hog", ""});
  if (injection && injection->for_s == 0) injection->for_s = 60;
  if (injection && order.copies == 0) injection->copies = 16;
  return injection;
}

}  // namespace

extern const Fault cpu_hog;
const Fault cpu_hog = {
    "cpu_hog",
    "tasks that do nothing but run keep the CPUs of a node busy; 16 or --copies, for 60 s or --for",
    "pressure of the CPUs; checks that starve are unknown",
    "blame: the CPU, nothing that waits for it", render};

}  // namespace tundish::families
