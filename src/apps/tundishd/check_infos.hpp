#pragma once
#include <vector>

#include "apps/tundishd/daemon.hpp"
#include "edge/api/contract_health.hpp"

namespace tundish::tundishd {

/// Every check with its limits. A file of limits that is not valid is refused by line; without one
/// the checks have none, which the log says.
Result<std::vector<edge::CheckInfo>> load_check_infos(const std::string& catalog_dir);

}  // namespace tundish::tundishd
