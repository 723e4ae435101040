#include "families/checks/check_parts.hpp"

namespace tundish::checks {
namespace {

Verdicts judge(const CheckSample& sample) {
  if (!sample.processes) return {make_unknown("processes", sample.fault_of("processes"))};
  const ProcessCounts& now = *sample.processes;
  Findings found(sample, "process_limits");
  if (now.files_most <= 0 || now.tasks_most <= 0) found.unseen("", "the kernel tells no limits");
  if (now.files_most > 0) {
    found.measure("files", "files", now.files * 100 / now.files_most, "open files, of the limit,");
  }
  if (now.tasks_most > 0) {
    found.measure("tasks", "tasks", now.tasks * 100 / now.tasks_most, "threads, of the limit,");
  }
  found.measure("zombies", "zombies", now.zombies, "processes that ended and are not collected");
  return found.take("files, threads and zombies are few");
}

}  // namespace

extern const Check process_limits;
const Check process_limits{
    "process_limits",
    "Open files, threads and zombies stay below what the node allows.",
    "/proc/sys/fs/file-nr, /proc/loadavg, pid_max; gpud 80 and 95 %, zombies 1000 and "
    "2000; facts/health.md section 2",
    "reads some small files of /proc",
    {"processes", "limits"},
    judge,
    Resource::process,
    Locality::symptom,
    minutes(1),
    Gate::advisory};

}  // namespace tundish::checks
