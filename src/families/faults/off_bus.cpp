#include "families/faults/fault.hpp"

namespace tundish::families {
namespace {

/// Shape 15 of facts/health.md 1c: the loss is told in words, without an XID.
Result<Injection> render(const FaultOrder& order) {
  if (order.pci.empty()) {
    return make_error(Code::invalid, "node " + order.node_name + " has no GPU " +
                                         std::to_string(order.gpu) + " on record");
  }
  Injection out;
  out.node_name = order.node_name;
  out.gpu = order.gpu;
  out.sticky = order.sticky;
  out.userspace = order.userspace;
  out.effect = order.userspace ? "none" : "lost";
  out.line = "NVRM: GPU " + order.pci + ".0: GPU has fallen off the bus.";
  return out;
}

}  // namespace

extern const Fault off_bus;
const Fault off_bus = {"off_bus", "a GPU that falls off the bus without an XID line",
                       "kernel line to incident below 100 ms", "reboot", render};

}  // namespace tundish::families
