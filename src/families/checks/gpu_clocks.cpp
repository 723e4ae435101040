#include "families/checks/check_parts.hpp"

namespace tundish::checks {
namespace {

constexpr std::int64_t busy_percent = 90;

void look(const GpuReading& gpu, Findings& found) {
  if (!has(gpu.clock_mhz, gpu, found, "its clock")) return;
  if (!has(gpu.clock_most_mhz, gpu, found, "its highest clock")) return;
  if (gpu.utilization_percent.value_or(0) < busy_percent || *gpu.clock_most_mhz <= 0) return;
  const std::int64_t percent = *gpu.clock_mhz * 100 / *gpu.clock_most_mhz;
  found.measure("busy", place_of(gpu), percent, "clock of a busy GPU, of its highest,");
}

Verdicts judge(const CheckSample& sample) {
  return each_gpu(sample, "gpu_clocks", "no busy GPU runs slowly", look);
}

}  // namespace

extern const Check gpu_clocks;
const Check gpu_clocks{
    "gpu_clocks",
    "A GPU at work runs near its highest clock unless something says why not.",
    "nvmlDeviceGetClockInfo against nvmlDeviceGetMaxClockInfo; GCM and Azure compare per "
    "SKU; facts/health.md section 2",
    "one driver call per GPU within the snapshot that is taken anyway",
    {"gpus", "limits"},
    judge,
    Resource::gpu,
    Locality::symptom,
    minutes(1),
    Gate::advisory,
    CheckKind::passive,
    Tier::light,
    5};

}  // namespace tundish::checks
