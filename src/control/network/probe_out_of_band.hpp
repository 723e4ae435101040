#pragma once
// The out-of-band row of the matrix: there a node reaches tundishd's port for agents and nothing
// else. Pure.
#include "control/network/probe.hpp"

namespace tundish::control::network {

/// Gives every participant, once per node, what it must not reach: the out-of-band addresses of the
/// other nodes, every BMC, every switch and fabric manager that the registry knows.
void plan_out_of_band(const View& view, ProbePlan& plan);
/// A node is proved closed only when it reached tundishd in the same run.
std::vector<ProbeOutOfBand> judge_out_of_band(const ProbePlan& plan,
                                              const std::map<std::string, ProbeAnswer>& answers);

/// Why no tenant may get an answer at the address: "BMC of n05". Empty: nobody says so.
std::string closed_to_all(const Registry& reg, const std::string& address);

}  // namespace tundish::control::network
