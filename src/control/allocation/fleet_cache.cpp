#include "control/allocation/fleet_cache.hpp"

#include "control/allocation/fleet_view.hpp"

namespace tundish::control {
namespace {

/// All that is not kept by mark_free and mark_busy.
bool same_place(const placement::Slot& a, const placement::Slot& b) {
  placement::Slot moved = b;
  moved.placeable = a.placeable;
  return a == moved;
}

}  // namespace

Result<const placement::FleetIndex*> FleetCache::at(const View& view) {
  if (!stale_) {
    end_silences(view);
    TRY_VOID(refresh(view));
  }
  if (stale_) TRY_VOID(build(view));
  return &index_;
}

void FleetCache::touch_port(const std::string& switch_name, const std::string& port) {
  const auto known = nodes_of_port_.find({switch_name, port});
  if (known == nodes_of_port_.end()) return;
  touched_.insert(known->second.begin(), known->second.end());
}

Result<void> FleetCache::build(const View& view) {
  entries_.clear();
  touched_.clear();
  nodes_of_port_.clear();
  silences_ = {};
  placement::Fleet fleet = fleet_of(view);
  for (const auto& slot : fleet.slots) {
    const NodeId id(slot.node);
    Entry& entry = entries_[id];
    entry.slot = slot;
    wait_for_silence(view, id, entry);
    keep_ports(view, *view.reg.find(id));
  }
  index_ = TRY(placement::FleetIndex::create(std::move(fleet)));
  stale_ = false;
  return {};
}

Result<void> FleetCache::refresh(const View& view) {
  for (const auto& id : std::exchange(touched_, {})) {
    const Node* node = view.reg.find(id);
    const auto known = entries_.find(id);
    const bool listed = known != entries_.end();
    if (!listed && (!node || node->spec.role != NodeRole::gpu)) continue;
    if (!listed || !node || node->spec.role != NodeRole::gpu) {
      stale_ = true;
      return {};
    }
    Entry& entry = known->second;
    placement::Slot slot = slot_of(view, *node);
    if (!same_place(entry.slot, slot)) {
      stale_ = true;
      return {};
    }
    keep_ports(view, *node);
    wait_for_silence(view, id, entry);
    if (slot.placeable == entry.slot.placeable) continue;
    TRY_VOID(slot.placeable ? index_.mark_free(slot.node) : index_.mark_busy(slot.node));
    entry.slot.placeable = slot.placeable;
  }
  return {};
}

void FleetCache::wait_for_silence(const View& view, const NodeId& node, Entry& entry) {
  if (entry.watched || !is_present(view, node)) return;
  const Instant heard = view.seen.presence.at(node).last_heard;
  silences_.emplace(heard + view.limits.silent_after, node);
  entry.watched = true;
}

/// Each node is in the queue once, with a time that it may have outlived since.
void FleetCache::end_silences(const View& view) {
  while (!silences_.empty() && silences_.top().first <= view.now) {
    const NodeId node = silences_.top().second;
    silences_.pop();
    const auto known = entries_.find(node);
    if (known == entries_.end()) continue;
    known->second.watched = false;
    if (is_present(view, node)) {
      wait_for_silence(view, node, known->second);
    } else {
      touched_.insert(node);
    }
  }
}

void FleetCache::keep_ports(const View& view, const Node& node) {
  for (const auto& port : node.spec.ports) {
    if (port.role != PortRole::access) continue;
    const PortRef ref = port_of(view, node, port.name);
    nodes_of_port_[{ref.switch_name, ref.port}].insert(node.id);
  }
}

Result<const placement::FleetIndex*> find_fleet(const View& view, FleetCache& own) {
  return (view.fleet ? *view.fleet : own).at(view);
}

}  // namespace tundish::control
