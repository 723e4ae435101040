#pragma once
#include "model/incident.hpp"

namespace tundish {

/// Hardware spoke since the current state of the policy was entered.
inline bool is_witnessed_anew(const Incident& incident) {
  return incident.last_witness_at > incident.policy_since;
}

}  // namespace tundish
