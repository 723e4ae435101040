#pragma once
// Which remediation policy a daemon runs: the one that a person loaded last, else the configured
// one, and only when it is proved.
#include <string>

#include "apps/tundishd/daemon_config.hpp"
#include "base/result.hpp"
#include "control/verify/verify.hpp"
#include "model/policy.hpp"
#include "model/xid_catalogue.hpp"

namespace tundish::tundishd {

struct PolicyChoice {
  RemediationPolicy policy;  ///< without states: none is proved, so nothing is done
  std::string note;          ///< why, for people; empty: the configured one, proved
};

/// What a policy is proved with.
struct ProofGround {
  const XidCatalogue& codes;
  std::vector<control::verify::ThresholdRow> limits;
};

/// An error when the configured file cannot be read; not proved is no error, it is a note.
Result<PolicyChoice> choose_policy(const DaemonConfig& config, const ProofGround& ground);

/// Kept beside the store: the next start finds it.
Result<> keep_policy(const DaemonConfig& config, const std::string& text);

}  // namespace tundish::tundishd
