#include "families/checks/check_parts.hpp"

namespace tundish::checks {
namespace {

Verdicts judge(const CheckSample& sample) {
  if (sample.expect.hca_count == 0) return {make_verdict(VerdictState::ok, "the SKU has no HCA")};
  if (!sample.hcas) return {make_unknown("HCAs", sample.hcas_fault)};
  Findings found(sample, "nic_firmware");
  std::map<std::string, std::string> first;
  for (const auto& port : *sample.hcas) {
    if (port.firmware.empty()) {
      found.unseen(port.device, "an HCA does not tell its firmware");
      continue;
    }
    const auto& wanted = sample.expect.nic_firmware;
    const auto [known, fresh] = first.emplace(port.board, port.firmware);
    if (!wanted.empty() && port.firmware != wanted) {
      found.warn(port.device, "its firmware is not the declared " + wanted, port.firmware);
    } else if (!fresh && known->second != port.firmware) {
      found.warn(port.device, "its firmware differs from the same boards'", port.firmware);
    }
  }
  if (sample.events) {
    for (const auto& seen : *sample.events) {
      const bool mine =
          seen.event.kind == KernelEventKind::nic_fault && seen.provenance == Provenance::kernel;
      if (mine && found.is_recent("complaint", seen.last_at)) {
        found.warn(seen.event.device, "the adapter complains of heat, power or its cable",
                   seen.event.detail);
      }
    }
  }
  if (sample.hcas->empty()) return {make_unknown("HCAs", "none is there")};
  return found.take("the HCAs run one firmware");
}

}  // namespace

extern const Check nic_firmware;
const Check nic_firmware{
    "nic_firmware",
    "HCAs of one board run one firmware, the one of the inventory, and complain of no "
    "heat or power.",
    "fw_ver and board_id of /sys/class/infiniband; mlx5 lines of the kernel log, refused "
    "register reads left out (gpud #1164); facts/health.md section 2",
    "reads some small files of sysfs; no device is touched",
    {"hcas", "events", "expect", "limits"},
    judge,
    Resource::nic,
    Locality::device_local,
    minutes(5),
    Gate::advisory};

}  // namespace tundish::checks
