#pragma once
#include "apps/tundishd/check_infos.hpp"
#include "apps/tundishd/daemon_config.hpp"
#include "apps/tundishd/policy_choice.hpp"
#include "base/result.hpp"
#include "model/notice.hpp"
#include "model/policy.hpp"
#include "model/xid_catalogue.hpp"

namespace tundish::tundishd {

struct Catalogues {
  XidCatalogue xid;
  PolicyChoice policy;
  NoticeRules notices;
  KnownLimits limits;
};
/// As the verifier reads them.
std::vector<control::verify::ThresholdRow> limit_rows(const KnownLimits& known);
/// Refuses what does not hold together: a policy that is not checked is not loaded.
Result<Catalogues> load_catalogues(const DaemonConfig& config);

}  // namespace tundish::tundishd
