#include <algorithm>

#include "base/text.hpp"
#include "families/checks/check.hpp"

namespace tundish::checks {
namespace {

Verdict judge(const CheckSample& sample) {
  const auto& expect = sample.expect;
  if (expect.nic_macs.empty() && expect.hca_count == 0) {
    return make_unknown("NICs", "the inventory declares none");
  }
  std::string bad;
  std::string waiting;
  if (!expect.nic_macs.empty()) {
    if (!sample.hardware) return make_unknown("NICs", sample.hardware_fault);
    const auto& seen = sample.hardware->nic_macs;
    for (const auto& mac : expect.nic_macs) {
      if (std::find(seen.begin(), seen.end(), to_lower(mac)) == seen.end()) bad += " " + mac + ";";
    }
  }
  if (expect.hca_count > 0) {
    if (!sample.hcas) return make_unknown("HCAs", sample.hcas_fault);
    std::vector<std::string> up;
    for (const auto& port : *sample.hcas) {
      if (port.waits_for_manager()) {
        waiting += " " + port.device + " port " + port.port + " is " + port.state + ";";
        up.push_back(port.device);
      } else if (!port.is_active()) {
        bad += " " + port.device + " port " + port.port + " is " + port.state + ";";
      } else if (std::find(up.begin(), up.end(), port.device) == up.end()) {
        up.push_back(port.device);
      }
    }
    if (static_cast<int>(up.size()) < expect.hca_count) {
      bad += " " + std::to_string(up.size()) + " of " + std::to_string(expect.hca_count) +
             " HCAs are active;";
    }
  }
  if (!bad.empty()) return make_verdict(VerdictState::fail, "NICs are missing or down", bad);
  if (!waiting.empty()) return make_unknown("HCAs", "wait for the subnet manager:" + waiting);
  return make_verdict(VerdictState::ok, "every declared NIC is there and every HCA is active");
}

}  // namespace

extern const Check nic_present;
const Check nic_present{
    "nic_present",
    "Every MAC that the inventory declares is there, and as many HCAs are active as the SKU has.",
    "/sys/class/net/*/address, /sys/class/infiniband/*/ports/*/state; facts/health.md section 2",
    "some reads of sysfs",
    {"hardware", "hcas", "expect.nic_macs", "expect.hca_count"},
    judge};

}  // namespace tundish::checks
