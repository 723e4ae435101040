#include "families/checks/check_parts.hpp"

namespace tundish::checks {
namespace {

Resource part_of(const std::string& wait_channel) {
  const auto has_any = [&](std::initializer_list<std::string_view> parts) {
    return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) {
      return wait_channel.find(part) != std::string::npos;
    });
  };
  if (has_any({"nvidia", "nv_", "uvm"})) return Resource::gpu;
  if (has_any({"nfs", "rpc_", "lustre", "ptlrpc", "ll_", "fuse", "request_wait_answer"})) {
    return Resource::storage_client;
  }
  if (has_any({"io_schedule", "blk", "wait_on_page", "jbd2", "xfs", "ext4", "folio"})) {
    return Resource::disk;
  }
  return Resource::process;
}

Verdicts judge(const CheckSample& sample) {
  if (!sample.processes) return {make_unknown("processes", sample.fault_of("processes"))};
  Findings found(sample, "d_state");
  std::map<Resource, StuckTask> longest;
  std::map<Resource, int> count;
  for (const auto& task : sample.processes->stuck) {
    const Resource part = part_of(task.wait_channel);
    ++count[part];
    if (task.seconds >= longest[part].seconds) longest[part] = task;
  }
  Verdicts out;
  for (const auto& [part, task] : longest) {
    Findings one(sample, "d_state");
    one.measure("waiting", "", task.seconds, "time that a task waits in the kernel");
    if (one.empty()) continue;
    for (auto& verdict : one.take("")) {
      verdict.device = enum_names(part)[static_cast<std::size_t>(part)];
      verdict.watches = part;
      verdict.evidence = "process " + std::to_string(task.pid) + " in " + task.wait_channel + "; " +
                         std::to_string(count[part]) + " such tasks; " + verdict.evidence;
      out.push_back(std::move(verdict));
    }
  }
  return out.empty() ? found.take("no task waits in the kernel for long") : out;
}

}  // namespace

extern const Check d_state;
const Check d_state{
    "d_state",
    "No task waits in the kernel look after look; in the GPU driver it is the GPU's "
    "symptom.",
    "/proc/PID/stat and wchan; gpud: five looks a minute apart; GCM attaches strace, we "
    "do not; facts/health.md section 2",
    "one pass over /proc",
    {"processes", "limits"},
    judge,
    Resource::process,
    Locality::symptom,
    minutes(1),
    Gate::advisory};

}  // namespace tundish::checks
