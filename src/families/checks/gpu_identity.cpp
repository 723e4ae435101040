#include <algorithm>
#include <set>

#include "families/checks/check.hpp"

namespace tundish::checks {
namespace {

bool fits(const ExpectedGpu& expected, const GpuReading& gpu) {
  if (!expected.uuid.empty() && gpu.uuid != expected.uuid) return false;
  return expected.serial.empty() || gpu.serial == expected.serial;
}

/// What cannot be told apart cannot be compared.
std::string find_unreadable(const std::vector<GpuReading>& gpus) {
  std::set<std::string> seen;
  for (const auto& gpu : gpus) {
    const std::string place = gpu.pci.value_or("GPU " + std::to_string(gpu.index));
    if (!gpu.uuid || gpu.uuid->empty()) return place + " does not tell its UUID";
    if (!seen.insert(*gpu.uuid).second) return "UUID " + *gpu.uuid + " occurs twice";
  }
  return {};
}

Verdict judge_node(const CheckSample& sample) {
  const auto& expected = sample.expect.gpus;
  if (sample.expect.gpu_count == 0 && expected.empty()) {
    return make_verdict(VerdictState::ok, "the SKU has no GPU");
  }
  if (!sample.gpus) return make_unknown("GPUs", sample.gpus_fault);
  const auto& gpus = sample.gpus->gpus;
  const std::string unreadable = find_unreadable(gpus);
  std::string missing;
  for (const auto& one : expected) {
    const bool found = std::any_of(gpus.begin(), gpus.end(),
                                   [&](const GpuReading& gpu) { return fits(one, gpu); });
    if (!found) missing += " " + one.uuid + "/" + one.serial + ";";
  }
  if (!missing.empty() && !unreadable.empty()) return make_unknown("identity", unreadable);
  if (!missing.empty()) {
    return make_verdict(VerdictState::fail, "GPUs on record are not in the node",
                        "missing:" + missing);
  }
  if (!unreadable.empty()) return make_unknown("identity", unreadable);
  if (gpus.empty()) return make_unknown("identity", "no GPU is listed");
  if (expected.empty()) {
    return make_verdict(VerdictState::ok, "no GPU is on record yet; all are told apart");
  }
  if (gpus.size() != expected.size()) {
    return make_verdict(VerdictState::fail, "the node has GPUs that are not on record");
  }
  return make_verdict(VerdictState::ok, "every GPU on record is in the node");
}

Verdicts judge(const CheckSample& sample) { return {judge_node(sample)}; }

}  // namespace

extern const Check gpu_identity;
const Check gpu_identity{
    "gpu_identity",
    "The GPUs in the node are those on record, by UUID and board serial.",
    "NVML UUID and serial against the inventory; kubernetes PR 1003 of gpud: index is no identity",
    "opens the driver for some milliseconds; disturbs no job",
    {"gpus", "expect.gpus"},
    judge,
    Resource::identity,
    Locality::device_local,
    seconds(300),
    Gate::serve};

}  // namespace tundish::checks
