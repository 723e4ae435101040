#include "families/checks/check_parts.hpp"

namespace tundish::checks {
namespace {

void look(const NvmeReading& drive, Findings& found) {
  if (drive.state != "live") {
    found.fail(drive.name, "the controller is " + drive.state);
    return;
  }
  if (!drive.critical_warning || !drive.spare_percent) {
    return found.unseen(drive.name, "it does not tell its health log");
  }
  if (*drive.critical_warning != 0) {
    found.fail(drive.name, "the drive warns", "bits " + std::to_string(*drive.critical_warning));
  } else if (*drive.spare_percent < drive.spare_threshold_percent.value_or(0)) {
    found.fail(drive.name, "its spare is used up", std::to_string(*drive.spare_percent) + " %");
  }
  if (drive.used_percent) found.measure("used", drive.name, *drive.used_percent, "its life used");
}

Verdicts judge(const CheckSample& sample) {
  if (!sample.drives) return {make_unknown("drives", sample.fault_of("drives"))};
  if (sample.drives->empty()) return {make_verdict(VerdictState::ok, "the node has no NVMe drive")};
  Findings found(sample, "nvme_health");
  for (const auto& drive : *sample.drives) look(drive, found);
  return found.take("every drive is well");
}

}  // namespace

extern const Check nvme_health;
const Check nvme_health{
    "nvme_health",
    "NVMe drives are live, have spare left and report no critical warning.",
    "controller state in sysfs and the SMART log page 2; facts/health.md section 2",
    "one admin command per drive, in a child with a deadline",
    {"drives", "limits"},
    judge,
    Resource::disk,
    Locality::device_local,
    minutes(15),
    Gate::advisory};

}  // namespace tundish::checks
