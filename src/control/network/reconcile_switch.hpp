#pragma once
// One look at the fabric: what each switch and manager shows, against what is wanted there. Pure;
// differences are reported, and put right only where authority is act and an hour after anybody
// else's change.
#include "control/network/isolation.hpp"
#include "model/operation.hpp"
#include "model/ops/network_ops.hpp"

namespace tundish::control::network {

/// An older observation is unknown.
constexpr Duration stale_after = seconds(30);
/// A person at work on a switch is left alone.
constexpr Duration person_pause = hours(1);

/// The switch brought back to what is wanted, by the runner and with a permit: done at act,
/// proposed at advise.
struct Restore {
  std::string switch_name;
  SwitchState to;
  std::string reason;
  Instant since;  ///< of the drift: what changes after it is another restore
};
/// Of the act, and of what one approval covers. `place`: the switch or the fabric.
std::string restore_key(const std::string& place, Instant since);
/// The switch or the fabric that a restore's key names; empty: it is no restore's.
std::string restored_place(const std::string& key);

/// What is known of one switch.
struct SwitchVerdict {
  std::map<NetworkId, NetworkSync> sync;
  SwitchStatus status;
  std::optional<std::vector<Breach>> breaches;  ///< unset: it was not seen well enough to tell
  std::optional<Restore> restore;
  Instant wake_at;  ///< when a restore may follow; unset: never
};
SwitchVerdict reconcile_switch(const View& view, const Intent& intent, const Switch& device);

/// A fabric's own partitions brought back to what is wanted, likewise.
struct FabricRestore {
  FabricRef ref;
  FabricState to;
  std::string reason;
  Instant since;
};

struct FabricVerdict {
  std::map<NetworkId, NetworkSync> sync;
  std::vector<Condition> conditions;
  Instant drift_since;  ///< unset: nobody else changed anything
  std::optional<std::vector<Breach>> breaches;
  std::optional<FabricRestore> restore;
  Instant wake_at;
};
/// `fabric`: InfiniBand or NVLink; `intent`: of that fabric.
FabricVerdict reconcile_fabric(const View& view, const Intent& intent, const Fabric& fabric);

struct NetworkChange {
  OperationPtr operation;
  std::string reason;  ///< for the history
};
struct NetworkOutcome {
  std::vector<NetworkChange> changes;
  std::vector<Restore> restores;
  std::vector<FabricRestore> fabric_restores;
  Instant wake_at;
};
/// Every switch of an EVPN fabric and the partitions of its networks: what is to be recorded, and
/// what is to be restored. Nothing to record when nothing changed but the age.
NetworkOutcome reconcile_networks(const View& view, const std::string& fabric);

/// Lowest level that a scope of the switch states for the class network; observe when none does.
AuthorityLevel authority_over(const View& view, const Switch& device);

}  // namespace tundish::control::network
