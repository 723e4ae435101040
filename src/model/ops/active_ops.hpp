#pragma once
// What active checks found on a node.
#include "model/operation.hpp"
#include "model/verdict.hpp"

namespace tundish {

/// The run was ended before it was over: the node was wanted, or its lease was not extended. It
/// says nothing of the node, and is made again.
inline constexpr std::string_view preempted_word = "preempted";
inline bool is_preempted(const Verdict& verdict) {
  return verdict.state == VerdictState::unknown && verdict.reason.starts_with(preempted_word);
}
Verdict make_preempted(std::string check, const std::string& why, Instant at);

/// Takes the place of what the same checks said before. Preempted ones change nothing. Bounded.
OperationPtr record_active_run(NodeId node, std::vector<Verdict> verdicts);
inline constexpr std::size_t most_active_verdicts = 64;

}  // namespace tundish
