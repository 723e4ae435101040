#pragma once
// What one node showed, in blame's words. For src/control/health only.
#include "control/health/evidence.hpp"
#include "control/view.hpp"

namespace tundish::control::health {

/// Older events say nothing of now.
inline constexpr Duration events_age_limit = minutes(10);

/// Parts that one repair of a GPU is about.
inline bool is_gpu_part(Resource part) {
  return part == Resource::gpu || part == Resource::gpu_memory || part == Resource::nvlink;
}

struct NodeSightings {
  std::vector<Sighting> list;
  Instant wake_at;  ///< when something that does not count yet will; unset: nothing waits
};
/// `repaired`: when the last incident of the node ended; unset: never. What our own acts cause does
/// not count: a port that we hold down or just moved, a storage that we took the node away from.
NodeSightings sightings_of(const View& view, const Node& node, Instant repaired);

/// From when on the node says something of the leaf: a port that we hold down or just moved, and
/// the links of a node under repair, show it neither broken nor fine. `never`: not before we open
/// one.
Instant speaks_of_leaf(const View& view, const Node& node, const std::string& switch_name);

/// What the node's BMC shows, whatever the node itself says or is.
std::vector<Sighting> bmc_sightings_of(const View& view, const Node& node);

}  // namespace tundish::control::health
