#include "codec/limits_lint.hpp"

#include <algorithm>

#include "model/printed_value.hpp"

namespace tundish {
namespace {

/// Below this share of the nameplate a floor passes what is broken. Source: facts/health.md
/// sections 3 and 7 (reproduced on DCGM's 138 SKUs); checked 2026-08.
constexpr std::int64_t least_percent = 25;
/// Newest published code. Source: nverror.h of open-gpu-kernel-modules 595.45.04; checked 2026-08.
constexpr int newest_xid = 176;

std::string row_of(const Limit& limit) {
  std::string out = limit.check + "." + limit.name;
  if (!limit.gpu_model.empty()) out += " of " + limit.gpu_model;
  return out;
}

void lint_plate(const Limit& limit, const Nameplate& plate, std::vector<LintFinding>& out) {
  const std::int64_t printed = printed_value(limit, plate);
  if (printed <= 0 || limit.side != LimitBound::below) return;
  const std::int64_t percent = limit.value * 100 / printed;
  const std::string share = std::to_string(limit.value) + " is " + std::to_string(percent) +
                            " % of the nameplate's " + std::to_string(printed);
  if (percent < least_percent) {
    out.push_back({row_of(limit), "it cannot fail: " + share, "is a unit or a factor wrong?"});
  } else if (limit.value > printed) {
    out.push_back({row_of(limit), "it always fails: " + share, "lower it below the nameplate"});
  }
}

void lint_reach(const Limit& limit, std::vector<LintFinding>& out) {
  const bool share = limit.unit == LimitUnit::percent;
  const std::string value = std::to_string(limit.value);
  if (limit.side == LimitBound::below && limit.value == 0) {
    out.push_back({row_of(limit), "it cannot fire: nothing is below 0", "raise it"});
  }
  if (limit.side == LimitBound::at_least && limit.value == 0) {
    out.push_back({row_of(limit), "it always fires: everything is at least 0", "raise it"});
  }
  // Power limits and worn drives go beyond 100 percent; other shares do not.
  const bool bounded = share && limit.check != "nvme_health" && limit.check != "gpu_power";
  if (bounded && limit.side != LimitBound::below &&
      limit.value + (limit.side == LimitBound::above ? 1 : 0) > 100) {
    out.push_back({row_of(limit), "it cannot fire: no share is above 100 percent", "lower it"});
  }
  if (limit.column >= 0 && limit.column >= static_cast<int>(limit.columns.size())) {
    out.push_back({row_of(limit),
                   "it cannot fire: element " + std::to_string(limit.column) + " of a query with " +
                       std::to_string(limit.columns.size()) + " columns is empty",
                   "name the column instead of counting"});
  }
}

void lint_pair(const Limit& warn, const Limit& fail, std::vector<LintFinding>& out) {
  const bool same = warn.check == fail.check && warn.name == fail.name &&
                    warn.gpu_model == fail.gpu_model && warn.side == fail.side &&
                    warn.since_driver == fail.since_driver &&
                    warn.until_driver == fail.until_driver;
  if (!same || warn.verdict != VerdictState::warn || fail.verdict != VerdictState::fail) return;
  const bool weaker =
      fail.side == LimitBound::below ? fail.value >= warn.value : fail.value <= warn.value;
  if (!weaker) return;
  out.push_back({row_of(fail),
                 "its warning cannot be seen: it fails at " + std::to_string(fail.value) +
                     " and warns at " + std::to_string(warn.value),
                 "warn before failing"});
}

bool ends_a_fault(const XidEntry& row) {
  return row.action != FaultAction::none || row.on_repeat != FaultAction::none ||
         row.when_idle != FaultAction::none;
}

}  // namespace

std::vector<LintFinding> lint_limits(const Thresholds& thresholds, const Nameplates& nameplates,
                                     const std::vector<std::string>& checks) {
  std::vector<LintFinding> out;
  if (thresholds.limits.empty()) {
    out.push_back({"limits", "there are none: no check that measures can warn or fail",
                   "begin with catalog/thresholds.yaml"});
  }
  for (const auto& limit : thresholds.limits) {
    lint_reach(limit, out);
    if (const Nameplate* plate = nameplates.find(limit.gpu_model)) lint_plate(limit, *plate, out);
    for (const auto& other : thresholds.limits) lint_pair(limit, other, out);
    const bool known =
        checks.empty() || std::find(checks.begin(), checks.end(), limit.check) != checks.end();
    if (!known) {
      out.push_back({row_of(limit), "no check is called " + limit.check, "correct the name"});
    }
  }
  return out;
}

std::vector<LintFinding> lint_catalogue(const XidCatalogue& catalogue) {
  std::vector<LintFinding> out;
  // Codes that the driver's header never gave a meaning, or took it back before 470.
  // Source: NVIDIA's catalogue and nverror.h of 595.45.04; checked 2026-08
  constexpr int without_meaning[] = {
      1,  2,  3,  4,  5,  6,  7,   9,   10,  12,  14,  15,  16,  17,  18,  19,  20,  21,
      22, 23, 24, 26, 27, 28, 29,  30,  33,  34,  35,  36,  42,  47,  49,  50,  51,  52,
      53, 55, 59, 87, 90, 91, 111, 112, 113, 114, 115, 116, 117, 118, 122, 124, 125, 138};
  for (int code = 1; code <= newest_xid; ++code) {
    const bool meant = std::find(std::begin(without_meaning), std::end(without_meaning), code) ==
                       std::end(without_meaning);
    if (meant && !catalogue.find(code)) {
      out.push_back({"xid " + std::to_string(code), "a published code has no row",
                     "add it to catalog/xid.yaml with its source"});
    }
  }
  for (const auto& row : catalogue.xid.entries) {
    if (row.fault_class != FaultClass::hardware || ends_a_fault(row)) continue;
    out.push_back({"xid " + std::to_string(row.code), "a hardware fault has no action at all",
                   "say trend when it is only to be counted"});
  }
  return out;
}

}  // namespace tundish
