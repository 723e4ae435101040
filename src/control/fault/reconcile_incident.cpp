#include "control/fault/reconcile_incident.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "control/cluster/drained.hpp"
#include "control/fault/leave.hpp"
#include "control/fault/policy.hpp"
#include "control/node/checks.hpp"
#include "model/ops/incident_ops.hpp"

namespace tundish::control {
namespace {

constexpr std::string_view refuses_work = "new work refused";

/// PCI addresses of every witness: what a reset must reach.
std::vector<std::string> devices_of(const Incident& incident) {
  std::set<std::string> out;
  if (!incident.device.empty()) out.insert(incident.device);
  for (const auto& witness : incident.witnesses) {
    if (!witness.event.device.empty()) out.insert(witness.event.device);
  }
  return {out.begin(), out.end()};
}

Action base_action(const Incident& incident, const PolicyState& state) {
  Action action;
  action.key = act_key(incident);
  action.name = state.action;
  action.node = incident.node;
  action.incident = incident.id;
  action.group = incident.id.str();
  action.reason = incident.fault + ": " + state.doc;
  action.limit = seconds(state.limit_s > 0 ? state.limit_s : 60);
  action.result_to = ResultTo::incident_act;
  return action;
}

Action power_action(Action action, PowerVerb verb) {
  action.action_class = ActionClass::power;
  action.act = PowerAct{verb};
  return action;
}

std::optional<Action> action_for(const View& view, const Incident& incident, const Node& node,
                                 const PolicyState& state) {
  Action action = base_action(incident, state);
  if (state.action == "evacuate") {
    action.action_class = ActionClass::stop_new_work;
    action.allocation = incident.allocation;
    action.act = PermitClaimsAct{incident.id};
    return action;
  }
  if (state.action == "reboot") return power_action(std::move(action), PowerVerb::restart);
  if (state.action == "power_cycle") return power_action(std::move(action), PowerVerb::cycle);
  if (state.action == "reset_gpus") {
    action.action_class = ActionClass::reset;
    VerbCall call;
    call.verb = Verb::reset_gpus;
    call.devices = devices_of(incident);
    action.act = VerbAct{std::move(call)};
    return action;
  }
  if (state.action == "run_checks") {
    Action checks = make_checks(view, node, state.checks, action.key);
    checks.incident = action.incident;
    checks.group = action.group;
    checks.limit = action.limit;
    checks.result_to = ResultTo::incident_checks;
    return checks;
  }
  if (state.action == "wipe") {
    Action wipe = make_wipe(node, action.key);
    wipe.incident = action.incident;
    wipe.group = action.group;
    wipe.limit = action.limit;
    wipe.result_to = ResultTo::incident_act;
    return wipe;
  }
  return std::nullopt;
}

void track_jobs(const View& view, const Incident& incident, Outcome& out) {
  const Allocation* allocation = view.reg.find(incident.allocation);
  const Cluster* cluster = allocation ? view.reg.find(allocation->cluster) : nullptr;
  const EngineObserved* engine = cluster ? fresh_engine(view, cluster->id) : nullptr;
  if (!engine) return;
  const std::string name = engine_name(*cluster, incident.node);
  if (!incident.entries.contains("isolate") && incident.device_lost) {
    for (const EngineJob* job : jobs_on(*engine, name)) {
      JobImpact hit;
      hit.job = job->id;
      hit.nodes_before = join(job->nodes, ",");
      hit.restarts = job->restarts;
      out.operations.push_back(record_job_hit(incident.id, std::move(hit)));
    }
  }
  for (const auto& hit : incident.jobs) {
    if (hit.running_again_at.is_set()) continue;
    for (const auto& job : engine->jobs) {
      if (job.id != hit.job || job.state != "RUNNING" || job.restarts <= hit.restarts) continue;
      out.operations.push_back(
          record_job_back(incident.id, job.id, join(job.nodes, ","), job.restarts));
    }
  }
}

/// From here on the engine places nothing on the node: the gap since the witness is closed.
void track_gap(const View& view, const Incident& incident, Outcome& out) {
  const Allocation* allocation = view.reg.find(incident.allocation);
  const Cluster* cluster = allocation ? view.reg.find(allocation->cluster) : nullptr;
  const EngineObserved* engine = cluster ? fresh_engine(view, cluster->id) : nullptr;
  if (!engine) return;
  const std::string name = engine_name(*cluster, incident.node);
  const EngineNode* seen = find_engine_node(*engine, name);
  if (!seen || !(has_state(*seen, "DRAIN") || has_state(*seen, "DOWN"))) return;
  for (const auto& entry : incident.timeline) {
    if (entry.what == refuses_work) return;
  }
  std::string landed;
  for (const EngineJob* job : jobs_on(*engine, name)) {
    bool known = false;
    for (const auto& hit : incident.jobs) known = known || hit.job == job->id;
    if (!known && incident.device_lost) landed += " " + job->id;
  }
  out.operations.push_back(note_incident(
      incident.id, std::string(refuses_work),
      landed.empty() ? "no job landed in between" : "landed in between:" + landed));
}

void track_replacement(const View& view, const Incident& incident, Outcome& out) {
  if (incident.replacement.empty() || incident.member_restored_at.is_set()) return;
  const Allocation* allocation = view.reg.find(incident.allocation);
  const Cluster* cluster = allocation ? view.reg.find(allocation->cluster) : nullptr;
  const EngineObserved* engine = cluster ? fresh_engine(view, cluster->id) : nullptr;
  if (!engine) return;
  const EngineNode* seen = find_engine_node(*engine, engine_name(*cluster, incident.replacement));
  if (seen && seen->registered && !has_state(*seen, "DRAIN") && !has_state(*seen, "DOWN")) {
    out.operations.push_back(record_restored(incident.id));
  }
}

void finish_policy(const Incident& incident, const PolicyState& state, Outcome& out) {
  if (state.action == "open_rma") {
    out.operations.push_back(open_rma(incident.id, "repairs and budgets are used up or useless"));
  } else {
    out.operations.push_back(return_node(incident.id));
  }
}

}  // namespace

Outcome reconcile_incident(const View& view, const Incident& incident) {
  Outcome out;
  track_jobs(view, incident, out);
  track_gap(view, incident, out);
  track_replacement(view, incident, out);
  if (incident.state != IncidentState::open) return out;
  const Node* node = view.reg.find(incident.node);
  if (!node) return out;
  const auto found = view.policy.states.find(incident.policy_state);
  if (incident.policy_state.empty() || found == view.policy.states.end()) {
    const auto& first = view.policy.states.at(view.policy.initial);
    out.operations.push_back(enter_policy_state(incident.id, incident.policy_state,
                                                view.policy.initial, first.action, first.doc,
                                                first.owner));
    return out;
  }
  const PolicyState& state = found->second;
  if (state.final) {
    finish_policy(incident, state, out);
    return out;
  }
  const TimelineEntry* act = current_act(incident);
  const bool current = act && act->key == act_key(incident);
  // Under a hold, at `advise` or behind the brake nothing was tried: a deadline that ran then would
  // walk through every repair without doing one, up to the RMA of a node that nobody touched.
  const Instant clock =
      current && waits_for_leave(*act) ? std::min(view.now, incident.policy_since) : view.now;
  const PolicyStep step = policy_step(
      view.policy, {incident.policy_state, incident.policy_since, incident.entries},
      facts_of(view, incident), clock);
  if (step.go) {
    const PolicyState& next = view.policy.states.at(*step.go);
    out.operations.push_back(enter_policy_state(incident.id, incident.policy_state, *step.go,
                                                next.action, next.doc, next.owner));
    return out;
  }
  if (step.wake_at.is_set()) out.wake(step.wake_at);
  out.reason = step.reason;
  const bool runs = current && is_open_act(*act);
  if (!runs || state.action.empty()) return out;
  if (auto action = action_for(view, incident, *node, state)) {
    out.actions.push_back(std::move(*action));
  }
  return out;
}

}  // namespace tundish::control
