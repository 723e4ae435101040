#include "families/checks/active_parts/nccl.hpp"

namespace tundish::checks {

Verdicts judge_nccl(const CheckSample& sample, std::string_view check,
                    const std::string& when_good) {
  ActiveFindings found(sample, check);
  for (const ToolRun* run : found.runs()) {
    if (!found.is_readable(*run)) continue;
    const auto nccl = tools::parse_nccl_tests(run->out);
    if (!nccl) {
      found.broken(*run, nccl.error().message());
      continue;
    }
    std::int64_t wrong = nccl->out_of_bounds;
    for (const auto& row : nccl->rows) wrong = std::max(wrong, row.wrong);
    if (wrong > 0) {
      found.fail("", std::to_string(wrong) + " elements of all-reduces are wrong");
      continue;
    }
    // Built without MPI, or for another one, each node reduces alone and is as fast as ever.
    const bool is_pair = sample.pair.role == PairRole::client;
    if (is_pair && sample.gpus && nccl->ranks <= static_cast<int>(sample.gpus->gpus.size())) {
      found.unseen(run->tool + " met no second node: " + std::to_string(nccl->ranks) +
                   " ranks; it comes with " + run->package);
      continue;
    }
    if (run->exit_code != 0) {
      found.broken(*run, "it ended with a fault");
      continue;
    }
    const auto& largest = *std::max_element(
        nccl->rows.begin(), nccl->rows.end(),
        [](const tools::NcclRow& a, const tools::NcclRow& b) { return a.bytes < b.bytes; });
    // In place and out of place are the same work; the better one is what the links give.
    found.floor("busbw", "", mbytes_of(std::max(largest.busbw_in, largest.busbw_out)),
                "bus bandwidth at " + std::to_string(largest.bytes >> 20) + " MiB");
    found.note(std::to_string(nccl->ranks) + " ranks");
  }
  return found.take(when_good);
}

}  // namespace tundish::checks
