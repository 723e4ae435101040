#include "control/view.hpp"

#include <algorithm>

#include "model/ops/maintenance_ops.hpp"
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

std::optional<EngineSilence> engine_silence(const View& view, const Cluster& cluster) {
  const bool set_up =
      cluster.status.controller_ready && cluster.status.phase != ClusterPhase::deleting;
  if (!set_up || fresh_engine(view, cluster.id)) return std::nullopt;
  EngineSilence out{view.seen.started_at, ""};
  const auto answered = view.seen.engine_answered.find(cluster.id);
  const bool ever = answered != view.seen.engine_answered.end();
  // What did not exist yet was not silent.
  out.since = ever ? answered->second : std::max(out.since, cluster.meta.created_at);
  const auto last = view.seen.engines.find(cluster.id);
  const bool refused = last != view.seen.engines.end() && !last->second.reachable;
  if (refused) out.fault = last->second.fault;
  // One that never answered may only just have been started.
  if ((refused && ever) || view.now - out.since >= view.limits.engine_stale) return out;
  return std::nullopt;
}

PortRef port_of(const View& view, const Node& node, const std::string& interface) {
  for (const auto& port : node.spec.ports) {
    if (port.name != interface) continue;
    const Switch* found = view.reg.find_named<Switch>(port.switch_name);
    PortRef ref;
    ref.switch_name = port.switch_name;
    ref.port = port.switch_port;
    if (found) {
      ref.management_url = found->spec.management_url;
      ref.driver = found->spec.driver;
    }
    return ref;
  }
  return {};
}

SwitchOwnership ownership_of(const View& view, const Switch& device) {
  SwitchOwnership owned;
  for (const auto& [id, node] : view.reg.all<Node>()) {
    for (const auto& port : node.spec.ports) {
      if (port.switch_name == device.meta.name) owned.ports.push_back(port.switch_port);
    }
  }
  const std::string fabric = device.spec.fabric.empty() ? "access" : device.spec.fabric;
  if (const Fabric* found = view.reg.find_named<Fabric>(fabric)) {
    for (const auto& port : found->spec.storage_ports) {
      if (port.switch_name == device.meta.name) owned.ports.push_back(port.port);
    }
  }
  std::sort(owned.ports.begin(), owned.ports.end());
  return owned;
}

std::optional<std::string> seen_segment(const View& view, const PortRef& port) {
  const auto it = view.seen.ports.find({port.switch_name, port.port});
  if (it == view.seen.ports.end()) return std::nullopt;
  return it->second.segment;
}

namespace {

/// An order has no end of its own, so a window that begins within the lead is taken to begin within
/// it. The lead has come when the maintenance says so: a clock here would escape the fleet's memo.
std::string near_window(const View& view, const Node& node) {
  for (const auto& id : view.reg.windows_of(node.id)) {
    const Maintenance* found = view.reg.find(id);
    if (!found || found->state != MaintenanceState::near) continue;
    return found->meta.name + " begins at " + render_utc(found->begin);
  }
  return "";
}

/// A free node whose port is seen in a segment is in use by something that the registry does not
/// know, for example after a restore of an older state.
std::string foreign_segment(const View& view, const Node& node) {
  if (node.spec.role == NodeRole::service) return "";
  for (const auto& port : node.spec.ports) {
    if (port.role != PortRole::access) continue;
    const auto seen = seen_segment(view, port_of(view, node, port.name));
    if (seen && !seen->empty()) return *seen;
  }
  return "";
}

}  // namespace

namespace {

/// The BMC's word needs no agent, and stands when a repair is said to be over.
std::string bmc_fault(const Node& node) {
  for (const auto& verdict : node.status.bmc_verdicts) {
    if (verdict.state == VerdictState::fail || verdict.state == VerdictState::warn) {
      return verdict.reason + (verdict.device.empty() ? "" : " (" + verdict.device + ")");
    }
  }
  return "";
}

}  // namespace

Placeable placeable(const View& view, const Node& node) {
  const auto no = [](std::string reason) { return Placeable{false, std::move(reason)}; };
  if (node.status.phase != NodePhase::ready) {
    return no("is " +
              std::string(enum_names(NodePhase{})[static_cast<std::size_t>(node.status.phase)]));
  }
  if (!node.status.allocation.empty()) return no("belongs to an allocation");
  if (!view.reg.claims_on(node.id).empty()) return no("is claimed");
  if (!is_present(view, node.id)) return no("was not heard lately");
  if (const std::string window = near_window(view, node); !window.empty()) {
    return no("has a maintenance window: " + window);
  }
  if (const std::string segment = foreign_segment(view, node); !segment.empty()) {
    return no("its port is seen in segment " + segment + ", which is not known here");
  }
  if (const std::string fault = bmc_fault(node); !fault.empty()) return no("its BMC: " + fault);
  for (const char* blocking : {"drift", "board_swap", "checks_failed", "symptom", "miswired"}) {
    if (const Condition* found = find_condition(node, blocking)) {
      return no(std::string(blocking) + ": " + found->reason);
    }
  }
  return {true, ""};
}

}  // namespace tundish::control
