#include "families/checks/check_parts.hpp"

namespace tundish::checks {
namespace {

Verdicts judge(const CheckSample& sample) {
  const auto look = [&](const GpuReading& gpu, Findings& found) {
    if (!has(gpu.power_w, gpu, found, "its power")) return;
    found.measure("lowest", place_of(gpu), *gpu.power_w, "power");
    found.measure("highest", place_of(gpu), *gpu.power_w, "power");
    const bool capped = sample.nameplate && gpu.power_limit_w && sample.nameplate->power_w > 0;
    if (capped) {
      const std::int64_t percent = *gpu.power_limit_w * 100 / sample.nameplate->power_w;
      found.measure("cap", place_of(gpu), percent, "its power limit, of the nameplate's,");
    }
  };
  return each_gpu(sample, "gpu_power", "every GPU draws a power that can be", look);
}

}  // namespace

extern const Check gpu_power;
const Check gpu_power{
    "gpu_power",
    "GPUs draw a power that can be, and not more than their limit.",
    "nvmlDeviceGetPowerUsage; NVIDIA Health Validation: 65 to 1500 W; facts/health.md "
    "section 2",
    "one driver call per GPU within the snapshot that is taken anyway",
    {"gpus", "limits", "nameplate"},
    judge,
    Resource::power,
    Locality::symptom,
    minutes(1),
    Gate::advisory,
    CheckKind::passive,
    Tier::light,
    2};

}  // namespace tundish::checks
