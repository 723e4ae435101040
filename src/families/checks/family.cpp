#include "families/checks/check.hpp"

namespace tundish::checks {
#include "families/checks/table.inc"

namespace {

/// Evidence is stored with every verdict and shown to people.
constexpr std::size_t evidence_limit = 2000;

Verdict run_check(const Check& check, const CheckSample& sample) {
  Verdict verdict = check.judge(sample);
  verdict.check = check.name;
  verdict.at = sample.now;
  if (verdict.evidence.size() > evidence_limit) verdict.evidence.resize(evidence_limit);
  return verdict;
}

}  // namespace

std::vector<Verdict> judge_all(const CheckSample& sample, const std::vector<std::string>& names) {
  std::vector<Verdict> out;
  if (names.empty()) {
    for (const Check* check : tundish::all_checks()) out.push_back(run_check(*check, sample));
  }
  for (const auto& name : names) {
    Verdict verdict = make_unknown("check", "this agent has no check of that name");
    verdict.check = name;
    verdict.at = sample.now;
    for (const Check* check : tundish::all_checks()) {
      if (check->name == name) verdict = run_check(*check, sample);
    }
    out.push_back(std::move(verdict));
  }
  return out;
}

Verdict make_verdict(VerdictState state, std::string reason, std::string evidence) {
  Verdict verdict;
  verdict.state = state;
  verdict.reason = std::move(reason);
  verdict.evidence = std::move(evidence);
  return verdict;
}

Verdict make_unknown(std::string_view what, const std::string& fault) {
  return make_verdict(VerdictState::unknown,
                      std::string(what) + ": " + (fault.empty() ? "nothing was gathered" : fault));
}

}  // namespace tundish::checks

namespace tundish {

std::span<const checks::Check* const> all_checks() {
  return {checks::all_checks, std::size(checks::all_checks) - 1};
}

}  // namespace tundish
