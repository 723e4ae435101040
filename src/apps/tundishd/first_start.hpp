#pragma once
#include "apps/tundishd/daemon_config.hpp"
#include "base/result.hpp"
#include "control/ledger.hpp"
#include "ports/random.hpp"

namespace tundish::tundishd {

/// Fabrics of the file that the configuration names, at every start.
Result<> declare_fabrics(const DaemonConfig& config, control::Ledger& ledger);
/// How many there are; refuses what declare_fabrics() would refuse on an empty store.
Result<int> check_fabrics(const DaemonConfig& config);
/// What an empty store begins with: an operator's token, enrolment tokens that came with the
/// nodes' images, and the authority of the site. Does nothing on a store that has an operator.
Result<> prepare_first_start(const DaemonConfig& config, control::Ledger& ledger, Random& random);

}  // namespace tundish::tundishd
