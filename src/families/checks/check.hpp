#pragma once
// A check: one file per check, whose exported symbol is named like the file.
#include <span>
#include <string_view>
#include <vector>

#include "model/check_sample.hpp"

namespace tundish::checks {

/// Of one check: one per device that is not ok, or a single one for the node.
using Verdicts = std::vector<Verdict>;

/// Whether a node serves without it.
enum class Gate {
  advisory,  ///< told, and judged by whoever asks
  veto,      ///< a fail keeps it from tenants; where nothing can be seen that is no reason
  serve      ///< a node must pass it to be given to a tenant or to return from a repair
};
inline std::span<const std::string_view> enum_names(Gate) {
  static constexpr std::string_view names[] = {"advisory", "veto", "serve"};
  return names;
}

/// Who gathers the evidence, and so where the check runs.
enum class Eye { agent, bmc };

struct Check {
  std::string_view name;
  std::string_view doc;
  std::string_view source;              ///< where the evidence and the limits come from
  std::string_view cost;                ///< what running it costs the node
  std::vector<std::string_view> needs;  ///< members of CheckSample
  /// Pure. What is known of every check (name, time, part) is filled in by the caller.
  Verdicts (*judge)(const CheckSample& sample) = nullptr;
  Resource watches = Resource::unknown;
  Locality locality = Locality::symptom;
  Duration every = minutes(1);  ///< of a passive one in the agent's loop
  Gate gate = Gate::advisory;
  CheckKind kind = CheckKind::passive;
  Tier tier = Tier::light;
  int looks = 1;  ///< in a row that must say warn or fail before the agent's loop tells it
  Eye eye = Eye::agent;
};

/// `names` empty, or `serve` among them: all that gate (of those with a veto only what fails); "*":
/// all passive ones. A name that nobody knows gives a verdict unknown, never silence. A check that
/// finds its own evidence starved says unknown.
Verdicts judge_all(const CheckSample& sample, const std::vector<std::string>& names);
/// All that judge what a BMC shows.
Verdicts judge_bmc(const CheckSample& sample);
/// One check, starvation and bounds applied.
Verdicts run_check(const Check& check, const CheckSample& sample);
const Check* find_check(std::string_view name);

Verdict make_verdict(VerdictState state, std::string reason, std::string evidence = {});
/// "missing: why" for evidence that could not be gathered.
Verdict make_unknown(std::string_view what, const std::string& fault);

/// Limits of a check for this node; nullptr when the catalogue has none of that name.
const Limit* find_limit(const CheckSample& sample, std::string_view check, std::string_view name);

}  // namespace tundish::checks

namespace tundish {
std::span<const checks::Check* const> all_checks();
}  // namespace tundish
