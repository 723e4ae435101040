#include "families/checks/check_parts.hpp"

namespace tundish::checks {
namespace {

std::string name_of(std::int64_t action) {
  switch (action) {
    case 1: return "a GPU reset";
    case 2: return "a reboot";
    case 3: return "peer traffic to be drained";
    case 4: return "a drain and a reset";
    case 5: return "its IMEX domain to be recovered";
    default: return "recovery " + std::to_string(action) + ", which nobody knows";
  }
}

/// The last word of the log about the device; nothing when the log cannot be read.
std::optional<int> told_by_log(const CheckSample& sample, const std::string& device) {
  std::optional<int> out;
  std::int64_t newest = -1;
  if (!sample.events) return out;
  for (const auto& seen : *sample.events) {
    if (!seen.event.recovery_action || seen.event.device != device) continue;
    if (seen.provenance != Provenance::kernel || seen.seq <= newest) continue;
    newest = seen.seq;
    out = seen.event.recovery_action;
  }
  return out;
}

Verdicts judge(const CheckSample& sample) {
  const auto look = [&](const GpuReading& gpu, Findings& found) {
    const std::string place = place_of(gpu);
    if (!gpu.recovery_action) {
      const auto told = told_by_log(sample, gpu.pci.value_or(""));
      if (told.value_or(0) != 0)
        found.fail(place, "the kernel log asks for " + name_of(*told));
      else
        found.unseen(place, "the driver does not tell its recovery action");
      return;
    }
    if (*gpu.recovery_action != 0) {
      found.fail(place, "the driver asks for " + name_of(*gpu.recovery_action));
    }
  };
  return each_gpu(sample, "recovery_action", "the driver asks for no recovery", look);
}

}  // namespace

extern const Check recovery_action;
const Check recovery_action{
    "recovery_action",
    "The driver asks for no recovery: by its state now and by what it wrote since boot "
    "(XID 154), because either alone can be missed.",
    "NVML field 230, DCGM field 1523, XID 154; scitix/sichek PR 121; facts/health.md "
    "section 1",
    "one driver call per GPU within the snapshot that is taken anyway",
    {"gpus", "events"},
    judge,
    Resource::gpu,
    Locality::device_local,
    minutes(1),
    Gate::veto};

}  // namespace tundish::checks
