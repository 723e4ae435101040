#include "families/checks/check_parts.hpp"

namespace tundish::checks {
namespace {

Verdicts judge(const CheckSample& sample) {
  if (sample.expect.gpu_count > 0 && !sample.nameplate) {
    return {make_unknown("NVLink links",
                         "the GPU model has no nameplate: " + sample.fault_of("nameplate"))};
  }
  const int expected = sample.nameplate ? sample.nameplate->nvlinks : 0;
  const auto look = [&](const GpuReading& gpu, Findings& found) {
    if (gpu.nvlinks.empty() && expected > 0) {
      return found.unseen(place_of(gpu), "the driver does not tell its NVLink links");
    }
    std::string down;
    int up = 0;
    for (std::size_t i = 0; i < gpu.nvlinks.size(); ++i) {
      if (gpu.nvlinks[i] == 1)
        ++up;
      else
        down += " " + std::to_string(i);
    }
    if (up == expected) return;
    const std::string have = std::to_string(up) + " of " + std::to_string(expected);
    found.fail(place_of(gpu), have + " NVLink links are up", down.empty() ? "" : "down:" + down);
  };
  return each_gpu(sample, "nvlink_state", "every NVLink link is up", look);
}

}  // namespace

extern const Check nvlink_state;
const Check nvlink_state{
    "nvlink_state",
    "As many NVLink links are up on every GPU as its model has: a PCIe card has fewer "
    "than an SXM module.",
    "nvmlDeviceGetNvLinkState, nameplate links; Azure/azurehpc-health-checks #162; "
    "facts/health.md section 2",
    "one driver call per GPU within the snapshot that is taken anyway",
    {"gpus", "nameplate"},
    judge,
    Resource::nvlink,
    Locality::symptom,
    minutes(1),
    Gate::veto};

}  // namespace tundish::checks
