#include "families/checks/check_parts.hpp"

namespace tundish::checks {
namespace {

bool is_gpu(const PciReading& device) {
  return (device.vendor == "10de" || device.vendor == "1002") && device.pci_class.starts_with("03");
}

Verdicts judge(const CheckSample& sample) {
  const int expected = sample.expect.gpu_count;
  if (!sample.pci) {
    if (expected == 0) return {make_verdict(VerdictState::ok, "the SKU has no GPU")};
    return {make_unknown("PCI devices", sample.fault_of("pci"))};
  }
  Findings found(sample, "gpu_pci");
  int seen = 0;
  for (const auto& device : *sample.pci) {
    if (!is_gpu(device)) continue;
    ++seen;
    if (device.config_gone) found.fail(device.address, "a GPU on the bus does not answer");
  }
  if (seen != expected) {
    const std::string have = std::to_string(seen) + " of " + std::to_string(expected);
    found.fail("", have + " GPUs are on the PCI bus");
  }
  return found.take("every GPU of the SKU answers on the bus");
}

}  // namespace

extern const Check gpu_pci;
const Check gpu_pci{
    "gpu_pci",
    "Every GPU of the SKU is on the PCI bus and answers; it does not depend on the "
    "driver.",
    "/sys/bus/pci/devices, vendors 10de and 1002, class 03; facts/health.md section 2",
    "reads 64 bytes of configuration per GPU; a dead one answers at once with ones",
    {"pci", "expect"},
    judge,
    Resource::gpu,
    Locality::device_local,
    minutes(1),
    Gate::advisory};

}  // namespace tundish::checks
