#include "families/checks/check_parts.hpp"

namespace tundish::checks {
namespace {

Verdicts judge(const CheckSample& sample) {
  return each_counter(sample, "pcie_aer", "aer", "no PCIe device reports errors",
                      [](const CounterReading& counter, Findings& found) {
                        if (counter.name != "correctable") {
                          found.measure(counter.name, counter.device, *counter.grown,
                                        "PCIe errors, " + counter.name);
                        } else if (counter.per_minute) {
                          found.measure(counter.name, counter.device, *counter.per_minute,
                                        "PCIe errors, correctable");
                        }
                      });
}

}  // namespace

extern const Check pcie_aer;
const Check pcie_aer{
    "pcie_aer",
    "No PCIe device of the node reports fatal or non-fatal errors, and few corrected "
    "ones.",
    "aer_dev_fatal, aer_dev_nonfatal, aer_dev_correctable; no peer reads them; "
    "facts/health.md section 2",
    "reads some small files of sysfs; no device is touched",
    {"counters", "limits"},
    judge,
    Resource::pcie,
    Locality::device_local,
    minutes(1),
    Gate::advisory};

}  // namespace tundish::checks
