#pragma once
#include <vector>

#include "apps/tundishd/daemon.hpp"
#include "control/fault/policy_problem.hpp"
#include "edge/api/contract_health.hpp"
#include "model/limit.hpp"

namespace tundish::tundishd {

struct KnownLimits {
  Thresholds thresholds;
  Nameplates plates;
};

/// A file of limits that is not valid is refused by line; without one there are none, which the log
/// says.
Result<KnownLimits> load_limits(const std::string& catalog_dir);

/// Names that a policy may use.
std::vector<control::KnownCheck> known_checks();

/// Every check with its limits.
std::vector<edge::CheckInfo> check_infos(const KnownLimits& known);

}  // namespace tundish::tundishd
