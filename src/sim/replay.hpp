#pragma once
// A counterexample of the verifier, lived through by the shipped controllers.
#include <string>
#include <vector>

#include "control/verify/verify.hpp"
#include "model/xid_catalogue.hpp"

namespace tundish::sim {

struct ReplayReport {
  bool is_reproduced = false;
  std::string end;                 ///< where it was eight hours after the story, in one sentence
  std::vector<std::string> lived;  ///< states that the incident entered, in order
};

/// Opens the story's incident on a simulated site that runs under `policy`, lets every act end as
/// the story says, and looks again after eight hours in which nothing more happens. Reproduced: it
/// sticks where the story says, or ended as badly. A story without an incident (a threshold, a
/// guard) cannot be lived: unsupported.
Result<ReplayReport> replay(const RemediationPolicy& policy, const XidCatalogue& catalogue,
                            const control::verify::Refutation& story);

}  // namespace tundish::sim
