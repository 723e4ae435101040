#include "families/checks/check_parts.hpp"

namespace tundish::checks {
namespace {

Verdicts judge(const CheckSample& sample) {
  if (sample.expect.hca_count == 0) return {make_verdict(VerdictState::ok, "the SKU has no HCA")};
  if (!sample.hcas) return {make_unknown("HCAs", sample.hcas_fault)};
  if (sample.hcas->empty()) return {make_unknown("HCAs", "none is there")};
  Findings found(sample, "ib_flap");
  for (const auto& port : *sample.hcas) {
    const std::string place = port.device + "/" + port.port;
    found.measure("drops", place, port.drops, "losses of the link in 12 hours");
    if (!port.down_since.is_set()) continue;
    found.measure("down", place, (sample.now - port.down_since).s(), "time without a link");
  }
  return found.take("no port flaps");
}

}  // namespace

extern const Check ib_flap;
const Check ib_flap{"ib_flap",
                    "No port was lost and came back several times, and none stays away.",
                    "states over time; gpud: down 25 s then up, three times in 12 hours; NVIDIA: 4 "
                    "minutes down is a drop; facts/health.md section 2",
                    "none: what the agent saw of the ports",
                    {"hcas", "expect", "limits"},
                    judge,
                    Resource::link,
                    Locality::symptom,
                    minutes(1),
                    Gate::advisory};

}  // namespace tundish::checks
