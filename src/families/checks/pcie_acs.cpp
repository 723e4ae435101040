#include "families/checks/check_parts.hpp"

namespace tundish::checks {
namespace {

Verdicts judge(const CheckSample& sample) {
  if (sample.expect.gpu_count == 0) return {make_verdict(VerdictState::ok, "the SKU has no GPU")};
  if (!sample.pci) return {make_unknown("PCI devices", sample.fault_of("pci"))};
  Findings found(sample, "pcie_acs");
  int told = 0;
  for (const auto& device : *sample.pci) {
    if (!device.acs_redirects) continue;
    ++told;
    if (*device.acs_redirects) found.warn(device.address, "ACS redirects its peer traffic");
  }
  if (told == 0) found.unseen("", "the bridges' ACS control cannot be read");
  return found.take("no bridge redirects peer traffic");
}

}  // namespace

extern const Check pcie_acs;
const Check pcie_acs{
    "pcie_acs",
    "No PCIe bridge sends traffic between GPUs and HCAs up to the CPU.",
    "ACS control of the bridges above them (lspci ACSCtl); gpud: off for peer-to-peer on "
    "bare metal; facts/health.md section 2",
    "reads the configuration of the bridges above GPUs and HCAs",
    {"pci", "expect"},
    judge,
    Resource::pcie,
    Locality::device_local,
    minutes(60),
    Gate::advisory};

}  // namespace tundish::checks
