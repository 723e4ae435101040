#include "families/checks/check.hpp"

namespace tundish::checks {
namespace {

Verdicts judge(const CheckSample& sample) {
  if (sample.gpus) return {make_verdict(VerdictState::ok, "the GPU driver answers")};
  if (sample.expect.gpu_count == 0) return {make_verdict(VerdictState::ok, "the SKU has no GPU")};
  const std::string hang = sample.fault_of("gpus");
  if (hang.empty()) return {make_unknown("GPUs", sample.gpus_fault)};
  return {make_verdict(VerdictState::fail, "the GPU driver hangs: a question does not come back",
                       hang)};
}

}  // namespace

extern const Check gpu_answers;
const Check gpu_answers{
    "gpu_answers",
    "A question to the GPU driver comes back; one that hangs is a fault of the GPUs, not a look "
    "that failed.",
    "a child with a deadline, at most one that is stuck; NVIDIA/NVSentinel #1576, #1748; "
    "facts/health.md sections 6 and 7.3",
    "none: the snapshot that is taken anyway",
    {"gpus"},
    judge,
    Resource::gpu,
    Locality::symptom,
    seconds(30),
    Gate::veto,
    CheckKind::passive,
    Tier::light,
    2};

}  // namespace tundish::checks
