#pragma once
// Whose fault it is: pure, and the same for every order in which the evidence came.
#include "control/health/evidence.hpp"

namespace tundish::control::health {

/// One cause with everything that it explains.
struct Finding {
  Blame blame;
  Resource symptom = Resource::unknown;  ///< what was seen first
  std::vector<NodeId> affected;          ///< sorted
  NodeId node;                           ///< set when the subject is a node
  std::string device;                    ///< of the blamed part, when it is a node's
  Instant first;
  Instant cause_first;   ///< of what came first: when that was seen; else unset
  bool settled = false;  ///< else `wake_at` tells when to ask again
  bool claims = false;   ///< the node is to be taken out of service
  bool local = false;    ///< nothing outside the node can have caused it
  Instant wake_at;
};

/// Below it nothing is taken out of service.
inline constexpr int least_confidence = 60;

std::vector<Finding> blame(std::vector<Sighting> sightings, const Topology& topology, Instant now,
                           const BlameTimes& times = {});

}  // namespace tundish::control::health
