#include "families/checks/check_parts.hpp"

namespace tundish::checks {
namespace {

Verdicts judge(const CheckSample& sample) {
  if (!sample.clock) return {make_unknown("clock", sample.fault_of("clock"))};
  Findings found(sample, "clock_sync");
  if (!sample.clock->synchronised) found.warn("", "nobody disciplines the clock");
  found.measure("offset", "", sample.clock->offset_us, "offset of the clock");
  if (sample.clock->synchronised) {
    found.measure("error", "", sample.clock->error_us, "possible error of the clock");
  }
  return found.take("the clock is disciplined");
}

}  // namespace

extern const Check clock_sync;
const Check clock_sync{
    "clock_sync",
    "The clock is disciplined and close to the truth: an offset, not whether a daemon "
    "runs.",
    "adjtimex: STA_UNSYNC, maxerror; NPD looks only for the service; facts/health.md "
    "section 2",
    "one system call",
    {"clock", "limits"},
    judge,
    Resource::clock,
    Locality::symptom,
    minutes(5),
    Gate::advisory};

}  // namespace tundish::checks
