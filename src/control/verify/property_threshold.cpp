#include "control/verify/properties.hpp"

namespace tundish::control::verify {
namespace {

/// A limit below a quarter of the nameplate lets a part pass that is broken for any use.
/// Source: facts/health.md section 3, catalogue lint; checked 2026-08.
constexpr std::int64_t quarter = 4;

std::string number(std::int64_t value, const std::string& unit) {
  return std::to_string(value) + (unit.empty() ? "" : " " + unit);
}

/// By intervals: what can be read is [low, nameplate]; the limit must cut it in two.
std::string fault_of(const PolicyThreshold& row) {
  const std::string limit = "the limit of " + number(row.limit, row.unit);
  const std::string most = "the nameplate of " + number(row.nameplate, row.unit);
  if (row.low > row.nameplate) return "the range of what can be read is empty";
  if (row.fails == LimitSide::below) {
    if (row.limit <= row.low) return limit + " is never undercut: the check cannot fail";
    if (row.limit > row.nameplate) return limit + " is above " + most + ": nothing can pass";
    if (row.limit < row.nameplate / quarter) {
      return limit + " is below a quarter of " + most +
             ": the check cannot fail on a part that "
             "works at all";
    }
    return "";
  }
  if (row.limit >= row.nameplate) return limit + " is never exceeded: the check cannot fail";
  if (row.limit < row.low) return limit + " is always exceeded: nothing can pass";
  return "";
}

}  // namespace

std::optional<Broken> find_dead_threshold(const Space& space, const VerifyInput& input) {
  std::vector<ThresholdRow> rows = input.thresholds;
  for (const auto& [name, check] : space.policy().checks) {
    if (check.threshold) rows.push_back({name, "", *check.threshold});
  }
  for (const auto& row : rows) {
    const std::string fault = fault_of(row.threshold);
    if (fault.empty()) continue;
    Broken out;
    out.verdict =
        "check " + row.check + (row.object.empty() ? "" : " of " + row.object) + ": " + fault;
    return out;
  }
  return std::nullopt;
}

}  // namespace tundish::control::verify
