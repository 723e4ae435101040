#include "families/checks/check_parts.hpp"

namespace tundish::checks {
namespace {

Verdicts judge(const CheckSample& sample) {
  if (!sample.events) return {make_unknown("kernel events", sample.events_fault)};
  Findings found(sample, "disk_errors");
  for (const auto& seen : *sample.events) {
    if (seen.event.kind != KernelEventKind::io_error) continue;
    if (seen.provenance != Provenance::kernel || !found.is_recent("window", seen.last_at)) continue;
    found.fail(seen.event.block_device, "the kernel reports errors of the disk",
               seen.event.detail + ", " + std::to_string(seen.repeat) + " times");
  }
  return found.take("no disk error within the window");
}

}  // namespace

extern const Check disk_errors;
const Check disk_errors{
    "disk_errors",
    "The kernel reported no I/O or file system error of a local disk lately.",
    "kernel log: I/O error, EXT4-fs error, XFS shutdown, remount; facts/health.md section "
    "2",
    "none: the agent reads the log anyway",
    {"events", "limits"},
    judge,
    Resource::disk,
    Locality::device_local,
    minutes(1),
    Gate::advisory};

}  // namespace tundish::checks
