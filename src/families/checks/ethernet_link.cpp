#include "base/text.hpp"
#include "families/checks/check_parts.hpp"

namespace tundish::checks {
namespace {

const NetReading* find_net(const CheckSample& sample, const std::string& mac) {
  for (const auto& net : *sample.nets) {
    if (net.mac == mac) return &net;
  }
  return nullptr;
}

Verdicts judge(const CheckSample& sample) {
  if (sample.expect.nic_macs.empty()) {
    return {make_unknown("interfaces", "the inventory declares none")};
  }
  if (!sample.nets) return {make_unknown("interfaces", sample.fault_of("nets"))};
  Findings found(sample, "ethernet_link");
  for (const auto& declared : sample.expect.nic_macs) {
    const NetReading* net = find_net(sample, to_lower(declared));
    if (!net) continue;  // nic_present tells that
    // The port of a node that serves nobody is shut at its switch: a free one's, a spare's, one's
    // that leaves.
    if (sample.expect.services.empty()) continue;
    // "unknown" is what drivers without carrier detection say: loopback, some virtual ones.
    if (net->operstate != "up" && net->operstate != "unknown") {
      found.warn(net->name, "the interface is " + net->operstate);
    }
    if (!sample.counters) continue;
    for (const auto& counter : *sample.counters) {
      if (counter.group != "net" || counter.device != net->name || !counter.grown) continue;
      if (counter.name != "carrier_changes") continue;
      // With the total the sentence is another one after each change, and the same as long as there
      // is none: blame tells new changes from old ones by that (control/health/carriers.hpp).
      found.measure("carrier_changes", net->name, *counter.grown,
                    "changes of its carrier (" + std::to_string(counter.total) + " in all)");
    }
  }
  return found.take("every declared interface is up");
}

}  // namespace

extern const Check ethernet_link;
const Check ethernet_link{
    "ethernet_link",
    "The interfaces that the inventory declares are up and do not flap.",
    "operstate and carrier_changes of /sys/class/net; more than 2 changes a day; "
    "facts/health.md section 2",
    "reads some small files of sysfs; no device is touched",
    {"nets", "counters", "expect.nic_macs", "limits"},
    judge,
    Resource::link,
    Locality::symptom,
    minutes(1),
    Gate::advisory};

}  // namespace tundish::checks
