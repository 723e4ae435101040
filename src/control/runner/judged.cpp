#include "control/runner/judged.hpp"

#include <algorithm>

#include "model/ops/incident_proof.hpp"

namespace tundish::control {

bool all_ok(const std::vector<Verdict>& verdicts) {
  return !verdicts.empty() &&
         std::all_of(verdicts.begin(), verdicts.end(), [](const Verdict& verdict) {
           return verdict.state == VerdictState::ok || verdict.state == VerdictState::warn;
         });
}

StepOutcome outcome_of(const std::vector<Verdict>& verdicts) {
  if (all_ok(verdicts)) return StepOutcome::done;
  const bool failed = std::any_of(verdicts.begin(), verdicts.end(), [](const Verdict& verdict) {
    return verdict.state == VerdictState::fail;
  });
  return failed ? StepOutcome::failed : StepOutcome::timeout;
}

Judged judge_proof(const Incident* incident, std::vector<Verdict> verdicts) {
  const Proof proof = incident ? proof_of(*incident) : Proof{};
  const Instant at = verdicts.empty() ? Instant{} : verdicts.front().at;
  for (const auto& [check, worst] : proof.passive) {
    const auto same = [&](const Verdict& verdict) { return verdict.check == check; };
    if (std::any_of(verdicts.begin(), verdicts.end(), same)) continue;
    Verdict missing;
    missing.check = check;
    missing.reason = "it was not measured after the repair";
    missing.at = at;
    verdicts.push_back(std::move(missing));
  }
  for (auto& verdict : verdicts) {
    const auto asked = proof.passive.find(verdict.check);
    const bool shows_it = asked != proof.passive.end() && asked->second == VerdictState::ok &&
                          verdict.state == VerdictState::warn;
    // Elsewhere a warning; here the node was taken out for it, and it is still there.
    if (shows_it) verdict.state = VerdictState::fail;
  }
  Judged out;
  out.outcome = outcome_of(verdicts);
  const bool proved = out.outcome != StepOutcome::done || unproved(proof, verdicts).empty();
  if (!proved) out.outcome = StepOutcome::timeout;
  out.verdicts = std::move(verdicts);
  return out;
}

}  // namespace tundish::control
