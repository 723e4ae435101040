#include "families/checks/check_parts.hpp"

namespace tundish::checks {
namespace {

Verdicts judge(const CheckSample& sample) {
  if (sample.expect.hca_count == 0) return {make_verdict(VerdictState::ok, "the SKU has no HCA")};
  if (!sample.hcas) return {make_unknown("HCAs", sample.hcas_fault)};
  if (sample.hcas->empty()) return {make_unknown("HCAs", "none is there")};
  bool any = false;
  for (const auto& port : *sample.hcas) any = any || port.has_verbs;
  if (!any) return {make_unknown("device files", "no HCA has one: is ib_uverbs loaded?")};
  Findings found(sample, "nic_device");
  for (const auto& port : *sample.hcas) {
    if (!port.has_verbs) found.fail(port.device, "the HCA has no uverbs device file");
  }
  return found.take("every HCA can be opened");
}

}  // namespace

extern const Check nic_device;
const Check nic_device{
    "nic_device",
    "Every HCA has the device files by which programs open it.",
    "/sys/class/infiniband_verbs; NVSentinel asks for three polls, and its issm was a "
    "false alarm on GB300 (#1716); facts/health.md section 2",
    "reads some small files of sysfs; no device is touched",
    {"hcas", "expect"},
    judge,
    Resource::nic,
    Locality::device_local,
    minutes(1),
    Gate::advisory,
    CheckKind::passive,
    Tier::light,
    3};

}  // namespace tundish::checks
