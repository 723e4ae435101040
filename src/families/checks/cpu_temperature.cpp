#include "families/checks/check_parts.hpp"

namespace tundish::checks {
namespace {

Verdicts judge(const CheckSample& sample) {
  if (!sample.sensors) return {make_unknown("sensors", sample.fault_of("sensors"))};
  if (sample.sensors->empty()) return {make_unknown("sensors", "the kernel shows none (hwmon)")};
  Findings found(sample, "cpu_temperature");
  int with_limit = 0;
  for (const auto& sensor : *sample.sensors) {
    if (!sensor.critical || *sensor.critical <= 0) continue;
    ++with_limit;
    found.measure("margin", sensor.chip + "/" + sensor.label, *sensor.critical - sensor.celsius,
                  "distance to its critical temperature");
  }
  if (with_limit == 0) found.unseen("", "no sensor tells its limit");
  return found.take("every sensor is below its limit");
}

}  // namespace

extern const Check cpu_temperature;
const Check cpu_temperature{"cpu_temperature",
                            "CPUs and boards stay below the limits of their own sensors.",
                            "hwmon temp*_input and temp*_crit; facts/health.md section 2",
                            "reads some small files of sysfs; no device is touched",
                            {"sensors", "limits"},
                            judge,
                            Resource::thermal,
                            Locality::symptom,
                            minutes(5),
                            Gate::advisory,
                            CheckKind::passive,
                            Tier::light,
                            2};

}  // namespace tundish::checks
