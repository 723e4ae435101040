#include "families/checks/check.hpp"

namespace tundish::checks {
namespace {

struct Found {
  std::string bad, worth_knowing, silent;
};

void look(const GpuReading& gpu, Found& found) {
  const std::string place = " " + gpu.pci.value_or("GPU " + std::to_string(gpu.index)) + " ";
  if (gpu.lost.value_or(false)) {
    found.silent += place + "is lost;";
    return;
  }
  if (!gpu.ecc_uncorrected || !gpu.remap_pending || !gpu.remap_failure) {
    found.silent += place + "tells no counters;";
  }
  if (gpu.ecc_uncorrected.value_or(0) > 0) {
    found.bad += place + std::to_string(*gpu.ecc_uncorrected) + " uncorrected;";
  }
  if (gpu.remap_failure.value_or(false)) found.bad += place + "a row could not be remapped;";
  if (gpu.remap_pending.value_or(false)) found.worth_knowing += place + "remap waits for a reset;";
  if (gpu.recovery_action.value_or(0) != 0) {
    found.bad += place + "driver asks for recovery " + std::to_string(*gpu.recovery_action) + ";";
  }
}

Verdict judge(const CheckSample& sample) {
  if (!sample.gpus && sample.expect.gpu_count == 0) {
    return make_verdict(VerdictState::ok, "the SKU has no GPU");
  }
  if (!sample.gpus) return make_unknown("GPUs", sample.gpus_fault);
  if (sample.gpus->gpus.empty() && sample.expect.gpu_count > 0) {
    return make_unknown("memory of GPUs", "no GPU is listed");
  }
  Found found;
  for (const auto& gpu : sample.gpus->gpus) look(gpu, found);
  const std::string all = found.bad + found.worth_knowing + found.silent;
  if (!found.bad.empty()) return make_verdict(VerdictState::fail, "GPU memory is faulty", all);
  if (!found.silent.empty()) {
    return make_verdict(VerdictState::unknown, "some GPUs do not tell their memory's state", all);
  }
  if (!found.worth_knowing.empty()) {
    return make_verdict(VerdictState::warn, "rows wait for a GPU reset to be remapped", all);
  }
  return make_verdict(VerdictState::ok, "no uncorrected error since the driver loaded");
}

}  // namespace

extern const Check ecc;
const Check ecc{
    "ecc",
    "No uncorrected memory error, no failed row remap and no recovery that the driver asks for.",
    "NVML total ECC, remapped rows, field 230; DCGM fails above 0; facts/health.md section 2",
    "opens the driver for some milliseconds; disturbs no job",
    {"gpus"},
    judge};

}  // namespace tundish::checks
