#include "families/checks/check_parts.hpp"

namespace tundish::checks {
namespace {

void look(const GpuReading& gpu, Findings& found) {
  if (!gpu.retired_pages) {
    // Ampere and later remap rows instead and say "not supported" here.
    if (!gpu.remap_failure) found.unseen(place_of(gpu), "the driver tells neither pages nor rows");
    return;
  }
  if (gpu.retired_pending.value_or(false)) {
    found.warn(place_of(gpu), "a memory page waits for a GPU reset to be retired");
  }
  found.measure("total", place_of(gpu), *gpu.retired_pages, "retired pages");
}

Verdicts judge(const CheckSample& sample) {
  return each_gpu(sample, "retired_pages", "no page waits, or rows are remapped instead", look);
}

}  // namespace

extern const Check retired_pages;
const Check retired_pages{
    "retired_pages",
    "Boards before Ampere: no page waits to be retired and few are.",
    "nvmlDeviceGetRetiredPages; DCGM: pending warns, 63 fail; facts/health.md section 2",
    "one driver call per GPU within the snapshot that is taken anyway",
    {"gpus", "limits"},
    judge,
    Resource::gpu_memory,
    Locality::device_local,
    minutes(5),
    Gate::advisory};

}  // namespace tundish::checks
