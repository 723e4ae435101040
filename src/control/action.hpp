#pragma once
// What a controller wants done to the outside world. The runner asks for a permit and does it.
#include <string>
#include <variant>
#include <vector>

#include "control/view.hpp"
#include "model/operation.hpp"

namespace tundish::control {

struct PowerAct {
  PowerVerb verb = PowerVerb::restart;
};
struct VerbAct {
  VerbCall call;
};
struct AttachAct {
  PortRef port;
  PortIntent intent;
};
/// The whole of ours in one InfiniBand or NVLink fabric.
struct FabricAct {
  FabricRef ref;
  FabricState desired;
};
/// One export's change; the storage takes away before it gives.
struct StorageAct {
  StorageRef ref;
  StorageChange change;
};
struct EngineAct {
  NodeId controller;
  std::string cluster_name;
  std::vector<EngineCommand> commands;
  Instant seen_at;  ///< of the observation that the commands follow from
};
/// Breaks hardware on purpose: a person's order, see Runner::order.
struct InjectAct {
  Injection injection;
};
/// Leave to act on the claims of an incident: the engine and the swap follow from it.
struct PermitClaimsAct {
  IncidentId incident;
};
/// Leave to drain a node for a maintenance window: the tenant is asked as its consent says.
struct PermitWindowAct {
  MaintenanceId maintenance;
};

/// What is done with the result, besides observing again.
enum class ResultTo {
  nobody,           ///< the next observation tells
  incident_act,     ///< finish_act
  incident_checks,  ///< record_incident_verdicts
  node_checks,      ///< record_check_run
  node_phase,       ///< set_node_phase to Action::next_phase
  member_joined,    ///< mark_joined
  controller_ready,  ///< record_controller
  maintenance_checks,  ///< record_maintenance_checks
  report_checks,       ///< record_report_checks
  load,                ///< RunnerListener::on_load
  active_checks        ///< record_active_run, and an incident when the schedule found a fault
};

struct Action {
  std::string key;  ///< (object, version): in flight once; drivers treat a repeat as the same act
  std::string name;
  ActionClass action_class = ActionClass::look;
  NodeId node;  ///< node that is touched; empty when none is
  ClusterId cluster;
  AllocationId allocation;
  IncidentId incident;
  MaintenanceId maintenance;
  NodeReportId report;
  std::string group;  ///< what one approval covers: an incident, else the key
  std::string reason;
  std::string asked_by = {};  ///< of active checks: the person who asked; empty: nobody did
  Duration limit = seconds(60);
  ResultTo result_to = ResultTo::nobody;
  NodePhase next_phase = NodePhase::ready;
  std::string config_hash;
  std::vector<std::string> users;
  std::variant<PowerAct, VerbAct, AttachAct, FabricAct, EngineAct, InjectAct, PermitClaimsAct,
               PermitWindowAct, StorageAct>
      act;
};

/// What one look at one object led to.
struct Outcome {
  std::vector<OperationPtr> operations;
  std::vector<Action> actions;
  Instant wake_at;  ///< unset: only a change wakes it
  std::string reason;

  void wake(Instant at) {
    if (!wake_at.is_set() || at < wake_at) wake_at = at;
  }
};

}  // namespace tundish::control
