#include "families/checks/check_parts.hpp"

namespace tundish::checks {
namespace {

Verdicts judge(const CheckSample& sample) {
  if (!sample.arrays) return {make_unknown("arrays", sample.fault_of("arrays"))};
  if (sample.arrays->empty()) return {make_verdict(VerdictState::ok, "the node has no array")};
  Findings found(sample, "md_array");
  for (const auto& array : *sample.arrays) {
    if (array.degraded > 0) {
      found.fail(array.name, "the array misses members",
                 std::to_string(array.degraded) + ", " + array.action);
    } else if (array.state == "broken" || array.state == "inactive" || array.state == "readonly") {
      found.fail(array.name, "the array is " + array.state);
    }
  }
  return found.take("every array is whole");
}

}  // namespace

extern const Check md_array;
const Check md_array{"md_array",
                     "No software RAID array misses a member or stopped.",
                     "/sys/block/md*/md/{degraded,array_state}; soperator's nvme_raid_health; "
                     "facts/health.md sections 2 and 4",
                     "reads some small files of sysfs; no device is touched",
                     {"arrays"},
                     judge,
                     Resource::disk,
                     Locality::device_local,
                     minutes(5),
                     Gate::advisory};

}  // namespace tundish::checks
