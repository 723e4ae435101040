#pragma once
// A remediation policy drawn as text.
#include <string>

#include "control/verify/rehearse.hpp"
#include "model/policy.hpp"

namespace tundish::edge::cli {

/// States in the order in which they are come to, each with its act, budget, owner and edges.
std::string draw_policy(const RemediationPolicy& policy);
/// Incidents that would have gone another way, and what people did about them.
std::string tell_rehearsals(const std::vector<control::verify::Rehearsal>& rows);

}  // namespace tundish::edge::cli
