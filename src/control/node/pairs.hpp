#pragma once
// Checks that two nodes make together: who meets whom, and which of two that fail is to blame.
#include <map>
#include <string>
#include <vector>

#include "model/node.hpp"

namespace tundish::control {

struct NodePair {
  NodeId first;
  NodeId second;
  bool has(const NodeId& node) const { return first == node || second == node; }
  const NodeId& other(const NodeId& node) const { return first == node ? second : first; }
};

/// What the check said of a pair. It does not say whose fault a fail is.
struct PairResult {
  NodePair pair;
  VerdictState state = VerdictState::unknown;
  std::string reason;
};

struct PairJudgement {
  std::map<NodeId, Verdict> verdicts;  ///< of every node, final once `next` is empty
  /// Disjoint pairs of a node that is known to be good and a suspect, or the odd one that sat out.
  std::vector<NodePair> next;
};

/// Disjoint pairs; over as many rounds as there are nodes each meets each. An odd one sits out, in
/// every round another.
std::vector<NodePair> plan_pairs(const std::vector<NodeId>& nodes, int round);

/// A node is good when a pair with it was good; a suspect that fails with a good node is the
/// culprit, and its earlier partner is settled on its own. Without a good node nobody is accused.
PairJudgement judge_pairs(const std::vector<NodeId>& nodes,
                          const std::vector<PairResult>& results);
inline constexpr int most_pair_tries = 3;  ///< of one suspect with good nodes that gave no answer

}  // namespace tundish::control
