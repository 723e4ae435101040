#include "families/checks/active_parts/findings.hpp"

namespace tundish::checks {
namespace {

Verdicts judge(const CheckSample& sample) {
  ActiveFindings found(sample, "gpu_burn");
  for (const ToolRun* run : found.runs()) {
    if (!found.is_readable(*run)) continue;
    const auto gpus = tools::parse_gpu_burn(run->out);
    if (!gpus) {
      found.broken(*run, gpus.error().message());
      continue;
    }
    std::map<std::string, std::int64_t> rates;
    for (const auto& gpu : *gpus) {
      const std::string name = gpu_name(sample, gpu.index);
      if (gpu.faulty) found.fail(name, "gpu_burn calls it FAULTY: wrong results under load");
      if (gpu.gflops) rates[name] = *gpu.gflops;
    }
    const int expected = sample.expect.gpu_count;
    if (static_cast<int>(gpus->size()) < expected) {
      found.unseen("gpu_burn saw " + std::to_string(gpus->size()) + " of " +
                   std::to_string(expected) + " GPUs");
    }
    if (rates.size() != gpus->size()) {
      found.unseen("gpu_burn told no rates");
    } else {
      found.compare("rate_of_peers", rates, "rate under load, GFLOPS:");
    }
  }
  return found.take("every GPU works under full load without a wrong result");
}

}  // namespace

extern const Check gpu_burn;
const Check gpu_burn{
    "gpu_burn",
    "Every GPU multiplies matrices under full load for a minute without a wrong result, and none "
    "is much slower than the others.",
    "gpu_burn of wilicc/gpu-burn, tensor cores; it judges results itself, rates are compared here",
    "a minute with every GPU at full power and nearly all of its memory in use",
    {"active", "limits"},
    judge,
    Resource::gpu,
    Locality::device_local,
    hours(168),
    Gate::advisory,
    CheckKind::active,
    Tier::heavy};

}  // namespace tundish::checks
