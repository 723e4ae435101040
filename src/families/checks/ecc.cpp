#include "families/checks/check.hpp"

namespace tundish::checks {
namespace {

struct Found {
  std::string bad, silent;
};

void look(const GpuReading& gpu, Found& found) {
  const std::string place = " " + gpu.pci.value_or("GPU " + std::to_string(gpu.index)) + " ";
  if (gpu.lost.value_or(false)) {
    found.silent += place + "is lost;";
    return;
  }
  if (!gpu.ecc_uncorrected) {
    found.silent += place + "tells no counters;";
  }
  if (gpu.ecc_uncorrected.value_or(0) > 0) {
    found.bad += place + std::to_string(*gpu.ecc_uncorrected) + " uncorrected;";
  }
}

Verdict judge_node(const CheckSample& sample) {
  if (!sample.gpus && sample.expect.gpu_count == 0) {
    return make_verdict(VerdictState::ok, "the SKU has no GPU");
  }
  if (!sample.gpus) return make_unknown("GPUs", sample.gpus_fault);
  if (sample.gpus->gpus.empty() && sample.expect.gpu_count > 0) {
    return make_unknown("memory of GPUs", "no GPU is listed");
  }
  Found found;
  for (const auto& gpu : sample.gpus->gpus) look(gpu, found);
  const std::string all = found.bad + found.silent;
  if (!found.bad.empty()) return make_verdict(VerdictState::fail, "GPU memory is faulty", all);
  if (!found.silent.empty()) {
    return make_verdict(VerdictState::unknown, "some GPUs do not tell their memory's state", all);
  }
  return make_verdict(VerdictState::ok, "no uncorrected error since the driver loaded");
}

Verdicts judge(const CheckSample& sample) { return {judge_node(sample)}; }

}  // namespace

extern const Check ecc;
const Check ecc{"ecc",
                "No uncorrected memory error since the driver loaded.",
                "NVML total ECC, volatile; DCGM fails above 0; facts/health.md section 2",
                "opens the driver for some milliseconds; disturbs no job",
                {"gpus"},
                judge,
                Resource::gpu_memory,
                Locality::device_local,
                seconds(60),
                Gate::serve};

}  // namespace tundish::checks
