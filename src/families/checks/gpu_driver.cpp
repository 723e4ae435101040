#include "families/checks/check_parts.hpp"

namespace tundish::checks {
namespace {

Verdicts judge(const CheckSample& sample) {
  if (sample.expect.gpu_count == 0) return {make_verdict(VerdictState::ok, "the SKU has no GPU")};
  if (!sample.gpus) return {make_unknown("GPUs", sample.gpus_fault)};
  const std::string have = sample.gpus->driver_version.value_or("");
  if (have.empty()) return {make_unknown("driver version", "the driver does not tell it")};
  Findings found(sample, "gpu_driver");
  const std::string& wanted = sample.expect.driver_version;
  if (!wanted.empty() && wanted != have) {
    found.warn("", "the driver is " + have + ", the inventory wants " + wanted);
  }
  for (const auto& gpu : sample.gpus->gpus) {
    const std::string gsp = gpu.gsp_firmware.value_or(have);
    if (gsp != have) found.warn(place_of(gpu), "its GSP firmware is " + gsp + ", not the driver's");
  }
  if (wanted.empty() && found.empty()) {
    return {make_unknown("driver version", "the inventory declares none to compare with")};
  }
  return found.take("the driver is the declared one");
}

}  // namespace

extern const Check gpu_driver;
const Check gpu_driver{
    "gpu_driver",
    "The GPU driver is the one of the inventory, and its GSP firmware belongs to it.",
    "/proc/driver/nvidia/version through NVML; equality with the manifest; "
    "facts/health.md section 2",
    "one driver call per GPU within the snapshot that is taken anyway",
    {"gpus", "expect"},
    judge,
    Resource::gpu,
    Locality::device_local,
    minutes(15),
    Gate::advisory};

}  // namespace tundish::checks
