#include "families/checks/check.hpp"

namespace tundish::checks {
namespace {

std::string name_of(const GpuReading& gpu) {
  std::string out = gpu.pci.value_or("GPU " + std::to_string(gpu.index));
  if (gpu.uuid) out += " " + *gpu.uuid;
  return out;
}

Verdict judge_node(const CheckSample& sample) {
  const int expected = sample.expect.gpu_count;
  if (!sample.gpus && expected == 0) {
    return make_verdict(VerdictState::ok, "the SKU has no GPU", sample.gpus_fault);
  }
  if (!sample.gpus) return make_unknown("GPUs", sample.gpus_fault);
  int alive = 0;
  std::string lost;
  std::string silent;
  for (const auto& gpu : sample.gpus->gpus) {
    if (gpu.lost.value_or(false)) {
      lost += " " + name_of(gpu) + ";";
    } else if (!gpu.lost || gpu.nvml_error.value_or(0) != 0) {
      silent += " " + name_of(gpu) + " error " + std::to_string(gpu.nvml_error.value_or(0)) + ";";
    } else {
      ++alive;
    }
  }
  const auto listed = static_cast<int>(sample.gpus->gpus.size());
  const std::string counts = std::to_string(alive) + " of " + std::to_string(expected) +
                             " GPUs answer, " + std::to_string(listed) + " are listed";
  if (!lost.empty()) return make_verdict(VerdictState::fail, counts, "lost:" + lost);
  if (listed != expected) return make_verdict(VerdictState::fail, counts, "unclear:" + silent);
  if (!silent.empty()) return make_verdict(VerdictState::unknown, counts, "unclear:" + silent);
  return make_verdict(VerdictState::ok, counts);
}

Verdicts judge(const CheckSample& sample) { return {judge_node(sample)}; }

}  // namespace

extern const Check gpu_count;
const Check gpu_count{
    "gpu_count",
    "The driver lists as many GPUs as the SKU has, and every one of them answers.",
    "NVML device count and error 15 (GPU is lost); facts/health.md section 2",
    "opens the driver for some milliseconds; disturbs no job",
    {"gpus", "expect.gpu_count"},
    judge,
    Resource::gpu,
    Locality::device_local,
    seconds(60),
    Gate::serve};

}  // namespace tundish::checks
