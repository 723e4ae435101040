#include "families/checks/check_parts.hpp"

namespace tundish::checks {
namespace {

Verdicts by_events(const CheckSample& sample, Findings& found, const std::string& why) {
  if (sample.events) {
    for (const auto& seen : *sample.events) {
      const bool mine = seen.event.kind == KernelEventKind::memory_error &&
                        seen.provenance == Provenance::kernel && !seen.event.corrected;
      if (mine && found.is_recent("window", seen.last_at)) {
        found.fail(seen.event.subject, "the kernel reports an uncorrected memory error",
                   seen.event.detail);
      }
    }
  }
  if (!why.empty()) found.unseen("", why);
  return found.take("no uncorrected memory error, corrected ones are rare");
}

Verdicts judge(const CheckSample& sample) {
  Findings found(sample, "dram_ecc");
  if (!sample.counters) return by_events(sample, found, "counters: nothing was gathered");
  int seen = 0;
  for (const auto& counter : *sample.counters) {
    if (counter.group != "edac") continue;
    ++seen;
    if (counter.name == "ue_count") {
      found.measure("uncorrected", counter.device, counter.total, "uncorrected memory errors");
    } else if (counter.grown) {
      found.measure("corrected", counter.device, *counter.grown,
                    "corrected memory errors of a day");
    }
  }
  return by_events(sample, found, seen > 0 ? "" : "the kernel shows no memory controller (EDAC)");
}

}  // namespace

extern const Check dram_ecc;
const Check dram_ecc{
    "dram_ecc",
    "Memory controllers report no uncorrected error, and corrected ones stay rare.",
    "/sys/devices/system/edac/mc; kernel log MCE, CPER, EDAC; no peer reads EDAC; NHC "
    "counts 24 hours; facts/health.md section 2",
    "reads some small files of sysfs; no device is touched",
    {"counters", "events", "limits"},
    judge,
    Resource::memory,
    Locality::device_local,
    minutes(5),
    Gate::advisory};

}  // namespace tundish::checks
