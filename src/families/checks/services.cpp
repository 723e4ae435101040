#include "families/checks/check_parts.hpp"

namespace tundish::checks {
namespace {

Verdicts judge(const CheckSample& sample) {
  if (sample.expect.services.empty()) {
    return {nothing_asked(sample, "what daemons it is to run")};
  }
  if (!sample.services) return {make_unknown("services", sample.fault_of("services"))};
  Findings found(sample, "services");
  for (const auto& wanted : sample.expect.services) {
    const ServiceReading* have = nullptr;
    for (const auto& service : *sample.services) {
      if (service.name == wanted && (!have || service.running)) have = &service;
    }
    if (!have || !have->running)
      found.fail(wanted, "the daemon does not run");
    else if (have->state == "T")
      found.fail(wanted, "the daemon is stopped by a signal");
    else if (have->state == "D")
      found.warn(wanted, "the daemon waits in the kernel");
  }
  return found.take("every wanted daemon runs");
}

}  // namespace

extern const Check services;
const Check services{
    "services",
    "Every daemon that the inventory wants runs and is not stuck.",
    "processes by name; the Fabric Manager was down for 20 days unseen (NVSentinel #883); "
    "facts/health.md section 2",
    "one pass over /proc",
    {"services", "expect.services"},
    judge,
    Resource::service,
    Locality::symptom,
    minutes(1),
    Gate::advisory,
    CheckKind::passive,
    Tier::light,
    2};

}  // namespace tundish::checks
