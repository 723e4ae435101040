#include "families/checks/check_parts.hpp"

namespace tundish::checks {
namespace {

Verdicts judge(const CheckSample& sample) {
  if (sample.expect.gpu_count == 0) return {make_verdict(VerdictState::ok, "the SKU has no GPU")};
  if (!sample.gpus) return {make_unknown("GPUs", sample.gpus_fault)};
  bool wide = false;
  for (const auto& gpu : sample.gpus->gpus) wide = wide || gpu.fabric_clique.value_or(0) != 0;
  if (!wide) return {make_verdict(VerdictState::ok, "no NVLink domain beyond the node")};
  if (!sample.services) return {make_unknown("services", sample.fault_of("services"))};
  for (const auto& service : *sample.services) {
    if (service.name != "nvidia-imex" || !service.running) continue;
    return {make_verdict(VerdictState::ok, "the IMEX daemon runs")};
  }
  return {make_verdict(VerdictState::fail, "the IMEX daemon does not run")};
}

}  // namespace

extern const Check imex;
const Check imex{"imex",
                 "Where the NVLink domain is larger than the node, the IMEX daemon runs on it.",
                 "nvidia-imex process, fabric clique; facts/health.md section 2",
                 "reads some small files of /proc",
                 {"gpus", "services"},
                 judge,
                 Resource::service,
                 Locality::device_local,
                 minutes(1),
                 Gate::advisory};

}  // namespace tundish::checks
