#pragma once
// A passive check: one file per check, whose exported symbol is named like the file.
#include <span>
#include <string_view>
#include <vector>

#include "model/check_sample.hpp"

namespace tundish::checks {

struct Check {
  std::string_view name;
  std::string_view doc;
  std::string_view source;  ///< where the evidence and the limits come from
  std::string_view cost;    ///< what running it costs the node
  std::vector<std::string_view> needs;  ///< members of CheckSample
  /// Pure. `check` and `at` of the verdict are filled in by the caller.
  Verdict (*judge)(const CheckSample& sample);
};

/// `names` empty: all of them. A name that nobody knows gives a verdict unknown, never silence.
std::vector<Verdict> judge_all(const CheckSample& sample, const std::vector<std::string>& names);

Verdict make_verdict(VerdictState state, std::string reason, std::string evidence = {});
/// "missing: why" for evidence that could not be gathered.
Verdict make_unknown(std::string_view what, const std::string& fault);

}  // namespace tundish::checks

namespace tundish {
std::span<const checks::Check* const> all_checks();
}  // namespace tundish
