#pragma once
// From the registry and what was last seen to the evidence that blame is asked on.
#include "control/health/evidence.hpp"
#include "control/view.hpp"

namespace tundish::control::health {

struct Evidence {
  std::vector<Sighting> sightings;
  Topology topology;
  Instant wake_at;  ///< when more will count; unset: nothing waits
};

/// `unwell`: nodes that showed anything lately; the others only count as users that are fine.
Evidence gather(const View& view, const std::set<NodeId>& unwell);
/// Whether the node showed anything that blame reads.
bool is_unwell(const Registry& view, const NodeId& node);
/// Name of the server that shared storage comes from.
std::string storage_name_of(const Limits& limits);

}  // namespace tundish::control::health
