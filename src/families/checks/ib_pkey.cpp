#include <cstdio>

#include "families/checks/check_parts.hpp"

namespace tundish::checks {
namespace {

std::string text_of(const std::vector<int>& keys) {
  std::string out;
  for (const int key : keys) {
    char hex[16];
    std::snprintf(hex, sizeof hex, " 0x%04x", static_cast<unsigned>(key));
    out += hex;
  }
  return out.empty() ? " none" : out;
}

Verdicts judge(const CheckSample& sample) {
  if (sample.expect.hca_count == 0) return {make_verdict(VerdictState::ok, "the SKU has no HCA")};
  if (!sample.expect.pkeys) {
    return {make_unknown("partition keys", "nobody says which ones the node is to have")};
  }
  if (!sample.hcas) return {make_unknown("HCAs", sample.hcas_fault)};
  Findings found(sample, "ib_pkey");
  for (const auto& port : *sample.hcas) {
    if (port.link_layer == "Ethernet" || !port.is_active()) continue;  // ib_port tells that
    if (port.pkeys == *sample.expect.pkeys) continue;
    found.fail(port.device + "/" + port.port, "the partition keys are not the tenant's",
               "has" + text_of(port.pkeys) + ", wants" + text_of(*sample.expect.pkeys));
  }
  return found.take("every port carries the tenant's partition keys");
}

}  // namespace

extern const Check ib_pkey;
const Check ib_pkey{
    "ib_pkey",
    "Every port carries exactly the partition keys of the tenant that holds the node.",
    "/sys/class/infiniband/*/ports/*/pkeys against the intent; no peer compares; "
    "facts/health.md section 2",
    "reads some small files of sysfs; no device is touched",
    {"hcas", "expect.pkeys"},
    judge,
    Resource::identity,
    Locality::symptom,
    minutes(1),
    Gate::advisory,
    CheckKind::passive,
    Tier::light,
    2};

}  // namespace tundish::checks
