#include "families/checks/check_parts.hpp"

namespace tundish::checks {
namespace {

/// What a detector says of the place that it watches. Its own health is another matter: one that is
/// broken has seen nothing, which is neither dry nor wet.
void look(const LeakDetector& detector, Findings& found) {
  const std::string where = detector.place.empty() ? "" : "at " + detector.place;
  if (detector.presence == "Absent") return;
  if (detector.state == "Critical") {
    found.fail(detector.name, "a detector of leaks is wet", where);
  } else if (detector.state == "Warning") {
    found.warn(detector.name, "a detector of leaks warns", where);
  } else if (detector.state != "OK") {
    found.unseen(detector.name, "it does not tell whether it is dry");
  } else if (detector.presence != "Enabled" && !detector.presence.empty()) {
    found.unseen(detector.name, "the detector is not in use");
  } else if (detector.health == "Critical") {
    found.unseen(detector.name, "the detector itself is broken");
  }
}

Verdicts judge(const CheckSample& sample) {
  if (!sample.leaks) return {make_unknown("the BMC", sample.fault_of("leaks"))};
  if (sample.leaks->empty()) return {make_verdict(VerdictState::ok, "the BMC has no detector")};
  Findings found(sample, "leak");
  for (const auto& detector : *sample.leaks) look(detector, found);
  return found.take("every detector of leaks is dry");
}

}  // namespace

extern const Check leak;
const Check leak{"leak",
                 "No detector of leaks in the node is wet, as its BMC shows them out of band; what "
                 "cannot be read is unknown.",
                 "Redfish LeakDetector.DetectorState (DMTF DSP0268 2025.4); facts/health.md "
                 "sections 2 and 4 (NVL72)",
                 "a handful of questions to the BMC; nothing runs on the node",
                 {"leaks"},
                 judge,
                 Resource::cooling,
                 Locality::device_local,
                 seconds(30),
                 Gate::advisory,
                 CheckKind::passive,
                 Tier::light,
                 1,
                 Eye::bmc};

}  // namespace tundish::checks
