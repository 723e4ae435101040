#pragma once
// What the two checks that run DCGM's diagnostics share.
#include "families/checks/active_parts/findings.hpp"

namespace tundish::checks {

Verdicts judge_dcgm(const CheckSample& sample, std::string_view check);

/// Of level 1 only the deployment is looked at; more was asked for when it is not `deployment`.
inline bool is_deployment(const tools::DcgmResult& result) {
  return result.category == "Deployment";
}

}  // namespace tundish::checks
