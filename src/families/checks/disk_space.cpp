#include "families/checks/check_parts.hpp"

namespace tundish::checks {
namespace {

Verdicts judge(const CheckSample& sample) {
  if (!sample.disks) return {make_unknown("disks", sample.fault_of("disks"))};
  if (sample.disks->empty()) return {make_unknown("disks", "no local file system is known")};
  Findings found(sample, "disk_space");
  for (const auto& disk : *sample.disks) {
    if (!disk.fault.empty() || disk.size_mib <= 0) {
      found.unseen(disk.target, disk.fault.empty() ? "it has no size" : disk.fault);
      continue;
    }
    found.measure("free", disk.target, disk.free_mib * 100 / disk.size_mib, "free space");
    if (disk.inodes > 0) {
      found.measure("inodes", disk.target, disk.inodes_free * 100 / disk.inodes, "free inodes");
    }
  }
  return found.take("every local file system has space");
}

}  // namespace

extern const Check disk_space;
const Check disk_space{
    "disk_space",
    "Local file systems have space and inodes left.",
    "statvfs; gpud 500 MB or 10 %, GCM 80 and 85 %, soperator 80 % of the boot disk; "
    "facts/health.md section 2",
    "one statvfs per file system, in a child with a deadline",
    {"disks", "limits"},
    judge,
    Resource::disk,
    Locality::symptom,
    minutes(5),
    Gate::advisory};

}  // namespace tundish::checks
