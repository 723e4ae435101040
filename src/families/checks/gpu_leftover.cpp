#include "families/checks/check_parts.hpp"

namespace tundish::checks {
namespace {

Verdicts judge(const CheckSample& sample) {
  if (sample.expect.in_use) return {make_verdict(VerdictState::ok, "a tenant holds the node")};
  if (const auto work = sample.fault_of("idle"); !work.empty()) {
    return {make_verdict(VerdictState::ok, work)};
  }
  return each_gpu(sample, "gpu_leftover", "nothing of a tenant is on the GPUs",
                  [](const GpuReading& gpu, Findings& found) {
                    if (!gpu.processes) {
                      return found.unseen(place_of(gpu), "the driver does not tell its processes");
                    }
                    if (!gpu.processes->empty()) {
                      found.warn(place_of(gpu), "a process has it though nobody holds the node",
                                 "process " + std::to_string(gpu.processes->front()));
                    } else if (gpu.memory_used_mib) {
                      found.measure("memory", place_of(gpu), *gpu.memory_used_mib,
                                    "memory in use without a process");
                    }
                  });
}

}  // namespace

extern const Check gpu_leftover;
const Check gpu_leftover{
    "gpu_leftover",
    "On a node that nobody holds, no process has a GPU and no GPU memory is in use.",
    "NVML compute processes and memory; soperator alloc_gpus_busy, idle_mem_used; "
    "facts/health.md section 2",
    "one driver call per GPU within the snapshot that is taken anyway",
    {"gpus", "expect", "limits"},
    judge,
    Resource::process,
    Locality::symptom,
    minutes(1),
    Gate::advisory,
    CheckKind::passive,
    Tier::light,
    2};

}  // namespace tundish::checks
