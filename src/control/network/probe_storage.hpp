#pragma once
// The storage's part of `network probe`. Pure.
#include "control/network/probe.hpp"

namespace tundish::control::network {

/// Every node that uses a storage tries its own export, and the export and the address of each
/// other cluster.
void plan_exports(const View& view, ProbePlan& plan);
/// Closed is proved only by a node that was let into its own export: else the way may be cut.
std::vector<ProbeStorage> judge_exports(const Registry& reg, const ProbePlan& plan,
                                        const std::map<std::string, ProbeAnswer>& answers);

}  // namespace tundish::control::network
