#include "control/maintenance/reconcile_maintenance.hpp"

#include <algorithm>

#include "control/cluster/drained.hpp"
#include "control/node/checks.hpp"
#include "model/ops/incident_ops.hpp"
#include "model/ops/incident_proof.hpp"
#include "model/ops/maintenance_ops.hpp"
#include "model/ops/rma_ops.hpp"

namespace tundish::control {
namespace {

/// Between two runs of the checks that end a window.
constexpr Duration recheck_pause = seconds(15);

const Claim* own_claim(const View& view, const Maintenance& maintenance, const NodeId& node) {
  for (const auto& id : view.reg.claims_on(node)) {
    const Claim* claim = view.reg.find(id);
    if (claim && claim->holder == maintenance_holder(maintenance.id)) return claim;
  }
  return nullptr;
}

Action ask_leave(const Maintenance& maintenance, const Node& node) {
  Action action;
  action.key = maintenance.id.str() + "/" + node.id.str() + "/drain";
  action.name = "drain_for_maintenance";
  action.action_class = ActionClass::drain;
  action.node = node.id;
  action.allocation = node.status.allocation;
  action.maintenance = maintenance.id;
  // One answer of a tenant covers every node of its allocation in this window.
  action.group = maintenance.id.str() + "/" + node.status.allocation.str();
  action.reason = "maintenance: " + maintenance.reason;
  action.act = PermitWindowAct{maintenance.id};
  return action;
}

/// Clusters whose controller runs on a service node: it moves nowhere, so the node is never empty.
int controllers_on(const View& view, const NodeId& node) {
  int count = 0;
  for (const auto& [id, allocation] : view.reg.all<Allocation>()) {
    for (const auto& member : allocation.status.nodes) {
      count += member.node == node && member.role == MemberRole::controller ? 1 : 0;
    }
  }
  return count;
}

std::string what_runs(const View& view, const Node& node) {
  if (const int controllers = controllers_on(view, node.id); controllers > 0) {
    return "the engine's controller of " + std::to_string(controllers) +
           " clusters runs here and does not move";
  }
  if (is_drained(view, node)) return "";
  const Allocation* held = view.reg.find(node.status.allocation);
  const Cluster* cluster = held ? view.reg.find(held->cluster) : nullptr;
  const EngineObserved* engine = cluster ? fresh_engine(view, cluster->id) : nullptr;
  if (!engine) return "its engine does not answer: what runs on it is unknown";
  const auto jobs = jobs_on(*engine, engine_name(*cluster, node.id));
  if (jobs.empty()) return "waits for the engine to show it drained";
  return "waits for " + std::to_string(jobs.size()) + " running jobs";
}

void note(const Maintenance& maintenance, const MaintenanceNode& one, MaintenanceNodeState state,
          std::string reason, Outcome& out) {
  if (one.state == state && one.reason == reason) return;
  out.operations.push_back(
      note_maintenance_node(maintenance.id, one.node, state, std::move(reason)));
}

void drain_node(const View& view, const Maintenance& maintenance, const MaintenanceNode& one,
                Outcome& out) {
  const Node* node = view.reg.find(one.node);
  const Claim* claim = own_claim(view, maintenance, one.node);
  if (!node || !claim) return;
  if (!claim->permitted) {
    const Allocation* held = view.reg.find(node->status.allocation);
    const bool never = held && held->spec.replace == Consent::never;
    const bool asked = held && held->spec.replace == Consent::ask;
    note(maintenance, one, MaintenanceNodeState::waiting,
         never   ? "the tenant does not consent to a drain"
         : asked ? "the tenant is asked: tundish proposal list"
                 : "",
         out);
    out.actions.push_back(ask_leave(maintenance, *node));
    return;
  }
  const std::string runs = what_runs(view, *node);
  note(maintenance, one,
       runs.empty() ? MaintenanceNodeState::empty : MaintenanceNodeState::draining, runs, out);
}

void record_faults(const View& view, const Maintenance& maintenance, Outcome& out) {
  for (const auto& one : maintenance.nodes) {
    for (const auto& id : view.reg.incidents_on(one.node)) {
      const Incident* incident = view.reg.find(id);
      if (!incident || incident->opened_at < maintenance.begun_at) continue;
      const auto& known = maintenance.recorded;
      if (std::find(known.begin(), known.end(), id) != known.end()) continue;
      out.operations.push_back(record_in_window(maintenance.id, id));
      out.operations.push_back(note_incident(
          id, "in a maintenance window", maintenance.meta.name + ": neither paged nor acted on"));
    }
  }
}

/// What a node must pass to serve, and what showed the faults that were seen in the window.
std::vector<std::string> checks_to_run(const View& view, const Maintenance& maintenance,
                                       const NodeId& node) {
  std::set<std::string> named;
  for (const auto& id : maintenance.recorded) {
    const Incident* incident = view.reg.find(id);
    if (!incident || incident->node != node || incident->state != IncidentState::open) continue;
    for (const auto& [check, worst] : proof_of(*incident).passive) named.insert(check);
  }
  // What a part said by itself in the window opened no incident, and is no less true for that.
  const Node* known = view.reg.find(node);
  for (const auto& verdict : known ? known->status.verdicts : std::vector<Verdict>{}) {
    const bool local = verdict.locality == Locality::device_local;
    if (local && verdict.state == VerdictState::fail) named.insert(verdict.check);
  }
  if (named.empty()) return {};
  std::vector<std::string> out{std::string(serve_checks)};
  out.insert(out.end(), named.begin(), named.end());
  return out;
}

void prove_node(const View& view, const Maintenance& maintenance, const MaintenanceNode& one,
                Outcome& out) {
  const bool over =
      one.state == MaintenanceNodeState::proved || one.state == MaintenanceNodeState::faulty;
  const Node* node = view.reg.find(one.node);
  if (over || !node) return;
  // It may be switched off, and no answer would ever come.
  if (find_at_vendor(view.reg, one.node)) {
    out.operations.push_back(leave_to_vendor(maintenance.id, one.node));
    return;
  }
  const Instant due = one.tried_at + recheck_pause;
  if (one.tries > 0 && view.now < due) {
    out.wake(due);
    return;
  }
  Action action = make_checks(
      view, *node, checks_to_run(view, maintenance, node->id),
      maintenance.id.str() + "/" + node->id.str() + "/checks/" + std::to_string(one.tries));
  // What its cluster gives it, mounts for example, it gets back with its next set-up: a node that
  // was off in its window has none of it.
  auto& asked = std::get<VerbAct>(action.act).call.run_checks;
  asked->expect = expectation_of(view, *node);
  asked->expect.in_use = false;
  action.maintenance = maintenance.id;
  action.group = action.key;
  action.result_to = ResultTo::maintenance_checks;
  out.actions.push_back(std::move(action));
}

void await(const View& view, const Maintenance& maintenance, Instant at, MaintenanceState to,
           Outcome& out) {
  if (view.now < at) {
    out.wake(at);
    return;
  }
  out.operations.push_back(advance_maintenance(maintenance.id, maintenance.state, to));
}

}  // namespace

Outcome reconcile_maintenance(const View& view, const Maintenance& maintenance) {
  Outcome out;
  switch (maintenance.state) {
    case MaintenanceState::planned:
      await(view, maintenance, maintenance.begin - view.limits.maintenance_lead,
            MaintenanceState::near, out);
      return out;
    case MaintenanceState::near:
      await(view, maintenance, maintenance.begin, MaintenanceState::active, out);
      return out;
    case MaintenanceState::active:
      for (const auto& one : maintenance.nodes) drain_node(view, maintenance, one, out);
      break;
    case MaintenanceState::revalidating:
      for (const auto& one : maintenance.nodes) prove_node(view, maintenance, one, out);
      out.reason = "the checks decide";
      break;
    case MaintenanceState::ended:
    case MaintenanceState::cancelled: return out;
  }
  record_faults(view, maintenance, out);
  if (maintenance.overrun_since.is_set()) return out;
  if (view.now < maintenance.end) {
    out.wake(maintenance.end);
  } else {
    out.operations.push_back(mark_overrun(maintenance.id));
  }
  return out;
}

}  // namespace tundish::control
