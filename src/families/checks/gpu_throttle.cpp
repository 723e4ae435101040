#include "families/checks/check_parts.hpp"

namespace tundish::checks {
namespace {

// Source: nvml.h, nvmlClocksEventReason*; checked 2026-11
constexpr std::int64_t hw_slowdown = 0x8;
constexpr std::int64_t hw_thermal = 0x40;
constexpr std::int64_t power_brake = 0x80;

void look(const GpuReading& gpu, Findings& found) {
  if (!has(gpu.throttle, gpu, found, "why its clocks are lowered")) return;
  if (*gpu.throttle & hw_thermal)
    found.warn(place_of(gpu), "the hardware slows it down for heat");
  else if (*gpu.throttle & power_brake)
    found.warn(place_of(gpu), "the power brake slows it down");
  else if (*gpu.throttle & hw_slowdown)
    found.warn(place_of(gpu), "the hardware slows it down");
}

Verdicts judge(const CheckSample& sample) {
  return each_gpu(sample, "gpu_throttle", "no GPU is slowed down by its hardware", look);
}

}  // namespace

extern const Check gpu_throttle;
const Check gpu_throttle{
    "gpu_throttle",
    "The hardware does not slow GPUs down for heat or power, look after look.",
    "nvmlDeviceGetCurrentClocksEventReasons (clocks_throttle_reasons before 535.54.03); "
    "gpud: 0.6 events a minute over 10 minutes; facts/health.md section 2",
    "one driver call per GPU within the snapshot that is taken anyway",
    {"gpus"},
    judge,
    Resource::thermal,
    Locality::symptom,
    minutes(1),
    Gate::advisory,
    CheckKind::passive,
    Tier::light,
    6};

}  // namespace tundish::checks
