#pragma once
// What the verdicts of a call of checks come to. Pure.
#include <vector>

#include "model/incident.hpp"

namespace tundish::control {

bool all_ok(const std::vector<Verdict>& verdicts);
/// Failed only when a check says so; a check that could not look leaves the question open, and the
/// policy looks again instead of repairing.
StepOutcome outcome_of(const std::vector<Verdict>& verdicts);

struct Judged {
  std::vector<Verdict> verdicts;
  StepOutcome outcome = StepOutcome::timeout;
};
/// Of checks after a repair: done only when what showed the fault was measured and is good. What
/// was to be measured and was not stands among the verdicts as unknown.
Judged judge_proof(const Incident* incident, std::vector<Verdict> verdicts);

}  // namespace tundish::control
