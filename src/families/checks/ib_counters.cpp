#include "families/checks/check_parts.hpp"

namespace tundish::checks {
namespace {

/// Those that are judged by what a day adds; all others by the minute.
bool is_daily(std::string_view name) {
  return name == "link_downed" || name == "excessive_buffer_overrun_errors" ||
         name == "local_link_integrity_errors" || name == "rnr_nak_retry_err";
}

bool has_limit(const CheckSample& sample, std::string_view name) {
  return find_limit(sample, "ib_counters", name) != nullptr;
}

Verdicts judge(const CheckSample& sample) {
  if (sample.expect.hca_count == 0) return {make_verdict(VerdictState::ok, "the SKU has no HCA")};
  return each_counter(sample, "ib_counters", "ib", "no port counts errors",
                      [&](const CounterReading& counter, Findings& found) {
                        if (counter.name == "symbol_error" && counter.covered >= hours(1)) {
                          const std::int64_t hours_seen =
                              std::max<std::int64_t>(1, counter.covered.us / hours(1).us);
                          found.measure("symbol_error_hour", counter.device,
                                        *counter.grown / hours_seen, "symbol_error");
                        }
                        if (!has_limit(sample, counter.name)) return;  // traffic, not errors
                        if (is_daily(counter.name)) {
                          found.measure(counter.name, counter.device, *counter.grown, counter.name);
                        } else if (counter.per_minute) {
                          found.measure(counter.name, counter.device, *counter.per_minute,
                                        counter.name);
                        }
                      });
}

}  // namespace

extern const Check ib_counters;
const Check ib_counters{
    "ib_counters",
    "No port counts errors, drops or congestion faster than the limits: deltas, never "
    "totals.",
    "counters and hw_counters of /sys/class/infiniband; NVSentinel's limits; "
    "facts/health.md section 2",
    "reads some small files of sysfs; no device is touched",
    {"counters", "limits", "expect"},
    judge,
    Resource::link,
    Locality::symptom,
    minutes(1),
    Gate::advisory};

}  // namespace tundish::checks
