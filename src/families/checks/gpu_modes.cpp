#include "families/checks/check_parts.hpp"

namespace tundish::checks {
namespace {

Verdicts judge(const CheckSample& sample) {
  std::optional<bool> mig;
  const auto look = [&](const GpuReading& gpu, Findings& found) {
    const std::string place = place_of(gpu);
    if (!gpu.ecc_on)
      found.unseen(place, "the driver does not tell its ECC mode");
    else if (!*gpu.ecc_on)
      found.fail(place, "ECC is off");
    if (!gpu.persistence)
      found.unseen(place, "the driver does not tell its persistence mode");
    else if (!*gpu.persistence)
      found.warn(place, "persistence mode is off");
    if (mig && gpu.mig_on && *mig != *gpu.mig_on) found.warn(place, "MIG differs from the others");
    if (!mig) mig = gpu.mig_on;
  };
  return each_gpu(sample, "gpu_modes", "all GPUs are set as they should", look);
}

}  // namespace

extern const Check gpu_modes;
const Check gpu_modes{"gpu_modes",
                      "ECC and persistence mode are on and all GPUs are set alike.",
                      "NVML persistence, ECC and MIG mode; facts/health.md section 2",
                      "one driver call per GPU within the snapshot that is taken anyway",
                      {"gpus"},
                      judge,
                      Resource::gpu,
                      Locality::device_local,
                      minutes(15),
                      Gate::advisory};

}  // namespace tundish::checks
