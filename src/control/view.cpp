#include "control/view.hpp"

#include "model/ops/node_ops.hpp"

namespace tundish::control {

bool is_present(const View& view, const NodeId& node) {
  const auto it = view.seen.presence.find(node);
  return it != view.seen.presence.end() &&
         view.now - it->second.last_heard < view.limits.silent_after;
}

const EngineObserved* fresh_engine(const View& view, const ClusterId& cluster) {
  const auto it = view.seen.engines.find(cluster);
  if (it == view.seen.engines.end() || !it->second.reachable) return nullptr;
  return view.now - it->second.at < view.limits.engine_stale ? &it->second : nullptr;
}

PortRef port_of(const View& view, const Node& node, const std::string& interface) {
  for (const auto& port : node.spec.ports) {
    if (port.name != interface) continue;
    const Switch* found = view.reg.find_named<Switch>(port.switch_name);
    return {port.switch_name, found ? found->spec.management_url : "", port.switch_port};
  }
  return {};
}

std::optional<std::string> seen_segment(const View& view, const PortRef& port) {
  const auto it = view.seen.ports.find({port.switch_name, port.port});
  if (it == view.seen.ports.end()) return std::nullopt;
  return it->second.segment;
}

Placeable placeable(const View& view, const Node& node) {
  const auto no = [](std::string reason) { return Placeable{false, std::move(reason)}; };
  if (node.status.phase != NodePhase::ready) {
    return no("is " + std::string(enum_names(NodePhase{})[static_cast<std::size_t>(
                          node.status.phase)]));
  }
  if (!node.status.allocation.empty()) return no("belongs to an allocation");
  if (!view.reg.claims_on(node.id).empty()) return no("is claimed");
  if (!is_present(view, node.id)) return no("was not heard lately");
  for (const char* blocking : {"drift", "board_swap", "checks_failed"}) {
    if (const Condition* found = find_condition(node, blocking)) {
      return no(std::string(blocking) + ": " + found->reason);
    }
  }
  return {true, ""};
}

}  // namespace tundish::control
