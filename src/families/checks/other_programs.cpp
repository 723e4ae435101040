#include "families/checks/check_parts.hpp"

namespace tundish::checks {
namespace {

Verdicts judge(const CheckSample& sample) {
  if (!sample.foreign) return {make_verdict(VerdictState::ok, "no other health program runs here")};
  Verdicts out;
  for (const auto& verdict : *sample.foreign) {
    if (verdict.state != VerdictState::ok) out.push_back(verdict);
  }
  if (!out.empty()) return out;
  return {make_verdict(VerdictState::ok, "other health programs find nothing")};
}

}  // namespace

extern const Check other_programs;
const Check other_programs{
    "other_programs",
    "What other health programs on the node say, with their name: DCGM, NHC, gpud, "
    "NVSentinel, Soperator.",
    "their own verdict formats, where they run; facts/health.md sections 2 and 6",
    "reads their last result; starts none of their tests",
    {"foreign"},
    judge,
    Resource::unknown,
    Locality::symptom,
    minutes(1),
    Gate::advisory};

}  // namespace tundish::checks
