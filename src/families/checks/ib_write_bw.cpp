#include "families/checks/active_parts/findings.hpp"

namespace tundish::checks {
namespace {

Verdicts judge(const CheckSample& sample) {
  if (sample.pair.role == PairRole::server) {
    return {make_unknown("pair", sample.pair.peer + " tells")};
  }
  if (sample.expect.hca_count == 0 && (!sample.active || sample.active->empty())) {
    return {make_verdict(VerdictState::ok, "the SKU has no HCA")};
  }
  ActiveFindings found(sample, "ib_write_bw");
  for (const ToolRun* run : found.runs()) {
    if (!found.is_readable(*run)) continue;
    const auto rows = tools::parse_ib_bandwidth(run->out);
    if (!rows) {
      found.broken(*run, rows.error().message());
    } else if (run->exit_code != 0) {
      found.broken(*run, "it ended with a fault");
    } else {
      const double average = rows->back().average_gbit_per_s;
      found.floor("rail", run->device, static_cast<std::int64_t>(average + 0.5), "RDMA write");
    }
  }
  return found.take("every rail writes as fast as it must");
}

}  // namespace

extern const Check ib_write_bw;
const Check ib_write_bw{
    "ib_write_bw",
    "RDMA writes through every rail, to itself or to a second node, reach the rate of the model.",
    "ib_write_bw --report_gbits of perftest, one rail after the other; limits of "
    "Azure/azurehpc-health-checks; facts/health.md section 3",
    "five seconds per rail",
    {"active", "limits", "hcas", "nameplate"},
    judge,
    Resource::nic,
    Locality::symptom,
    hours(24),
    Gate::advisory,
    CheckKind::active,
    Tier::light};

}  // namespace tundish::checks
