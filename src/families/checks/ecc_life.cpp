#include "families/checks/check_parts.hpp"

namespace tundish::checks {
namespace {

Verdicts judge(const CheckSample& sample) {
  return each_gpu(sample, "ecc_life", "no uncorrected error in the life of the boards",
                  [](const GpuReading& gpu, Findings& found) {
                    if (!has(gpu.ecc_uncorrected_life, gpu, found, "errors of its life")) return;
                    found.measure("uncorrected", place_of(gpu), *gpu.ecc_uncorrected_life,
                                  "uncorrected errors in its life");
                  });
}

}  // namespace

extern const Check ecc_life;
const Check ecc_life{
    "ecc_life",
    "No uncorrected memory error in the life of the boards: what the InfoROM keeps over "
    "boots.",
    "nvmlDeviceGetTotalEccErrors, aggregate; DCGM fails above 0 volatile only; "
    "facts/health.md section 2",
    "one driver call per GPU within the snapshot that is taken anyway",
    {"gpus", "limits"},
    judge,
    Resource::gpu_memory,
    Locality::device_local,
    minutes(5),
    Gate::advisory};

}  // namespace tundish::checks
