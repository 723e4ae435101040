#include "families/checks/check_parts.hpp"

namespace tundish::checks {
namespace {

constexpr std::int64_t busy_percent = 99;

Verdicts judge(const CheckSample& sample) {
  if (sample.expect.gpu_count > 0 && (!sample.nameplate || sample.nameplate->power_w == 0)) {
    return {make_unknown("power", "the GPU model has no nameplate power")};
  }
  const auto look = [&](const GpuReading& gpu, Findings& found) {
    if (!has(gpu.utilization_percent, gpu, found, "its load")) return;
    if (!has(gpu.power_w, gpu, found, "its power")) return;
    if (*gpu.utilization_percent < busy_percent) return;
    const std::int64_t percent = *gpu.power_w * 100 / sample.nameplate->power_w;
    found.measure("power", place_of(gpu), percent, "power of a busy GPU, of its nameplate,");
  };
  return each_gpu(sample, "stalled_job", "busy GPUs draw power", look);
}

}  // namespace

extern const Check stalled_job;
const Check stalled_job{
    "stalled_job",
    "GPUs that claim to be busy also draw power: a stalled collective spins and computes "
    "nothing.",
    "NVML utilization against power; ClusterMAX: GPU_UTIL high while power low; "
    "facts/health.md sections 0 and 2",
    "one driver call per GPU within the snapshot that is taken anyway",
    {"gpus", "nameplate", "limits"},
    judge,
    Resource::process,
    Locality::symptom,
    minutes(1),
    Gate::advisory,
    CheckKind::passive,
    Tier::light,
    5};

}  // namespace tundish::checks
