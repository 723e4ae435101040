#include "families/checks/check_parts.hpp"

namespace tundish::checks {
namespace {

Verdicts judge(const CheckSample& sample) {
  return each_gpu(sample, "inforom", "every InfoROM has its checksum",
                  [](const GpuReading& gpu, Findings& found) {
                    if (!gpu.inforom_valid) {
                      found.unseen(place_of(gpu), "the driver does not validate the InfoROM");
                    } else if (!*gpu.inforom_valid) {
                      found.warn(place_of(gpu), "the InfoROM is corrupt");
                    }
                  });
}

}  // namespace

extern const Check inforom;
const Check inforom{"inforom",
                    "The board's memory of itself has its checksum.",
                    "nvmlDeviceValidateInforom; DCGM warns; facts/health.md section 2",
                    "one driver call per GPU within the snapshot that is taken anyway",
                    {"gpus"},
                    judge,
                    Resource::gpu,
                    Locality::device_local,
                    minutes(60),
                    Gate::advisory};

}  // namespace tundish::checks
