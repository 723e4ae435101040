#include "families/checks/check_parts.hpp"

namespace tundish::checks {
namespace {

Verdicts judge(const CheckSample& sample) {
  if (sample.expect.hca_count == 0) return {make_verdict(VerdictState::ok, "the SKU has no HCA")};
  if (!sample.hcas) return {make_unknown("HCAs", sample.hcas_fault)};
  if (sample.hcas->empty()) return {make_unknown("HCAs", "none is there")};
  Findings found(sample, "ib_port");
  for (const auto& port : *sample.hcas) {
    const std::string place = port.device + "/" + port.port;
    if (port.waits_for_manager()) {
      found.unseen(place, "a port waits for the subnet manager");
    } else if (!port.is_active()) {
      found.fail(place, "the port is down", port.state + ", " + port.physical_state);
    } else if (sample.expect.hca_gbit > 0 && !port.rate_gbit) {
      found.unseen(place, "a port does not tell its rate");
    } else if (port.rate_gbit.value_or(0) < sample.expect.hca_gbit) {
      found.fail(place, "the port runs slower than declared",
                 std::to_string(*port.rate_gbit) + " of " + std::to_string(sample.expect.hca_gbit) +
                     " Gb/s");
    }
  }
  return found.take("every port is active");
}

}  // namespace

extern const Check ib_port;
const Check ib_port{
    "ib_port",
    "Every port of every HCA has its link, is active and runs at the declared rate.",
    "/sys/class/infiniband/*/ports/*/{state,phys_state,rate}; gpud: 8 x 400 Gb/s for "
    "H100; ports without a cable are left out by the inventory (NVSentinel #1361); "
    "facts/health.md section 2",
    "reads some small files of sysfs; no device is touched",
    {"hcas", "expect"},
    judge,
    Resource::link,
    Locality::symptom,
    minutes(1),
    Gate::serve};

}  // namespace tundish::checks
