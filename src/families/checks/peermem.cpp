#include "families/checks/check_parts.hpp"

namespace tundish::checks {
namespace {

Verdicts judge(const CheckSample& sample) {
  if (sample.expect.gpu_count == 0 || sample.expect.hca_count == 0) {
    return {make_verdict(VerdictState::ok, "the SKU has no GPU or no HCA")};
  }
  if (!sample.modules) return {make_unknown("modules", sample.fault_of("modules"))};
  const auto has_module = [&](std::string_view name) {
    return std::find(sample.modules->begin(), sample.modules->end(), name) != sample.modules->end();
  };
  if (has_module("nvidia_peermem") || has_module("nv_peer_mem")) {
    return {make_verdict(VerdictState::ok, "peer memory is loaded")};
  }
  return {make_unknown("peer memory", "no module is loaded; whether dma-buf serves is not shown")};
}

}  // namespace

extern const Check peermem;
const Check peermem{"peermem",
                    "HCAs can reach GPU memory: nvidia_peermem is loaded.",
                    "/proc/modules; dma-buf does the same with open drivers and shows no module; "
                    "facts/health.md section 2",
                    "reads some small files of /proc",
                    {"modules", "expect"},
                    judge,
                    Resource::service,
                    Locality::device_local,
                    minutes(15),
                    Gate::advisory};

}  // namespace tundish::checks
