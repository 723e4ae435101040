#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "families/checks/check.hpp"

namespace tundish::checks {
namespace {

Verdict judge_node(const CheckSample& sample) {
  const auto& expect = sample.expect;
  if (expect.nic_macs.empty() && expect.hca_count == 0) {
    return make_unknown("NICs", "the inventory declares none");
  }
  std::string bad;
  if (!expect.nic_macs.empty()) {
    if (!sample.hardware) return make_unknown("NICs", sample.hardware_fault);
    const auto& seen = sample.hardware->nic_macs;
    for (const auto& mac : expect.nic_macs) {
      if (std::find(seen.begin(), seen.end(), to_lower(mac)) == seen.end()) bad += " " + mac + ";";
    }
  }
  if (expect.hca_count > 0) {
    if (!sample.hcas) return make_unknown("HCAs", sample.hcas_fault);
    std::set<std::string> devices;
    for (const auto& port : *sample.hcas) devices.insert(port.device);
    if (static_cast<int>(devices.size()) < expect.hca_count) {
      bad += " " + std::to_string(devices.size()) + " of " + std::to_string(expect.hca_count) +
             " HCAs are there;";
    }
  }
  if (!bad.empty()) return make_verdict(VerdictState::fail, "NICs are missing", bad);
  return make_verdict(VerdictState::ok, "every declared NIC is there");
}

Verdicts judge(const CheckSample& sample) { return {judge_node(sample)}; }

}  // namespace

extern const Check nic_present;
const Check nic_present{
    "nic_present",
    "Every MAC that the inventory declares is there, and as many HCAs as the SKU has.",
    "/sys/class/net/*/address, /sys/class/infiniband; facts/health.md section 2",
    "some reads of sysfs",
    {"hardware", "hcas", "expect.nic_macs", "expect.hca_count"},
    judge,
    Resource::nic,
    Locality::device_local,
    seconds(60),
    Gate::serve};

}  // namespace tundish::checks
