#pragma once
// Nodes that break more often than the fleet does, from history. Only hardware witnesses count: a
// tenant's lines make no lemon.
#include <vector>

#include "control/view.hpp"

namespace tundish::control {

struct LemonScore {
  std::string node;
  int incidents = 0;
  int rmas = 0;
  int failed_revalidations = 0;
  double per_month = 0;
  double fleet_per_month = 0;
  double chance = 1;
  bool lemon = false;
  std::string why;
};

/// Every GPU node in service, the worst first.
std::vector<LemonScore> score_lemons(const View& view);
/// The retirement of one node, for a person to decide; nullopt: it is no lemon, or somebody was
/// asked lately.
std::optional<Proposal> propose_retirement(const View& view, const NodeId& node);

/// Probability of at least `seen` events where `expected` are expected (Poisson).
double chance_of(int seen, double expected);

}  // namespace tundish::control
