#pragma once
// The leaf's own addresses, called from a tenant's network: of all of them the gateway alone
// answers, and only to ICMP. Pure.
#include "control/network/probe.hpp"

namespace tundish::control::network {

/// What each participant calls of the leaf that its port is on.
void plan_leaf(const View& view, ProbePlan& plan);
/// A row for each cluster and leaf. That the gateway answers to ICMP is what shows that the calls
/// got as far as the leaf.
std::vector<ProbeLeaf> judge_leaf(const Registry& reg, const ProbePlan& plan,
                                  const std::map<std::string, ProbeAnswer>& answers);

}  // namespace tundish::control::network
