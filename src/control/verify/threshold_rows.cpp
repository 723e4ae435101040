#include "control/verify/threshold_rows.hpp"

#include <algorithm>
#include <limits>

#include "model/printed_value.hpp"

namespace tundish::control::verify {
namespace {

constexpr std::int64_t unbounded = std::numeric_limits<std::int64_t>::max();

/// Power limits and worn drives go beyond 100 percent; other shares do not.
bool is_share(const Limit& limit) {
  return limit.unit == LimitUnit::percent && limit.check != "nvme_health" &&
         limit.check != "gpu_power";
}

/// Most that can be read.
std::int64_t most_of(const Limit& limit, const Nameplates& nameplates) {
  if (limit.side != LimitBound::below) return is_share(limit) ? 100 : unbounded;
  const Nameplate* plate = nameplates.find(limit.gpu_model);
  const std::int64_t printed = plate ? printed_value(limit, *plate) : 0;
  if (printed > 0) return printed;
  // How much a sound part shows is not known, only that it is enough.
  return is_share(limit) ? std::min<std::int64_t>(100, limit.value) : limit.value;
}

ThresholdRow row_of(const Limit& limit, const Nameplates& nameplates) {
  ThresholdRow row;
  row.check = limit.check + "." + limit.name;
  row.object = limit.gpu_model;
  PolicyThreshold& out = row.threshold;
  out.fails = limit.side == LimitBound::below ? LimitSide::below : LimitSide::above;
  out.limit = limit.side == LimitBound::at_least ? limit.value - 1 : limit.value;
  out.nameplate = most_of(limit, nameplates);
  out.unit = enum_names(limit.unit)[static_cast<std::size_t>(limit.unit)];
  // An element that the query does not have is empty, which is read as 0.
  if (limit.column >= static_cast<int>(limit.columns.size())) out.nameplate = 0;
  return row;
}

}  // namespace

std::vector<ThresholdRow> threshold_rows(const Thresholds& thresholds,
                                         const Nameplates& nameplates) {
  std::vector<ThresholdRow> out;
  for (const auto& limit : thresholds.limits) out.push_back(row_of(limit, nameplates));
  return out;
}

}  // namespace tundish::control::verify
