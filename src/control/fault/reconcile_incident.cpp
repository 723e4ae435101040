#include "control/fault/reconcile_incident.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "control/cluster/drained.hpp"
#include "control/fault/budgets.hpp"
#include "control/fault/check_plan.hpp"
#include "control/fault/leave.hpp"
#include "control/fault/policy.hpp"
#include "control/lemon/lemon.hpp"
#include "control/node/active.hpp"
#include "control/node/checks.hpp"
#include "control/permit/blast.hpp"
#include "model/ops/allocation_ops.hpp"
#include "model/ops/governance_ops.hpp"
#include "model/ops/incident_ops.hpp"
#include "model/ops/incident_proof.hpp"
#include "model/ops/rma_ops.hpp"
#include "model/pci_address.hpp"

namespace tundish::control {
namespace {

constexpr std::string_view refuses_work = "new work refused";

std::vector<std::string> every_gpu(const Node& node) {
  std::vector<std::string> out;
  for (const auto& gpu : node.status.hardware.gpus) out.push_back(gpu.pci);
  return out;
}

/// PCI addresses of every witness: what a reset must reach.
std::vector<std::string> devices_of(const Incident& incident, const Node& node) {
  std::set<std::string> out;
  if (incident.witnesses.empty() && !incident.blamed) {  // checks opened it
    for (const auto& verdict : incident.verdicts) {
      if (verdict.state != VerdictState::fail) continue;
      if (!normalise_pci(verdict.device)) return every_gpu(node);  // said of the node
      out.insert(verdict.device);
    }
  }
  if (!incident.device.empty()) out.insert(incident.device);
  for (const auto& witness : incident.witnesses) {
    if (!witness.event.device.empty()) out.insert(witness.event.device);
  }
  if (out.empty()) return every_gpu(node);
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

/// What every node must pass to serve, or what the policy names; and whatever showed this fault.
std::vector<std::string> checks_to_run(const Incident& incident, const PolicyState& state) {
  const Proof proof = proof_of(incident);
  std::vector<std::string> out = state.checks;
  if (out.empty() && proof.passive.empty()) return out;
  if (out.empty()) out.emplace_back(serve_checks);
  for (const auto& [check, worst] : proof.passive) {
    if (std::find(out.begin(), out.end(), check) == out.end()) out.push_back(check);
  }
  return out;
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
  if (state.action == "power_off") return power_action(std::move(action), PowerVerb::off);
  if (state.action == "power_cycle") return power_action(std::move(action), PowerVerb::cycle);
  if (state.action == "reset_gpus") {
    action.action_class = ActionClass::reset;
    VerbCall call;
    call.verb = Verb::reset_gpus;
    call.devices = devices_of(incident, node);
    action.act = VerbAct{std::move(call)};
    return action;
  }
  if (state.action == "run_checks") {
    Action checks = make_checks(view, node, checks_to_run(incident, state), action.key);
    checks.incident = action.incident;
    checks.group = action.group;
    checks.limit = action.limit;
    checks.result_to = ResultTo::incident_checks;
    add_active(checks, proving_checks(incident, state));
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
  const Node* node = view.reg.find(incident.node);
  if (node && !incident.entries.contains("isolate") && incident.device_lost) {
    const Instant spares = spares_after(incident, *node);
    for (const EngineJob* job : jobs_on(*engine, name)) {
      const bool spared = spares.is_set() && job->started_at > spares;
      if (spared || is_check_work(*job)) continue;
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
    bool known = is_check_work(*job);
    for (const auto& hit : incident.jobs) known = known || hit.job == job->id;
    if (!known && incident.device_lost) landed += " " + job->id;
  }
  out.operations.push_back(
      note_incident(incident.id, std::string(refuses_work),
                    landed.empty() ? "no job landed in between" : "landed in between:" + landed));
}

/// By another way than a replacement of its own: the node came back, or a free one was bound to the
/// gap of several incidents.
bool is_whole_again(const Incident& incident, const Allocation& allocation) {
  const auto& status = allocation.status;
  if (status.phase != AllocationPhase::active || status.short_since.is_set()) return false;
  const bool over = incident.state != IncidentState::open && incident.state != IncidentState::rma;
  return over || status.phase_since > incident.opened_at;
}

/// So long after an allocation became active its engine may take to show a replacement.
constexpr Duration engine_answers_within = minutes(10);

void track_replacement(const View& view, const Incident& incident, Outcome& out) {
  if (incident.member_restored_at.is_set() || incident.node.empty()) return;
  const Allocation* allocation = view.reg.find(incident.allocation);
  const bool own = allocation && !incident.replacement.empty() &&
                   find_member(*allocation, incident.replacement) != nullptr;
  if (!own) {  // none came, or it left again
    if (allocation && is_whole_again(incident, *allocation)) {
      out.operations.push_back(record_restored(incident.id));
    }
    return;
  }
  const Cluster* cluster = allocation ? view.reg.find(allocation->cluster) : nullptr;
  const EngineObserved* engine = cluster ? fresh_engine(view, cluster->id) : nullptr;
  // Of one that has ended nobody looks again by himself.
  const bool ended = incident.state != IncidentState::open;
  if (ended && view.now - allocation->status.phase_since < engine_answers_within) {
    out.wake(view.now + seconds(5));
  }
  if (!engine) return;
  const EngineNode* seen = find_engine_node(*engine, engine_name(*cluster, incident.replacement));
  if (seen && seen->registered && !has_state(*seen, "DRAIN") && !has_state(*seen, "DOWN")) {
    out.operations.push_back(record_restored(incident.id));
  }
}

/// Which repairs were tried: "used up" of a fault that none was tried for would be untrue.
std::string why_vendor(const RemediationPolicy& policy, const Incident& incident) {
  std::vector<std::string> tried;
  for (const auto& act : incident.timeline) {
    const auto state = policy.states.find(act.what);
    if (act.key.empty() || state == policy.states.end()) continue;
    const auto& action = state->second.action;
    const bool repairs =
        action == "reset_gpus" || action == "reboot" || action == "power_cycle";
    const bool known = std::find(tried.begin(), tried.end(), act.what) != tried.end();
    if (repairs && !known && !waits_for_leave(act)) tried.push_back(act.what);
  }
  if (tried.empty()) return "no repair of ours helps against " + incident.fault;
  return "repaired in vain by " + join(tried, ", ");
}

void finish_policy(const View& view, const Incident& incident, const PolicyState& state,
                   Outcome& out) {
  if (is_stopped_by_brake(view.policy, state.action) && is_braked(view, incident.id)) {
    out.reason = "the brake stops " + state.action;
    return;
  }
  if (state.action == "open_rma") {
    out.operations.push_back(open_rma(incident.id, why_vendor(view.policy, incident)));
    return;
  }
  if (state.releases == Releases::every) {
    out.operations.push_back(override_others(incident.id, "released by the policy"));
  }
  out.operations.push_back(return_node(incident.id));
}

/// Charges it for the repairs of the same fault before it; false: it was charged already.
bool carry_spent(const View& view, const Incident& incident, Outcome& out) {
  auto spent = spent_before(view, incident);
  std::erase_if(spent, [&](const auto& one) {
    const auto own = incident.entries.find(one.first);
    return own != incident.entries.end() && own->second >= one.second;
  });
  if (spent.empty()) return false;
  out.operations.push_back(carry_budgets(incident.id, std::move(spent)));
  return true;
}

/// At first only a user's line said it: it is charged once hardware says it as well.
bool began_with_a_line(const Incident& incident) {
  return !incident.witnesses.empty() &&
         incident.witnesses.front().provenance == Provenance::userspace;
}

void enter_first_state(const View& view, const Incident& incident, Outcome& out) {
  // A policy that is loaded meanwhile begins anew; what was spent is spent already.
  const bool begins = incident.policy_state.empty();
  if (begins) (void)carry_spent(view, incident, out);
  if (begins && view.policy.claims == ClaimKeeping::slot) {
    out.operations.push_back(override_others(incident.id, "replaced: the policy keeps one claim"));
  }
  const auto& first = view.policy.states.at(view.policy.initial);
  out.operations.push_back(enter_policy_state(incident.id, incident.policy_state,
                                              view.policy.initial, first.action, first.doc,
                                              first.owner));
}

/// Who is called is told what went wrong last, not only where the policy stands.
std::string last_failure(const RemediationPolicy& policy, const Incident& incident) {
  for (auto act = incident.timeline.rbegin(); act != incident.timeline.rend(); ++act) {
    const auto state = policy.states.find(act->what);
    if (act->key.empty() || state == policy.states.end() || state->second.action.empty()) continue;
    const bool went_wrong =
        act->outcome == StepOutcome::failed || act->outcome == StepOutcome::timeout;
    return went_wrong ? "; " + act->what + ": " + act->detail : "";
  }
  return "";
}

void take_edge(const View& view, const Incident& incident, const PolicyStep& step, Outcome& out) {
  const PolicyState& next = view.policy.states.at(*step.go);
  if (step.escalate != Escalation::log) {
    const auto whom = enum_names(step.escalate)[static_cast<std::size_t>(step.escalate)];
    out.operations.push_back(note_incident(incident.id, "escalated: " + std::string(whom),
                                           "from " + incident.policy_state + " to " + *step.go +
                                               last_failure(view.policy, incident)));
  }
  out.operations.push_back(enter_policy_state(incident.id, incident.policy_state, *step.go,
                                              next.action, next.doc, next.owner));
}

/// The act of the current state as far as it can start. Checks whose preconditions do not hold are
/// waited for or left out, as the policy says; left out as a whole, the act is over.
void want_act(const View& view, const Incident& incident, const Node& node,
              const std::set<std::string>& facts, Outcome& out) {
  PolicyState state = view.policy.states.at(incident.policy_state);
  if (state.action == "run_checks") {
    const CheckPlan plan = plan_checks(view.policy, state, facts);
    if (!plan.waits.empty()) {
      out.reason = plan.waits;
      return;
    }
    if (plan.is_empty()) {
      out.operations.push_back(finish_act(incident.id, act_key(incident), StepOutcome::done,
                                          "no check could run: skipped", {}));
      return;
    }
    if (!state.checks.empty()) state.checks = plan.run;
  }
  if (auto action = action_for(view, incident, node, state)) {
    out.actions.push_back(std::move(*action));
  }
}

/// The record for the vendor; and a node that breaks too often is put before a person.
void follow_end(const View& view, const Incident& incident, Outcome& out) {
  const Rma* rma = find_rma(view.reg, incident.id);
  if (incident.state == IncidentState::rma && !rma) {
    out.operations.push_back(record_rma(incident.id));
  }
  if (incident.state != IncidentState::rma && rma && rma->state == RmaState::open) {
    out.operations.push_back(close_rma(incident.id));
  }
  if (!out.operations.empty()) return;  // the record counts
  if (!incident.hardware_witness || incident.drill) return;
  if (auto proposal = propose_retirement(view, incident.node)) {
    out.operations.push_back(open_proposal(std::move(*proposal)));
  }
}

}  // namespace

Outcome reconcile_incident(const View& view, const Incident& incident) {
  Outcome out;
  track_jobs(view, incident, out);
  track_gap(view, incident, out);
  track_replacement(view, incident, out);
  if (incident.state != IncidentState::open) {
    follow_end(view, incident, out);
    return out;
  }
  const Node* node = view.reg.find(incident.node);
  if (!node) return out;
  if (view.policy.states.empty()) {
    out.reason = "no proved policy is loaded: watched and claimed, nothing is done";
    return out;
  }
  const auto found = view.policy.states.find(incident.policy_state);
  if (incident.policy_state.empty() || found == view.policy.states.end()) {
    enter_first_state(view, incident, out);
    return out;
  }
  const PolicyState& state = found->second;
  const TimelineEntry* act = current_act(incident);
  const bool current = act && act->key == act_key(incident);
  // Under a hold, at `advise` or behind the brake nothing was tried: a deadline that ran then would
  // walk through every repair without doing one, up to the RMA of a node that nobody touched.
  const Instant clock =
      current && waits_for_leave(*act) ? std::min(view.now, incident.policy_since) : view.now;
  const auto facts = facts_of(view, incident);
  const PolicyStep step = policy_step(
      view.policy, {incident.policy_state, incident.policy_since, incident.entries}, facts, clock);
  if (step.go) {
    if (began_with_a_line(incident) && carry_spent(view, incident, out)) return out;
    take_edge(view, incident, step, out);
    return out;
  }
  if (state.final) {
    finish_policy(view, incident, state, out);
    return out;
  }
  if (step.wake_at.is_set()) out.wake(step.wake_at);
  out.reason = step.reason;
  const bool runs = current && is_open_act(*act);
  if (runs && !state.action.empty()) want_act(view, incident, *node, facts, out);
  return out;
}

}  // namespace tundish::control
