#include "families/checks/check_parts.hpp"

namespace tundish::checks {
namespace {

Verdicts judge(const CheckSample& sample) {
  if (sample.expect.gpu_count == 0) return {make_verdict(VerdictState::ok, "the SKU has no GPU")};
  return each_counter(sample, "ecc_rate", "ecc", "corrected errors are rare",
                      [](const CounterReading& counter, Findings& found) {
                        if (counter.name != "corrected") return;
                        if (counter.per_minute) {
                          found.measure("corrected", counter.device, *counter.per_minute,
                                        "corrected memory errors");
                        }
                        found.measure("corrected_day", counter.device, *counter.grown,
                                      "corrected memory errors of a day");
                      });
}

}  // namespace

extern const Check ecc_rate;
const Check ecc_rate{
    "ecc_rate",
    "Corrected memory errors do not come faster than a failing board makes them: the "
    "rate, not the total.",
    "nvmlDeviceGetTotalEccErrors, corrected, as a delta; NVSentinel #1748 saw 17,657 a "
    "second that nobody reported",
    "none: a delta of the snapshot",
    {"counters", "limits", "expect"},
    judge,
    Resource::gpu_memory,
    Locality::device_local,
    minutes(1),
    Gate::advisory};

}  // namespace tundish::checks
