#include "model/ops/recent_events.hpp"

#include <algorithm>

namespace tundish {
namespace {

constexpr std::size_t events_kept = 24;
constexpr Duration age_kept = minutes(15);
constexpr Duration run_gap = seconds(10);

std::string device_of(const KernelEvent& event) {
  return event.device.empty() ? event.block_device : event.device;
}

bool is_same(const RecentEvent& known, const Witness& witness) {
  const KernelEvent& event = witness.event;
  return known.kind == event.kind && known.code == event.code && known.device == device_of(event) &&
         known.subject == event.subject && known.provenance == witness.provenance;
}

RecentEvent make_recent(const Witness& witness) {
  const KernelEvent& event = witness.event;
  RecentEvent out;
  out.kind = event.kind;
  out.code = event.code;
  out.device = device_of(event);
  out.subject = event.subject;
  out.provenance = witness.provenance;
  out.parent_code = event.parent_code;
  out.recovery_action = event.recovery_action.value_or(-1);
  out.first = out.last = out.run_began = witness.observed_at;
  return out;
}

}  // namespace

void note_recent(AgentCursor& cursor, const Witness& witness, Deferred deferred) {
  const bool counts = witness.kind == WitnessKind::event && !witness.event.follow_up &&
                      witness.event.kind != KernelEventKind::gpu_identity;
  if (!counts) return;
  auto& recent = cursor.recent;
  std::erase_if(recent, [&](const RecentEvent& known) {
    return witness.observed_at - known.last > age_kept;
  });
  auto known = std::find_if(recent.begin(), recent.end(),
                            [&](const RecentEvent& one) { return is_same(one, witness); });
  if (known == recent.end()) {
    if (recent.size() >= events_kept) {
      recent.erase(std::min_element(
          recent.begin(), recent.end(),
          [](const RecentEvent& a, const RecentEvent& b) { return a.last < b.last; }));
    }
    recent.push_back(make_recent(witness));
    known = std::prev(recent.end());
  }
  if (witness.observed_at - known->last > run_gap) known->run_began = witness.observed_at;
  known->first = std::min(known->first, witness.observed_at);
  known->last = std::max(known->last, witness.observed_at);
  known->count += std::max<std::int64_t>(witness.repeat, 1);
  known->deferred = known->deferred || deferred == Deferred::yes;
}

bool shares_domain(const Registry& view, const NodeId& id) {
  const Node* node = view.find(id);
  if (!node || node->spec.nvlink_domain.empty()) return false;
  for (const auto& [other, one] : view.all<Node>()) {
    if (other != id && one.spec.nvlink_domain == node->spec.nvlink_domain) return true;
  }
  return false;
}

}  // namespace tundish
