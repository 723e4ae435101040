#pragma once
// What was *seen* on a switch or in a fabric that joins two tenants, and the incident about it.
// Pure. Who puts it right, and when, is not decided here.
#include "control/network/audit.hpp"
#include "model/operation.hpp"

namespace tundish::control::network {

/// Of an incident that tells that tenants are joined. Health leaves these alone.
inline constexpr std::string_view isolation_rule = "isolation";

struct Breach {
  std::string what;        ///< "acme/a and bolt/b: swp1 (n0201): is in vlan 101 of bolt/b, ..."
  std::set<int> networks;  ///< indices of Intent::networks; of two tenants, or joined to a stranger
};

/// `drifted`: networks whose part there somebody else changed. What their lists let through opens
/// them; of the others an order of ours is under way, and a list is as it was until it is applied.
std::vector<Breach> breaches_on(const View& view, const Intent& intent,
                                const std::string& switch_name, const SwitchSeen& seen,
                                const std::set<int>& drifted);
std::vector<Breach> breaches_in(const View& view, const Intent& intent, const Fabric& fabric,
                                const FabricObserved& seen);
std::vector<std::string> lines_of(const std::vector<Breach>& breaches);

/// Opens the incident about `place` ("leaf1", "fabric ib0"), keeps it up to date, or ends it when
/// nothing of it is seen any more. `since`: how long the place has shown it: what a person closed
/// meanwhile is not opened again before it went away.
OperationPtr follow_breaches(const View& view, const Intent& intent, const std::string& place,
                             const std::vector<Breach>& breaches, Instant since);

}  // namespace tundish::control::network
