#include "families/checks/check_parts.hpp"

namespace tundish::checks {
namespace {

void look(const GpuReading& gpu, Findings& found) {
  if (!has(gpu.temperature_c, gpu, found, "its temperature")) return;
  if (gpu.slowdown_c) {
    const std::int64_t margin = *gpu.slowdown_c - *gpu.temperature_c;
    found.measure("margin", place_of(gpu), margin, "distance to its slowdown temperature");
  } else {
    found.measure("gpu", place_of(gpu), *gpu.temperature_c, "GPU temperature");
  }
  if (gpu.memory_c) found.measure("memory", place_of(gpu), *gpu.memory_c, "memory temperature");
}

Verdicts judge(const CheckSample& sample) {
  return each_gpu(sample, "gpu_temperature", "every GPU is cool enough", look);
}

}  // namespace

extern const Check gpu_temperature;
const Check gpu_temperature{
    "gpu_temperature",
    "GPUs stay below the temperature at which they slow down, and their memory below its "
    "limit.",
    "NVML temperature and slowdown threshold, field 82 for memory; facts/health.md "
    "section 2",
    "one driver call per GPU within the snapshot that is taken anyway",
    {"gpus", "limits"},
    judge,
    Resource::thermal,
    Locality::symptom,
    minutes(1),
    Gate::advisory,
    CheckKind::passive,
    Tier::light,
    2};

}  // namespace tundish::checks
