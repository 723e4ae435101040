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

/// Opens the story's incident on a simulated site that runs under `policy`, lets every act end and
/// every person do as the story says, and looks again after eight hours in which nothing more
/// happens. Reproduced: it sticks where the story says, or ended as badly. A threshold is lived by
/// a part that shows the value which it misjudges; a state or a guard that nothing reaches by one
/// life of every kind of fault and of ends of acts.
Result<ReplayReport> replay(const RemediationPolicy& policy, const XidCatalogue& catalogue,
                            const control::verify::Refutation& story);

/// The two that are no story of one incident.
Result<ReplayReport> replay_threshold(const RemediationPolicy& policy,
                                      const XidCatalogue& catalogue,
                                      const control::verify::Refutation& story);
Result<ReplayReport> replay_catalogue(const RemediationPolicy& policy,
                                      const XidCatalogue& catalogue,
                                      const control::verify::Refutation& story);

enum class Manner { all_succeeds, acts_fail, checks_fail, no_answers };
enum class Witnessed { hardware, user };
struct Lived {
  std::string fault;
  Witnessed by = Witnessed::hardware;
  Manner manner = Manner::all_succeeds;
};
/// States that one incident enters within eight hours when acts end in that manner.
Result<std::vector<std::string>> live(const RemediationPolicy& policy,
                                      const XidCatalogue& catalogue, const Lived& how);

}  // namespace tundish::sim
