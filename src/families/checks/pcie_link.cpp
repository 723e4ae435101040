#include "families/checks/check_parts.hpp"

namespace tundish::checks {
namespace {

/// Within a gigatransfer: 32.0 GT/s may be told as 31.5.
constexpr std::int64_t slack_mt = 1000;

/// A GPU at work drives its link as fast as it can; of others nothing is known to lower it.
bool is_loaded(const CheckSample& sample, const PciReading& device) {
  if (!device.pci_class.starts_with("03")) return true;
  if (!sample.gpus) return false;
  for (const auto& gpu : sample.gpus->gpus) {
    if (gpu.pci == device.address) return gpu.utilization_percent.value_or(0) >= 50;
  }
  return false;
}

std::int64_t lanes_of(const CheckSample& sample, const PciReading& device) {
  const bool gpu = device.pci_class.starts_with("03");
  if (gpu && sample.nameplate && sample.nameplate->pcie_width > 0) {
    return sample.nameplate->pcie_width;
  }
  return device.width_max.value_or(0);
}

void look(const CheckSample& sample, const PciReading& device, Findings& found) {
  if (device.config_gone) return found.unseen(device.address, "it does not answer");
  if (!device.width || !device.width_max) {
    return found.unseen(device.address, "the kernel does not tell its lanes");
  }
  const std::int64_t lanes = lanes_of(sample, device);
  if (*device.width < lanes) {
    found.fail(device.address, "PCIe runs on " + std::to_string(*device.width) + " of " +
                                   std::to_string(lanes) + " lanes");
  }
  if (device.speed_mt && device.speed_max_mt && is_loaded(sample, device) &&
      *device.speed_mt + slack_mt < *device.speed_max_mt) {
    found.warn(
        device.address, "PCIe runs slower than the device can",
        std::to_string(*device.speed_mt) + " of " + std::to_string(*device.speed_max_mt) + " MT/s");
  }
}

Verdicts judge(const CheckSample& sample) {
  if (!sample.pci) return {make_unknown("PCI devices", sample.fault_of("pci"))};
  if (sample.pci->empty() && sample.expect.gpu_count > 0) {
    return {make_unknown("PCI devices", "no GPU, HCA or drive is on the bus")};
  }
  Findings found(sample, "pcie_link");
  for (const auto& device : *sample.pci) look(sample, device, found);
  return found.take("every device has all its lanes");
}

}  // namespace

extern const Check pcie_link;
const Check pcie_link{
    "pcie_link",
    "GPUs, HCAs and drives have all their PCIe lanes; the speed counts only under load, "
    "because idle devices lower it by design.",
    "current_link_width, current_link_speed against max_*; NVIDIA GPUs idle at generation "
    "1; facts/health.md section 2",
    "reads some small files of sysfs; no device is touched",
    {"pci", "gpus", "nameplate"},
    judge,
    Resource::pcie,
    Locality::device_local,
    minutes(5),
    Gate::advisory,
    CheckKind::passive,
    Tier::light,
    2};

}  // namespace tundish::checks
