#include "control/health/carriers.hpp"

#include <algorithm>

namespace tundish::control::health {
namespace {

constexpr Duration look = BlameTimes{}.look;

}  // namespace

Carriers::Carriers(const View& view) {
  add_incidents(view.reg);
  add_switches(view);
}

void Carriers::add_incidents(const Registry& reg) {
  for (const auto& [id, incident] : reg.all<Incident>()) {
    if (incident.subject_kind != SubjectKind::network_switch || !incident.blamed) continue;
    const bool open = incident.state == IncidentState::open;
    const Resource part = incident.blamed->part;
    if (part == Resource::leaf && incident.blamed->rule != "undecided") {
      const Instant until = open ? never : incident.resolved_at;
      switches_[incident.subject].push_back({incident.detected_at, until});
    } else if (part == Resource::link && !open) {
      Instant& ended = links_[incident.subject];
      ended = std::max(ended, incident.resolved_at);
    }
  }
}

void Carriers::add_switches(const View& view) {
  for (const auto& [name, seen] : view.seen.switches) {
    if (!seen.fault.empty()) switches_[name].push_back({seen.fault_since, never});
  }
  for (const auto& [id, device] : view.reg.all<Switch>()) {
    for (const auto& one : device.status.conditions) {
      if (one.type != "unreachable") continue;
      const Instant until = one.state == Truth::no ? one.since : never;
      switches_[device.meta.name].push_back({one.since, until});
    }
  }
}

void Carriers::drop_explained(const Node& node, std::vector<Sighting>& list) const {
  std::vector<Sighting> kept;
  kept.reserve(list.size());
  for (auto& sighting : list) {
    if (!explain(node, sighting)) kept.push_back(std::move(sighting));
  }
  list = std::move(kept);
}

bool Carriers::explain(const Node& node, Sighting& sighting) const {
  const Instant at = sighting.counted_at;
  if (!at.is_set()) return false;
  Instant over;
  for (const auto& port : node.spec.ports) {
    const bool meant = sighting.device.empty() || port.name == sighting.device;
    if (!meant || port.switch_name.empty()) continue;
    static const std::vector<Away> none;
    const auto away = switches_.find(port.switch_name);
    for (const auto& time : away == switches_.end() ? none : away->second) {
      // A look counts what happened since the one before it.
      const bool ended = time.until != never;
      if (at + look >= time.from && (!ended || at <= time.until + look)) return true;
      if (ended && time.until < at) over = std::max(over, time.until);
    }
    const auto link = links_.find(port.switch_name + "/" + port.switch_port);
    if (link == links_.end()) continue;
    if (at <= link->second) return true;
    over = std::max(over, link->second);
  }
  if (sighting.first <= over) sighting.first = at;
  return false;
}

}  // namespace tundish::control::health
