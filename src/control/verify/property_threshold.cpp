#include "control/verify/properties.hpp"

namespace tundish::control::verify {
namespace {

/// A limit below a quarter of the nameplate lets a part pass that is broken for any use.
/// Source: facts/health.md section 3, catalogue lint; checked 2026-08.
constexpr std::int64_t quarter = 4;

std::string number(std::int64_t value, const std::string& unit) {
  return std::to_string(value) + (unit.empty() ? "" : " " + unit);
}

struct Misjudged {
  std::string verdict;         ///< empty: the limit cuts what can be read in two
  std::int64_t measured = 0;   ///< by a part that is judged wrongly
  bool is_sound = false;       ///< and whether that part is sound
};

/// By intervals: what can be read is [low, nameplate]; the limit must cut it in two.
Misjudged judge_row(const PolicyThreshold& row) {
  const std::string limit = "the limit of " + number(row.limit, row.unit);
  const std::string most = "the nameplate of " + number(row.nameplate, row.unit);
  if (row.low > row.nameplate) return {"the range of what can be read is empty"};
  if (row.fails == LimitSide::below) {
    if (row.limit <= row.low) {
      return {limit + " is never undercut: the check cannot fail", row.low, false};
    }
    if (row.limit > row.nameplate) {
      return {limit + " is above " + most + ": nothing can pass", row.nameplate, true};
    }
    if (row.limit < row.nameplate / quarter) {
      return {limit + " is below a quarter of " + most +
                  ": the check cannot fail on a part that works at all",
              row.limit, false};
    }
    return {};
  }
  if (row.limit >= row.nameplate) {
    return {limit + " is never exceeded: the check cannot fail", row.nameplate, false};
  }
  if (row.limit < row.low) {
    return {limit + " is always exceeded: nothing can pass", row.low, true};
  }
  return {};
}

/// What the limit makes of one part, as a story.
std::vector<StoryStep> tell_reading(const std::string& what, const ThresholdReading& reading) {
  std::vector<StoryStep> out(2);
  const std::string value = number(reading.measured, reading.threshold.unit);
  out[0].event = (reading.is_sound ? "a sound part shows " : "a broken part shows ") + value;
  out[1].event = what + (reading.fails() ? " fails" : " passes");
  out[1].act = reading.fails() ? "failed" : "done";
  return out;
}

}  // namespace

std::optional<Broken> find_dead_threshold(const Space& space, const VerifyInput& input) {
  std::vector<ThresholdRow> rows = input.thresholds;
  for (const auto& [name, check] : space.policy().checks) {
    if (check.threshold) rows.push_back({name, "", *check.threshold});
  }
  for (const auto& row : rows) {
    const Misjudged fault = judge_row(row.threshold);
    if (fault.verdict.empty()) continue;
    const std::string what =
        "check " + row.check + (row.object.empty() ? "" : " of " + row.object);
    Broken out;
    out.verdict = what + ": " + fault.verdict;
    if (row.threshold.low > row.threshold.nameplate) return out;
    out.reading = ThresholdReading{row.check, row.threshold, fault.measured, fault.is_sound};
    out.after = tell_reading(what, *out.reading);
    return out;
  }
  return std::nullopt;
}

}  // namespace tundish::control::verify
