#include "control/runner/runner.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "control/fault/leave.hpp"
#include "control/fault/policy.hpp"
#include "control/permit/blast.hpp"
#include "control/runner/judged.hpp"
#include "model/ops/active_ops.hpp"
#include "model/ops/allocation_ops.hpp"
#include "model/ops/governance_ops.hpp"
#include "model/ops/incident_ops.hpp"
#include "model/ops/maintenance_ops.hpp"
#include "model/ops/node_ops.hpp"
#include "model/ops/node_report_ops.hpp"

namespace tundish::control {
namespace {

constexpr Duration most_pause = seconds(30);

std::string actor_of(const Action& action) {
  return action.incident.empty() ? "controller:runner" : "controller:" + action.incident.str();
}

VerbResult done_result(const std::string& key) {
  VerbResult result;
  result.key = key;
  result.ok = true;
  return result;
}

std::string storage_key(const StorageAct& act) {
  return act.ref.fabric + "/" + act.change.export_name;
}

/// What is touched by an act of no node and no cluster.
std::string place_of(const Action& action) {
  if (const auto* attach = std::get_if<AttachAct>(&action.act)) {
    return "switch/" + attach->port.switch_name;
  }
  if (const auto* fabric = std::get_if<FabricAct>(&action.act)) return "fabric/" + fabric->ref.name;
  const auto* storage = std::get_if<StorageAct>(&action.act);
  return storage ? "fabric/" + storage->ref.fabric : "";
}

Result<VerbResult> from(const Result<>& result, const std::string& key) {
  if (!result) return Error(result.error());
  return done_result(key);
}

}  // namespace

/// Decided on what was seen before the last act on the same thing ended: it may be done already,
/// and a requeue that is done twice stops a healthy job.
bool Runner::is_outdated(const Action& action) const {
  if (const auto* engine = std::get_if<EngineAct>(&action.act)) {
    const auto last = engines_.find(action.cluster);
    return last != engines_.end() && !last->second.is_before(engine->seen_at);
  }
  if (const auto* attach = std::get_if<AttachAct>(&action.act)) {
    const auto last = ports_.find({attach->port.switch_name, attach->port.port});
    return last != ports_.end() && (last->second.in_flight || !last->second.looked);
  }
  if (const auto* fabric = std::get_if<FabricAct>(&action.act)) {
    const auto last = fabrics_.find(fabric->ref.name);
    return last != fabrics_.end() && (last->second.in_flight || !last->second.looked);
  }
  if (const auto* storage = std::get_if<StorageAct>(&action.act)) {
    const auto last = storage_.find(storage_key(*storage));
    return last != storage_.end() && (last->second.in_flight || !last->second.looked);
  }
  return false;
}

/// A controller that is stopped while its set-up runs would be set up after the stop.
bool Runner::is_overtaking(const Action& action) const {
  if (action.name != "stop_controller") return false;
  return std::any_of(running_.begin(), running_.end(), [&](const auto& running) {
    const Running& act = running.second;
    return act.name == "setup_controller" && act.node == action.node &&
           act.cluster == action.cluster;
  });
}

void Runner::order(Action action, const View& view,
                   std::function<void(const Result<VerbResult>&)> done) {
  const Permit answer = permit(action, view, count_disruptive(view, action));
  listener_.on_permit(action, answer);
  if (answer.leave != Leave::execute) {
    return done(make_error(Code::denied, action.name + " is not permitted: " + answer.reason)
                    .with_remedy("raise the authority: tundish authority set"));
  }
  ordered_[action.key] = std::move(done);
  execute(std::move(action));
}

void Runner::submit(Action action, const View& view) {
  if (running_.contains(action.key) || is_outdated(action) || is_overtaking(action)) return;
  const auto retry = retries_.find(action.key);
  if (retry != retries_.end() && view.now < retry->second.not_before) return;
  const Permit answer = permit(action, view, count_disruptive(view, action));
  listener_.on_permit(action, answer);
  switch (answer.leave) {
    case Leave::execute:
      waiting_.erase(action.key);
      execute(std::move(action));
      return;
    case Leave::propose: propose(action, answer, view); return;
    case Leave::refuse: refuse(action, answer); return;
  }
}

/// A result that is recorded is a write as any other: tests end the process there, too.
Result<> Runner::perform(const Operation& operation, const Action& action,
                         const std::string& reason) {
  const auto done = ledger_.perform(operation, actor_of(action), reason);
  if (done) listener_.on_hook("op:" + std::string(operation.name()));
  return done;
}

/// Recorded, so that the incident tells why nothing happens and its deadlines wait.
void Runner::refuse(const Action& action, const Permit& answer) {
  waiting_[action.key] = answer.reason;
  if (action.result_to != ResultTo::incident_act) return;
  (void)perform(*refuse_act(action.incident, action.key, answer.reason), action, answer.reason);
}

void Runner::propose(const Action& action, const Permit& answer, const View& view) {
  waiting_[action.key] = answer.reason + "; approve or deny with: tundish proposal list";
  Proposal proposal;
  proposal.action_key = action.key;
  proposal.group = action.group;
  proposal.action = action.name;
  proposal.object = action.node.empty() ? action.cluster.str() : action.node.str();
  if (const Node* node = view.reg.find(action.node)) proposal.object = "node/" + node->meta.name;
  if (proposal.object.empty()) proposal.object = place_of(action);
  proposal.reason = action.reason.empty() ? answer.reason
                                          : action.reason + " (" + answer.reason + ")";
  proposal.expires_at = view.now + view.limits.proposal_life;
  (void)perform(*open_proposal(std::move(proposal)), action, answer.reason);
  if (action.result_to == ResultTo::incident_act) {
    (void)perform(*propose_act(action.incident, action.key, answer.reason), action, answer.reason);
  }
}

InFlight Runner::count_disruptive(const View& view, const Action& action) const {
  InFlight out;
  if (!is_stopped_by_brake(view.policy, action.name)) return out;
  for (const auto& [id, incident] : view.reg.all<Incident>()) {
    if (id == action.incident || incident.state != IncidentState::open) continue;
    const auto state = view.policy.states.find(incident.policy_state);
    if (state == view.policy.states.end()) continue;
    const auto& name = state->second.action;
    const TimelineEntry* act = current_act(incident);
    if (is_disruptive_action(name) && act && act->outcome != StepOutcome::proposed) {
      if (running_.contains(act->key) || act->outcome == StepOutcome::done) ++out.disruptive;
    }
  }
  return out;
}

void Runner::execute(Action action) {
  running_[action.key] = {scheduler_.now(), action.name, action.node, action.cluster};
  listener_.on_hook("act:" + action.name + ":start");
  if (action.result_to == ResultTo::incident_act) {
    (void)perform(*resume_act(action.incident, action.key), action, action.name);
  }
  if (std::holds_alternative<EngineAct>(action.act)) {
    engines_[action.cluster] = {true, scheduler_.now() + action.limit};
  }
  if (const auto* attach = std::get_if<AttachAct>(&action.act)) {
    ports_[{attach->port.switch_name, attach->port.port}] = {true, scheduler_.now() + action.limit};
    listener_.on_port_unknown(attach->port);
  }
  if (const auto* fabric = std::get_if<FabricAct>(&action.act)) {
    fabrics_[fabric->ref.name] = {true, scheduler_.now() + action.limit};
  }
  if (const auto* storage = std::get_if<StorageAct>(&action.act)) {
    storage_[storage_key(*storage)] = {true, scheduler_.now() + action.limit};
    listener_.on_export_unknown(storage->ref.fabric, storage->change);
  }
  const std::weak_ptr<int> alive = alive_;
  const auto finish = [this, alive, action](Result<VerbResult> result) {
    if (alive.expired()) return;
    complete(action, result);
  };
  if (const auto* verb = std::get_if<VerbAct>(&action.act)) {
    start_verb(action, verb->call);
  } else if (const auto* power = std::get_if<PowerAct>(&action.act)) {
    const Node* node = ledger_.view().find(action.node);
    drivers_.bmc.start(node ? node->spec.bmc_address : "", power->verb, action.limit,
                       [finish, key = action.key](Result<> result) { finish(from(result, key)); });
  } else if (const auto* attach = std::get_if<AttachAct>(&action.act)) {
    drivers_.switches.attach(
        attach->port, attach->intent, action.limit,
        [finish, key = action.key](Result<> result) { finish(from(result, key)); });
  } else if (const auto* fabric = std::get_if<FabricAct>(&action.act)) {
    drivers_.fabrics.apply(
        fabric->ref, fabric->desired, action.limit,
        [finish, key = action.key](Result<> result) { finish(from(result, key)); });
  } else if (const auto* storage = std::get_if<StorageAct>(&action.act)) {
    start_storage(action, *storage, finish);
  } else if (const auto* engine = std::get_if<EngineAct>(&action.act)) {
    start_engine(action, *engine);
  } else if (const auto* inject = std::get_if<InjectAct>(&action.act)) {
    start_injection(*inject, finish, action.key);
  } else if (const auto* leave = std::get_if<PermitClaimsAct>(&action.act)) {
    const auto permitted = perform(*permit_claims(leave->incident), action, action.reason);
    finish(from(permitted, action.key));
  } else if (const auto* window = std::get_if<PermitWindowAct>(&action.act)) {
    const auto permitted =
        perform(*permit_maintenance(window->maintenance, action.node), action, action.reason);
    finish(from(permitted, action.key));
  }
}

void Runner::start_verb(const Action& action, VerbCall call) {
  const auto retry = retries_.find(action.key);
  const int failures = retry == retries_.end() ? 0 : retry->second.failures;
  call.key = action.key + "#" + std::to_string(failures);
  call.limit_ms = action.limit.ms();
  if (const RunChecks* checks = leased_checks(action)) {
    leased_[action.key] = {{action.key, call.key, action.node, action.incident, checks->active,
                            scheduler_.now(), action.asked_by, checks->work.has_value()},
                           action};
  }
  const std::weak_ptr<int> alive = alive_;
  drivers_.agents.start(action.node, std::move(call), action.limit,
                        [this, alive, action](Result<VerbResult> result) {
                          if (alive.expired()) return;
                          complete_leased(action, result);
                          complete(action, result);
                        });
}

void Runner::start_storage(const Action& action, const StorageAct& act, Finish finish) {
  if (!drivers_.storage) {
    return finish(make_error(Code::unsupported, "no storage is driven here"));
  }
  drivers_.storage->apply(act.ref, act.change, action.limit,
                          [finish = std::move(finish), key = action.key](Result<> result) {
                            finish(from(result, key));
                          });
}

void Runner::start_injection(const InjectAct& act, const Finish& finish, const std::string& key) {
  if (!drivers_.injector) {
    return finish(make_error(Code::unsupported, "faults cannot be injected here"));
  }
  drivers_.injector->start(act.injection,
                           [finish, key](Result<> result) { finish(from(result, key)); });
}

void Runner::start_engine(const Action& action, const EngineAct& act) {
  const std::weak_ptr<int> alive = alive_;
  drivers_.engine.apply(action.key, act.controller, act.cluster_name, act.commands, action.limit,
                        [this, alive, action](Result<> result) {
                          if (alive.expired()) return;
                          complete(action, from(result, action.key));
                        });
}

void Runner::complete(const Action& action, const Result<VerbResult>& result) {
  const auto started = running_.find(action.key);
  const Duration acting =
      started == running_.end() ? Duration{} : scheduler_.now() - started->second.since;
  running_.erase(action.key);
  if (ordered_.contains(action.key)) {
    if (action.result_to == ResultTo::active_checks) record_active(action, result);
    return complete_order(action, result);
  }
  // A run that was ended is made again, and the agent must not take it for the one that it knows.
  const bool ended = result && std::any_of(result->verdicts.begin(), result->verdicts.end(),
                                           is_preempted);
  const bool ok = result && result->ok && !ended;
  if (ok) {
    close_approval(action);
    retries_.erase(action.key);
    listener_.on_outcome(action, "");
  } else {
    Retry& retry = retries_[action.key];
    ++retry.failures;
    const Duration pause = std::min(most_pause, seconds(1) * (1LL << std::min(retry.failures, 5)));
    retry.not_before = scheduler_.now() + pause;
    const std::string why = result ? result->what : result.error().message();
    waiting_[action.key] = action.name + " failed: " + why;
    // Who was ended on purpose did not fail.
    if (!ended) listener_.on_outcome(action, why);
    log(LogLevel::warn, "act_failed",
        {{"act", action.name}, {"key", action.key}, {"why", why}, {"try", retry.failures}});
  }
  listener_.on_hook("act:" + action.name + ":end");
  record(action, result, acting);
  if (const auto* attach = std::get_if<AttachAct>(&action.act)) {
    ports_[{attach->port.switch_name, attach->port.port}] = {false, scheduler_.now()};
    read_switch(attach->port, attach->intent.ownership);
  }
  if (const auto* fabric = std::get_if<FabricAct>(&action.act)) {
    fabrics_[fabric->ref.name] = {false, scheduler_.now()};
    read_fabric(fabric->ref);
  }
  if (const auto* storage = std::get_if<StorageAct>(&action.act)) {
    storage_[storage_key(*storage)] = {false, scheduler_.now()};
    read_storage(storage->ref);
  }
  if (const auto* engine = std::get_if<EngineAct>(&action.act)) {
    engines_[action.cluster] = {false, scheduler_.now()};
    observe_engine(action.cluster, engine->cluster_name, engine->controller);
  }
  listener_.on_finished(action);
}

/// What was approved is done. The approval of an incident or a window covers further acts as well.
void Runner::close_approval(const Action& action) {
  if (!is_of_order(action.group)) return;
  std::vector<Id<Proposal>> done;
  for (const auto& [id, proposal] : ledger_.view().all<Proposal>()) {
    const bool covers =
        proposal.state == ProposalState::approved && proposal.group == action.group;
    if (covers) done.push_back(id);
  }
  for (const auto& id : done) (void)perform(*close_proposal(id, "done"), action, "done");
}

void Runner::complete_order(const Action& action, const Result<VerbResult>& result) {
  const auto done = std::move(ordered_.extract(action.key).mapped());
  listener_.on_hook("act:" + action.name + ":end");
  listener_.on_finished(action);
  done(result);
}

/// What a node answered to people's questions: a maintenance's end, a tenant's report.
void Runner::record_answer(const Action& action, const Result<VerbResult>& result) {
  if (action.result_to == ResultTo::load) {
    const bool told = result && result->ok;
    return listener_.on_load(action.node, told ? result->load : std::nullopt);
  }
  if (action.result_to == ResultTo::active_checks) return record_active(action, result);
  if (!result || result->verdicts.empty()) return;
  const auto operation =
      action.result_to == ResultTo::report_checks
          ? record_report_checks(action.report, result->verdicts)
          : record_maintenance_checks(action.maintenance, action.node, result->verdicts);
  const auto done = perform(*operation, action, action.name);
  if (!done) {
    log(LogLevel::warn, "result_not_recorded",
        {{"act", action.name}, {"why", done.error().message()}});
  }
}

void Runner::record(const Action& action, const Result<VerbResult>& result, Duration acting) {
  const bool ok = result && result->ok;
  std::string detail = result ? result->what : result.error().message();
  const bool late = !result && result.error().code == Code::timeout;
  const auto store = [&](const OperationPtr& operation) {
    const auto done = perform(*operation, action, action.name);
    if (!done) {
      log(LogLevel::warn, "result_not_recorded",
          {{"act", action.name}, {"why", done.error().message()}});
    }
  };
  switch (action.result_to) {
    case ResultTo::nobody: break;
    case ResultTo::incident_act: {
      const StepOutcome outcome = ok     ? StepOutcome::done
                                  : late ? StepOutcome::timeout
                                         : StepOutcome::failed;
      store(finish_act(action.incident, action.key, outcome, detail, acting));
      break;
    }
    case ResultTo::incident_checks: {
      if (result && !result->verdicts.empty()) {
        record_proof(action, *result);
        const Judged judged = judge_proof(ledger_.view().find(action.incident), result->verdicts);
        store(record_incident_verdicts(action.incident, action.key, judged.verdicts,
                                       judged.outcome));
        if (judged.outcome == StepOutcome::failed) store(confirm_hardware(action.incident));
      } else {
        store(finish_act(action.incident, action.key, StepOutcome::timeout, detail, acting));
      }
      break;
    }
    case ResultTo::node_checks:
      if (result && !result->verdicts.empty()) {
        store(record_check_run(action.node, result->verdicts, all_ok(result->verdicts)));
      }
      break;
    case ResultTo::node_phase: {
      const Node* node = ledger_.view().find(action.node);
      if (ok && node) store(set_node_phase(action.node, node->status.phase, action.next_phase));
      break;
    }
    case ResultTo::member_joined:
      if (ok) {
        const bool joined = action.name == "setup_node";
        store(mark_joined(action.allocation, action.node, joined,
                          joined ? action.config_hash : std::string()));
      }
      break;
    case ResultTo::active_checks:
    case ResultTo::maintenance_checks:
    case ResultTo::report_checks:
    case ResultTo::load: record_answer(action, result); break;
    case ResultTo::controller_ready:
      if (ok) store(record_controller(action.cluster, true, action.config_hash, action.users));
      break;
  }
}

void Runner::observe_engine(const ClusterId& cluster, const std::string& name,
                            const NodeId& controller) {
  if (looking_.contains(cluster)) return;
  looking_.insert(cluster);
  const std::weak_ptr<int> alive = looks_;
  const Instant asked = scheduler_.now();
  drivers_.engine.observe(
      controller, name, seconds(10),
      [this, alive, cluster, name, controller, asked](Result<EngineObserved> result) {
        if (alive.expired()) return;
        looking_.erase(cluster);
        EngineObserved observed;
        if (result) {
          observed = std::move(*result);
        } else {
          observed.fault = result.error().message();
        }
        observed.at = asked;  // it shows the engine as it was then, or later
        listener_.on_engine(cluster, std::move(observed));
        const auto last = engines_.find(cluster);
        const bool old = last != engines_.end() && last->second.ended >= asked;
        if (old && !last->second.in_flight) observe_engine(cluster, name, controller);
      });
}

void Runner::read_switch(const PortRef& port, const SwitchOwnership& ownership) {
  if (reading_.contains(port.switch_name)) return;
  reading_.insert(port.switch_name);
  const std::weak_ptr<int> alive = looks_;
  const Instant asked = scheduler_.now();
  drivers_.switches.read(
      port, ownership, seconds(10),
      [this, alive, port, ownership, asked](Result<SwitchReading> result) {
        if (alive.expired()) return;
        reading_.erase(port.switch_name);
        if (!result) {
          log(LogLevel::warn, "switch_not_read",
              {{"switch", port.switch_name}, {"why", result.error().message()}});
          listener_.on_switch_silent(port.switch_name, result.error());
          return;
        }
        // A port that was written meanwhile may have been read before the write.
        bool again = false;
        std::erase_if(result->ports, [&](const PortObserved& seen) {
          const auto last = ports_.find({seen.switch_name, seen.port});
          if (last == ports_.end()) return false;
          last->second.looked = last->second.looked || last->second.is_before(asked);
          again = again || (!last->second.in_flight && last->second.ended >= asked);
          return !last->second.is_before(asked);
        });
        listener_.on_switch(port.switch_name, std::move(*result), asked);
        if (again) read_switch(port, ownership);
      });
}

void Runner::read_fabric(const FabricRef& ref) {
  if (reading_fabrics_.contains(ref.name)) return;
  reading_fabrics_.insert(ref.name);
  const std::weak_ptr<int> alive = looks_;
  const Instant asked = scheduler_.now();
  drivers_.fabrics.read(ref, seconds(20), [this, alive, ref, asked](Result<FabricReading> result) {
    if (alive.expired()) return;
    reading_fabrics_.erase(ref.name);
    if (!result) {
      log(LogLevel::warn, "fabric_not_read",
          {{"fabric", ref.name}, {"why", result.error().message()}});
      return listener_.on_fabric_silent(ref.name, result.error());
    }
    const auto last = fabrics_.find(ref.name);
    if (last != fabrics_.end() && !last->second.is_before(asked)) {
      // It may show the fabric as it was before the write.
      if (!last->second.in_flight) read_fabric(ref);
      return;
    }
    if (last != fabrics_.end()) last->second.looked = true;
    listener_.on_fabric(ref.name, std::move(*result), asked);
  });
}

void Runner::read_storage(const StorageRef& ref) {
  if (!drivers_.storage || reading_storage_.contains(ref.fabric)) return;
  reading_storage_.insert(ref.fabric);
  const std::weak_ptr<int> alive = looks_;
  const Instant asked = scheduler_.now();
  drivers_.storage->read(ref, seconds(10), [this, alive, ref, asked](Result<StorageSeen> result) {
    if (alive.expired()) return;
    reading_storage_.erase(ref.fabric);
    if (!result) {
      log(LogLevel::warn, "storage_not_read",
          {{"fabric", ref.fabric}, {"why", result.error().message()}});
      return listener_.on_storage(ref.fabric, std::move(result), asked);
    }
    bool again = false, old = false;
    for (auto& [key, last] : storage_) {
      if (!key.starts_with(ref.fabric + "/")) continue;
      last.looked = last.looked || last.is_before(asked);
      again = again || (!last.in_flight && last.ended >= asked);
      old = old || !last.is_before(asked);
    }
    // It may show an export as it was before the write.
    if (!old) listener_.on_storage(ref.fabric, std::move(result), asked);
    if (again) read_storage(ref);
  });
}

void Runner::read_bmc(const NodeId& node, const std::string& address) {
  if (!reading_bmcs_.insert(node).second) return;
  const std::weak_ptr<int> alive = looks_;
  drivers_.bmc.read(address, seconds(5), [this, alive, node](Result<BmcReading> result) {
    if (alive.expired()) return;
    reading_bmcs_.erase(node);
    listener_.on_bmc(node, result);
  });
}

std::string Runner::waiting_reason(const std::string& key) const {
  const auto it = waiting_.find(key);
  return it == waiting_.end() ? "" : it->second;
}

void Runner::forget() {
  running_.clear();
  ended_leases_.clear();
  retries_.clear();
  waiting_.clear();
  // A look shows what is there, whatever the store did: it goes on, or nobody would see anything
  // for as long as a disk is full. Results of acts are ignored from here on, so what is on its way
  // may land until its deadline.
  for (auto& [cluster, write] : engines_) write.in_flight = false;
  for (auto& [port, write] : ports_) write.in_flight = false;
  for (auto& [fabric, write] : fabrics_) write.in_flight = false;
  for (auto& [name, write] : storage_) write.in_flight = false;
  alive_ = std::make_shared<int>(0);
  for (const auto& [key, leased] : std::exchange(leased_, {})) {
    drivers_.agents.stop(leased.run.node, leased.run.call_key);
  }
  for (const auto& [key, done] : std::exchange(ordered_, {})) {
    done(make_error(Code::unavailable, "the store failed meanwhile; whether it happened is unknown")
             .about(key));
  }
}

}  // namespace tundish::control
