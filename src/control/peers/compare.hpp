#pragma once
// A node beside its peers of one job: which of its numbers is far from theirs.
#include <vector>

#include "model/node_report.hpp"
#include "model/verbs.hpp"

namespace tundish::control {

/// Pure. A number is compared only where at least two peers told theirs, and clocks and power only
/// while the job keeps the peers busy: an idle GPU slows down by design.
std::vector<PeerFinding> compare_with_peers(const NodeLoad& mine,
                                            const std::vector<NodeLoad>& peers);

/// Half of the peers are as slow and half are not: nobody can say which of them is the norm, so
/// the number says nothing of the node.
bool is_split(const PeerFinding& finding);

}  // namespace tundish::control
