#pragma once
#include <string>

#include "base/result.hpp"
#include "control/verify/verify.hpp"
#include "model/policy.hpp"
#include "model/xid_catalogue.hpp"

namespace tundish::sim {

/// The shipped catalogue and policy from `folder` (catalog/ of the source tree).
Result<XidCatalogue> load_xids(const std::string& folder);
Result<RemediationPolicy> load_policy(const std::string& folder);
/// Its limits, as the verifier reads them.
Result<std::vector<control::verify::ThresholdRow>> load_threshold_rows(const std::string& folder);
/// One file of any place, read but not proved.
Result<RemediationPolicy> load_policy_file(const std::string& file);

}  // namespace tundish::sim
