#pragma once
// Free and spare nodes in a probe: they are in nobody's network, so they reach no tenant and no
// tenant reaches them. Pure.
#include "control/network/probe_sightings.hpp"

namespace tundish::control::network {

/// So many send and listen themselves; of the others the switch's word is taken.
constexpr std::size_t most_outside = 64;

/// Adds those that are heard to the participants, and the others to `beside`.
void add_outside(const View& view, ProbePlan& plan);
/// Each cluster to the nodes outside, and back. Closed: nothing was seen on the way, and the node
/// outside sent and listened, or its port had no link, or its switch shows the port in no network.
void judge_outside(const Registry& reg, const ProbePlan& plan,
                   const std::map<std::string, ProbeAnswer>& answers, const Sightings& all,
                   ProbeMatrix& matrix);

}  // namespace tundish::control::network
