#include <iterator>

#include "families/faults/fault.hpp"

namespace tundish::families {
#include "families/faults/table.inc"

std::span<const Fault* const> list_faults() { return {all_faults, std::size(all_faults) - 1}; }

const Fault* find_fault(std::string_view name) {
  for (const Fault* fault : list_faults()) {
    if (fault->name == name) return fault;
  }
  return nullptr;
}

Injection make_injection(const FaultOrder& order, const Breakage& breakage) {
  Injection out;
  out.node_name = order.node_name;
  out.gpu = order.gpu;
  out.sticky = order.sticky;
  out.userspace = order.userspace;
  out.effect = order.userspace ? "none" : breakage.effect;
  out.line = order.text.empty() ? breakage.line : order.text;
  out.part = order.part;
  out.for_s = order.for_s;
  if (order.copies > 0) out.copies = order.copies;
  return out;
}

Result<Injection> break_gpu(const FaultOrder& order, const Breakage& breakage) {
  if (order.pci.empty()) {
    return make_error(Code::invalid, "node " + order.node_name + " has no GPU " +
                                         std::to_string(order.gpu) + " on record");
  }
  return make_injection(order, breakage);
}

Result<Injection> break_part(const FaultOrder& order, const Breakage& breakage) {
  if (order.userspace) {
    return make_error(Code::unsupported, "a user cannot write this fault: it is no line")
        .with_remedy("leave --userspace out");
  }
  if (order.sticky) {
    return make_error(Code::unsupported, "this fault is no GPU's: no reset or boot is about it")
        .with_remedy("leave --sticky out; see --for");
  }
  return make_injection(order, breakage);
}

}  // namespace tundish::families
