#include "families/checks/check_parts.hpp"

namespace tundish::checks {
namespace {

void look(const GpuReading& gpu, Findings& found) {
  const std::string place = place_of(gpu);
  if (!gpu.remap_failure || !gpu.remap_pending) {
    return found.unseen(place, "the driver does not tell remapped rows");
  }
  if (*gpu.remap_failure) found.fail(place, "a memory row could not be remapped: return the board");
  if (*gpu.remap_pending) found.warn(place, "a memory row waits for a GPU reset to be remapped");
  if (gpu.remapped_uncorrected) {
    found.measure("uncorrected", place, *gpu.remapped_uncorrected, "rows remapped for errors");
  }
}

Verdicts judge(const CheckSample& sample) {
  return each_gpu(sample, "row_remap", "no row waits or failed to be remapped", look);
}

}  // namespace

extern const Check row_remap;
const Check row_remap{
    "row_remap",
    "No memory row waits for a reset, none could not be remapped, and the spare rows are "
    "not used up.",
    "nvmlDeviceGetRemappedRows; DCGM warns at 512 uncorrected, Azure fails above 512 but "
    "reads the wrong column; facts/health.md sections 2 and 4",
    "one driver call per GPU within the snapshot that is taken anyway",
    {"gpus", "limits"},
    judge,
    Resource::gpu_memory,
    Locality::device_local,
    minutes(1),
    Gate::veto};

}  // namespace tundish::checks
