#include "families/checks/check_parts.hpp"

namespace tundish::checks {
namespace {

Verdicts judge(const CheckSample& sample) {
  if (sample.expect.gpu_count == 0 || (sample.nameplate && sample.nameplate->nvlinks == 0)) {
    return {make_verdict(VerdictState::ok, "the GPUs have no NVLink")};
  }
  return each_counter(
      sample, "nvlink_errors", "nvlink", "no NVLink link repeats or recovers",
      [](const CounterReading& counter, Findings& found) {
        if (counter.name == "crc") {
          if (!counter.per_minute) return;
          found.measure("crc", counter.device, *counter.per_minute, "NVLink CRC errors");
        } else {
          found.measure(counter.name, counter.device, *counter.grown, "NVLink " + counter.name);
        }
      });
}

}  // namespace

extern const Check nvlink_errors;
const Check nvlink_errors{
    "nvlink_errors",
    "NVLink links repeat and repair nothing: replays, recoveries and CRC errors as "
    "deltas.",
    "NVML field values, NVLink replay, recovery and CRC counters; DCGM: replay or "
    "recovery 1 fails, CRC 100/s fails, 1 warns; facts/health.md section 2",
    "none: a delta of the snapshot",
    {"counters", "limits", "nameplate"},
    judge,
    Resource::nvlink,
    Locality::symptom,
    minutes(1),
    Gate::advisory};

}  // namespace tundish::checks
