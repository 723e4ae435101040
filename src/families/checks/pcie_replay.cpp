#include "families/checks/check_parts.hpp"

namespace tundish::checks {
namespace {

/// The catalogue gives replays per minute of 100 lanes, so that it holds whole numbers.
std::int64_t allowed(const Limit& limit, std::int64_t lanes) {
  return (limit.value * lanes + 99) / 100;
}

const GpuReading* find_gpu(const CheckSample& sample, const std::string& pci) {
  for (const auto& gpu : sample.gpus->gpus) {
    if (gpu.pci == pci) return &gpu;
  }
  return nullptr;
}

Verdicts judge(const CheckSample& sample) {
  if (sample.expect.gpu_count == 0) return {make_verdict(VerdictState::ok, "the SKU has no GPU")};
  if (!sample.gpus) return {make_unknown("GPUs", sample.gpus_fault)};
  return each_counter(
      sample, "pcie_replay", "pcie", "PCIe links repeat nearly nothing",
      [&](const CounterReading& counter, Findings& found) {
        if (counter.name != "replays" || !counter.per_minute) return;
        const GpuReading* gpu = find_gpu(sample, counter.device);
        if (!gpu || !gpu->pcie_gen || !gpu->pcie_width) {
          return found.unseen(counter.device, "its PCIe generation and lanes are not told");
        }
        const std::string name = "gen" + std::to_string(*gpu->pcie_gen);
        const Limit* limit = find_limit(sample, "pcie_replay", name);
        if (!limit) return found.unseen(counter.device, "no limit for PCIe " + name);
        const std::int64_t most = allowed(*limit, *gpu->pcie_width);
        if (*counter.per_minute <= most) return;
        found.add(limit->verdict, counter.device,
                  "PCIe repeats more than " + std::to_string(most) + " packets a minute",
                  std::to_string(*counter.per_minute) + " a minute at " + name + " x" +
                      std::to_string(*gpu->pcie_width));
      });
}

}  // namespace

extern const Check pcie_replay;
const Check pcie_replay{
    "pcie_replay",
    "PCIe links of GPUs repeat no more packets than their generation and width explain.",
    "nvmlDeviceGetPcieReplayCounter as a delta; DCGM: lanes x {0.15, 0.30, 0.48, 0.96, "
    "1.92, 3.84} per minute; facts/health.md section 2",
    "none: a delta of the snapshot",
    {"counters", "gpus", "limits"},
    judge,
    Resource::pcie,
    Locality::device_local,
    minutes(1),
    Gate::advisory};

}  // namespace tundish::checks
