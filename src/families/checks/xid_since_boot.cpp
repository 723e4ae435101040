#include "families/checks/check.hpp"
#include "model/gpu_fault.hpp"

namespace tundish::checks {
namespace {

/// Lost records may have held a fault; the driver's own state is the second witness.
bool snapshot_is_clean(const CheckSample& sample) {
  if (!sample.gpus || static_cast<int>(sample.gpus->gpus.size()) != sample.expect.gpu_count) {
    return false;
  }
  for (const auto& gpu : sample.gpus->gpus) {
    if (gpu.lost.value_or(true) || gpu.recovery_action.value_or(1) != 0) return false;
  }
  return true;
}

std::string line_of(const SampleEvent& seen) {
  return " " + std::to_string(seen.event.code) + " on " +
         (seen.event.device.empty() ? "unknown device" : seen.event.device) + " x" +
         std::to_string(seen.repeat) + ";";
}

Verdict judge_node(const CheckSample& sample) {
  if (!sample.events) return make_unknown("kernel events", sample.events_fault);
  std::string fatal;
  std::string unclear;
  for (const auto& seen : *sample.events) {
    if (!is_gpu_fault(seen.event) || seen.provenance != Provenance::kernel || seen.decoy) continue;
    if (seen.event.follow_up) continue;
    (seen.in_catalogue ? fatal : unclear) += line_of(seen);
  }
  if (!fatal.empty()) {
    return make_verdict(VerdictState::fail, "GPU faults since boot", fatal + unclear);
  }
  if (sample.blind_records > 0 && !snapshot_is_clean(sample)) {
    return make_unknown("kernel events", std::to_string(sample.blind_records) +
                                             " records were lost and no snapshot vouches for them");
  }
  if (!unclear.empty()) {
    return make_verdict(VerdictState::warn, "the kernel names GPU faults that nobody knows",
                        unclear);
  }
  if (sample.blind_records > 0) {
    return make_verdict(VerdictState::warn, std::to_string(sample.blind_records) +
                                                " records were lost; the driver shows no fault");
  }
  return make_verdict(VerdictState::ok, "no GPU fault since boot");
}

Verdicts judge(const CheckSample& sample) { return {judge_node(sample)}; }

}  // namespace

extern const Check xid_since_boot;
const Check xid_since_boot{
    "xid_since_boot",
    "The kernel itself reported no GPU fault since boot, or since the reset of that GPU; decoy "
    "codes and lines written from user space do not count.",
    "/dev/kmsg by facility, catalog/xid.yaml; facts/health.md sections 1 and 1d",
    "none: the agent reads the log anyway",
    {"events", "blind_records", "gpus"},
    judge,
    Resource::gpu,
    Locality::device_local,
    seconds(60),
    Gate::serve};

}  // namespace tundish::checks
