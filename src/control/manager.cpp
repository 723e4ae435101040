#include "control/manager.hpp"

#include <algorithm>
#include <tuple>

#include "base/log.hpp"
#include "control/allocation/reconcile_allocation.hpp"
#include "control/cluster/drained.hpp"
#include "control/fault/reconcile_incident.hpp"
#include "control/health/reconcile_health.hpp"
#include "control/maintenance/reconcile_maintenance.hpp"
#include "control/network/tombstones.hpp"
#include "control/node/reconcile_node.hpp"
#include "control/peers/reconcile_report.hpp"
#include "model/ops/allocation_ops.hpp"
#include "model/ops/node_ops.hpp"
#include "model/ops/pool.hpp"

namespace tundish::control {
namespace {

/// More looks at one object within one pump than any chain of steps needs: two controllers
/// undoing each other.
constexpr int most_rounds = 200;
/// Between looks at what wants an act that is refused, in flight or failed a moment ago.
constexpr Duration busy_interval = seconds(1);
/// Between two tries while the store refuses: a full disk does not empty in a moment.
constexpr Duration refused_pause = seconds(1);

std::string_view actor_name(int kind) {
  static constexpr std::string_view names[] = {
      "controller:incident",    "controller:allocation", "controller:cluster", "controller:node",
      "controller:maintenance", "controller:report",     "controller:health",
      "controller:active"};
  return names[kind];
}

auto parts_of(const EngineNode& node) {
  return std::tie(node.name, node.states, node.reason, node.allocated_cpus, node.registered);
}
auto parts_of(const EngineJob& job) {
  return std::tie(job.id, job.state, job.nodes, job.restarts, job.requeueable, job.begin_time_s,
                  job.started_at);
}

/// Equal in all that a decision reads; the time of looking is not.
bool shows_same(const EngineObserved& a, const EngineObserved& b) {
  const auto same = [](const auto& x, const auto& y) { return parts_of(x) == parts_of(y); };
  return a.reachable == b.reachable && a.fault == b.fault && a.started_at == b.started_at &&
         a.partition_nodes == b.partition_nodes && a.check_nodes == b.check_nodes &&
         a.can_preempt == b.can_preempt && std::ranges::equal(a.nodes, b.nodes, same) &&
         std::ranges::equal(a.jobs, b.jobs, same);
}

}  // namespace

Manager::Manager(ManagerParts parts)
    : parts_(std::move(parts)), runner_(parts_.ledger, parts_.scheduler, parts_.drivers, *this) {
  parts_.ledger.on_change([this](const Change& change) { touch_change(change); });
  parts_.ledger.on_reload([this] {
    runner_.forget();
    fleet_.reset();
    touch_all();
  });
}

void Manager::start() {
  seen_.started_at = parts_.scheduler.now();
  touch_all();
  arm();
}

View Manager::view() const {
  // What is rehearsed is taken back without a word: the memo must not see it.
  FleetCache* fleet = parts_.ledger.is_rehearsing() ? nullptr : &fleet_;
  return {parts_.ledger.view(), seen_, parts_.policy, parts_.limits, parts_.scheduler.now(), fleet};
}

std::string Manager::reason_of(const std::string& object) const {
  const auto it = reasons_.find(object);
  return it == reasons_.end() ? "" : it->second;
}

void Manager::touch(Kind kind, const std::string& id) {
  if (id.empty()) return;
  due_.insert({kind, id});
  schedule_pump();
}

void Manager::touch_node(const NodeId& id) {
  const Registry& reg = parts_.ledger.view();
  touch(Kind::node, id.str());
  for (const auto& incident : reg.incidents_on(id)) touch(Kind::incident, incident.str());
  if (const Node* node = reg.find(id)) {
    touch(Kind::allocation, node->status.allocation.str());
    if (const Allocation* held = reg.find(node->status.allocation)) {
      touch(Kind::cluster, held->cluster.str());
    }
  }
}

void Manager::touch_change(const Change& change) {
  const auto body = [&]<class T>(T*) -> const T* {
    const auto* holder = dynamic_cast<const Holder<T>*>(change.body.get());
    return holder ? &holder->value : nullptr;
  };
  if (change.kind == Node::kind) {
    fleet_.touch_node(NodeId(change.id));
    touch_node(NodeId(change.id));
    touch_health(NodeId(change.id));
    want_bmc(NodeId(change.id));
    // A node that became free may be the spare that an allocation waits for.
    const Node* node = body(static_cast<Node*>(nullptr));
    if (node && node->status.phase == NodePhase::ready) {
      touch_allocations();
      if (!wakes_.contains({Kind::active, "site"})) touch(Kind::active, "site");
    }
  } else if (const Claim* claim = body(static_cast<Claim*>(nullptr))) {
    fleet_.touch_node(claim->node);
    touch_node(claim->node);
    touch_windows(claim->node);
    touch(Kind::incident, claim->incident.str());
  } else if (const Incident* incident = body(static_cast<Incident*>(nullptr))) {
    touch(Kind::incident, change.id);
    touch_node(incident->node);
    touch_health(incident->node);
    touch_windows(incident->node);
    changed_incidents_.insert(change.id);
  } else if (const Allocation* held = body(static_cast<Allocation*>(nullptr))) {
    touch(Kind::allocation, change.id);
    touch(Kind::cluster, held->cluster.str());
    touch_short_incidents(*held);
    for (const auto& member : held->status.nodes) {
      for (const auto& id : parts_.ledger.view().incidents_on(member.node)) {
        touch(Kind::incident, id.str());
      }
    }
  } else if (const Cluster* cluster = body(static_cast<Cluster*>(nullptr))) {
    touch(Kind::cluster, change.id);
    touch(Kind::allocation, cluster->status.allocation.str());
    if (cluster->spec.allow_checks) touch(Kind::active, "site");
  } else if (change.kind == Maintenance::kind) {
    touch_maintenance(change.id, body(static_cast<Maintenance*>(nullptr)));
  } else if (change.kind == AgentCursor::kind) {
    touch_health(NodeId(change.id));
  } else if (change.kind == NodeReport::kind) {
    touch(Kind::report, change.id);
  } else if (change.kind == Hold::kind || change.kind == Authority::kind ||
             change.kind == Proposal::kind || change.kind == User::kind ||
             change.kind == Sku::kind || change.kind == Switch::kind) {
    touch_all();
  }
  // A SKU says how many GPUs its nodes count for; a claim that is gone names no node.
  const bool lost_claim = change.kind == Claim::kind && !change.body;
  if (change.kind == Sku::kind || lost_claim) fleet_.reset();
}

void Manager::touch_windows(const NodeId& node) {
  for (const auto& id : parts_.ledger.view().windows_of(node)) {
    touch(Kind::maintenance, id.str());
  }
}

/// Its nodes may be handed out no more, or again; their incidents may be acted on again.
void Manager::touch_maintenance(const std::string& id, const Maintenance* maintenance) {
  touch(Kind::maintenance, id);
  if (!maintenance) return;
  for (const auto& one : maintenance->nodes) {
    fleet_.touch_node(one.node);
    touch_node(one.node);
  }
}

void Manager::set_policy(RemediationPolicy policy) {
  parts_.policy = std::move(policy);
  touch_all();
  pump_soon();
}

void Manager::touch_all() {
  const Registry& reg = parts_.ledger.view();
  for (const auto& [id, object] : reg.all<Node>()) due_.insert({Kind::node, id.str()});
  for (const auto& [id, object] : reg.all<Allocation>()) due_.insert({Kind::allocation, id.str()});
  for (const auto& [id, object] : reg.all<Cluster>()) due_.insert({Kind::cluster, id.str()});
  for (const auto& [id, object] : reg.all<Maintenance>()) {
    if (!is_over(object)) due_.insert({Kind::maintenance, id.str()});
  }
  for (const auto& [id, object] : reg.all<NodeReport>()) {
    if (object.state == ReportState::testing) due_.insert({Kind::report, id.str()});
  }
  for (const auto& [id, object] : reg.all<Incident>()) {
    if (object.state == IncidentState::open) due_.insert({Kind::incident, id.str()});
  }
  list_unwell();
  list_bmcs();
  due_.insert({Kind::active, "site"});
  schedule_pump();
}

void Manager::schedule_pump() {
  if (pump_scheduled_ || pumping_) return;
  pump_scheduled_ = true;
  // What the store refused is wanted again at once, and would be refused again.
  const Instant after = refused_at_.is_set() ? refused_at_ + refused_pause : Instant{};
  parts_.scheduler.at(std::max(parts_.scheduler.now(), after), [this] {
    pump_scheduled_ = false;
    pump();
  });
}

Outcome Manager::reconcile(const Key& key) const {
  const View now = view();
  switch (key.first) {
    case Kind::incident:
      if (const auto* found = now.reg.find(IncidentId(key.second))) {
        return reconcile_incident(now, *found);
      }
      break;
    case Kind::allocation:
      if (const auto* found = now.reg.find(AllocationId(key.second))) {
        return reconcile_allocation(now, *found);
      }
      break;
    case Kind::cluster:
      if (const auto* found = now.reg.find(ClusterId(key.second))) {
        return reconcile_cluster(now, *found, parts_.drivers.engine, parts_.secrets);
      }
      break;
    case Kind::node:
      if (const auto* found = now.reg.find(NodeId(key.second))) return reconcile_node(now, *found);
      break;
    case Kind::maintenance:
      if (const auto* found = now.reg.find(MaintenanceId(key.second))) {
        return reconcile_maintenance(now, *found);
      }
      break;
    case Kind::report:
      if (const auto* found = now.reg.find(NodeReportId(key.second))) {
        return reconcile_report(now, *found);
      }
      break;
    case Kind::health: return health::reconcile_health(now, unwell_);
    case Kind::active: return reconcile_active(now, runner_.active_runs());
  }
  return {};
}

void Manager::note(const Key& key, const Outcome& outcome) {
  reasons_[key.second] = outcome.reason;
  const auto known = wakes_.find(key);
  if (known != wakes_.end()) {
    wake_order_.erase({known->second, key});
    wakes_.erase(known);
  }
  // A time that has come was judged just now; to wake for it again would never end.
  if (outcome.wake_at > parts_.scheduler.now()) {
    wakes_[key] = outcome.wake_at;
    wake_order_.insert({outcome.wake_at, key});
  }
  const auto keep = [&key](std::set<Key>& set, bool in) {
    if (in) {
      set.insert(key);
    } else {
      set.erase(key);
    }
  };
  // Active checks have time: they say themselves when to look again.
  keep(restless_, !outcome.actions.empty() && key.first != Kind::active);
  keep(moving_, is_unsettled(key));
}

/// Under way: what it waits for shows in the engine, which is looked at more often meanwhile.
bool Manager::is_unsettled(const Key& key) const {
  const Registry& reg = parts_.ledger.view();
  switch (key.first) {
    case Kind::incident: {
      const auto* found = reg.find(IncidentId(key.second));
      return found && found->state == IncidentState::open;
    }
    case Kind::allocation: {
      const auto* found = reg.find(AllocationId(key.second));
      if (!found) return false;
      const auto phase = found->status.phase;
      return (phase != AllocationPhase::active && phase != AllocationPhase::degraded) ||
             count_role(*found, MemberRole::leaving) > 0;
    }
    case Kind::cluster: {
      const auto* found = reg.find(ClusterId(key.second));
      return found && found->status.phase != ClusterPhase::active;
    }
    case Kind::maintenance: {
      const auto* found = reg.find(MaintenanceId(key.second));
      return found && found->state == MaintenanceState::active;
    }
    case Kind::report:
    case Kind::health:
    case Kind::active:
    case Kind::node: return false;  // what it waits for touches it, or it says when to look
  }
  return false;
}

void Manager::decide(std::vector<Action>& actions) {
  std::map<Key, int> rounds;
  std::map<Key, std::vector<Action>> wanted;
  while (!due_.empty()) {
    const Key key = *due_.begin();
    due_.erase(due_.begin());
    if (++rounds[key] > most_rounds) {
      log(LogLevel::error, "controllers_do_not_settle", {{"object", key.second}});
      continue;
    }
    Outcome outcome = reconcile(key);
    note(key, outcome);
    for (const auto& operation : outcome.operations) {
      const auto done = parts_.ledger.perform(
          *operation, std::string(actor_name(static_cast<int>(key.first))), outcome.reason);
      if (!done) {
        log(LogLevel::info, "operation_refused",
            {{"operation", operation->name()}, {"why", done.error().message()}});
      } else {
        on_hook("op:" + std::string(operation->name()));
      }
    }
    wanted[key] = std::move(outcome.actions);
  }
  for (auto& [key, list] : wanted) {
    note_groups(key, list);
    for (auto& action : list) actions.push_back(std::move(action));
  }
}

void Manager::pump() {
  if (pumping_) return;
  pumping_ = true;
  std::vector<Action> actions;
  decide(actions);
  close_moot_proposals();
  const bool durable = parts_.ledger.flush().has_value();
  refused_at_ = durable ? Instant{} : parts_.scheduler.now();
  if (durable) {
    on_hook("commit");
    std::set<std::string> changed;
    std::swap(changed, changed_incidents_);
    for (const auto& id : changed) {
      const Incident* incident = parts_.ledger.view().find(IncidentId(id));
      if (incident && parts_.on_incident) parts_.on_incident(*incident);
    }
    // First: what wants a node now waits for no check that still runs on it.
    runner_.end_leases(view());
    for (auto& action : actions) runner_.submit(std::move(action), view());
  }
  pumping_ = false;
  if (!due_.empty() || parts_.ledger.has_pending()) schedule_pump();
  arm();
}

void Manager::heard(const NodeId& node, const std::string& boot_id, bool on_hold) {
  Presence& presence = seen_.presence[node];
  const Instant now = parts_.scheduler.now();
  const bool was_silent = now - presence.last_heard >= parts_.limits.silent_after;
  const bool new_boot = presence.boot_id != boot_id;
  presence.last_heard = now;
  if (was_silent) presence.heard_since = now;
  presence.on_hold = on_hold;
  if (new_boot) presence.boot_id = boot_id;
  if (new_boot) {
    (void)parts_.ledger.perform(*record_boot(node, boot_id), "agent:" + node.str(), "new boot");
  }
  if (was_silent) fleet_.touch_node(node);
  if (was_silent || new_boot) touch_node(node);
  if (was_silent || new_boot) touch_health();
  const Node* known = was_silent ? parts_.ledger.view().find(node) : nullptr;
  if (known && known->status.phase == NodePhase::ready) touch_allocations();
}

void Manager::set_hold_file(bool present) {
  if (seen_.hold_file == present) return;
  seen_.hold_file = present;
  touch_all();
}

void Manager::arm() {
  const Instant at = next_beat();
  if (!at.is_set() || (beat_at_.is_set() && beat_at_ <= at)) return;
  beat_at_ = at;
  parts_.scheduler.at(at, [this, at] {
    if (beat_at_ != at) return;  // an earlier one was armed in between
    beat_at_ = {};
    beat();
  });
}

Instant Manager::next_beat() const {
  Instant next;
  const auto take = [&next](Instant at) {
    if (!next.is_set() || at < next) next = at;
  };
  if (!restless_.empty()) take(busy_at_ + busy_interval);
  if (!wake_order_.empty()) take(wake_order_.begin()->first);
  if (!bmc_due_.empty()) take(bmc_due_.begin()->first);
  const Registry& reg = parts_.ledger.view();
  for (const auto& [id, cluster] : reg.all<Cluster>()) {
    if (cluster.status.controller_ready) take(next_look(id, cluster));
  }
  for (const auto& [id, device] : reg.all<Switch>()) {
    if (device.spec.management_url.empty()) continue;
    const auto read = switch_read_.find(id.str());
    take(read == switch_read_.end() ? Instant{1} : read->second + parts_.limits.port_interval);
  }
  for (const auto& [id, entry] : reg.all<PoolEntry>()) {
    if (entry.state != PoolState::tombstone || !entry.seen_absent) continue;
    const Instant due = network::rest_end(view(), entry);
    // One that is due and still here waits for a look, which has a time of its own.
    if (due > parts_.scheduler.now()) take(due);
  }
  for (const auto& [id, fabric] : reg.all<Fabric>()) {
    if (fabric.spec.management_url.empty()) continue;
    const auto read = fabric_read_.find(id.str());
    take(read == fabric_read_.end() ? Instant{1} : read->second + parts_.limits.port_interval);
  }
  for (const auto& [id, fabric] : reg.all<Fabric>()) {
    if (fabric.spec.storage_url.empty()) continue;
    const auto read = storage_read_.find(id.str());
    take(read == storage_read_.end() ? Instant{1} : read->second + parts_.limits.port_interval);
  }
  return next;
}

void Manager::beat() {
  const Instant now = parts_.scheduler.now();
  while (!wake_order_.empty() && wake_order_.begin()->first <= now) {
    const Key key = wake_order_.begin()->second;
    wake_order_.erase(wake_order_.begin());
    wakes_.erase(key);
    due_.insert(key);
  }
  if (!restless_.empty() && now - busy_at_ >= busy_interval) {
    busy_at_ = now;
    touch_restless();
  }
  look_at_engines(now);
  read_switches(now);
  read_fabrics(now);
  read_storage(now);
  read_bmcs(now);
  free_tombstones();
  if (!due_.empty() || parts_.ledger.has_pending()) schedule_pump();
  arm();
}

void Manager::touch_restless() {
  const Registry& reg = parts_.ledger.view();
  for (const auto& key : restless_) {
    due_.insert(key);
    if (key.first != Kind::incident) continue;
    const auto* incident = reg.find(IncidentId(key.second));
    const Allocation* held = incident ? reg.find(incident->allocation) : nullptr;
    if (!held) continue;
    due_.insert({Kind::allocation, held->id.str()});
    due_.insert({Kind::cluster, held->cluster.str()});
  }
}

/// Nothing of the cluster is under way, so its engine may be looked at less often.
bool Manager::is_quiet(const Cluster& cluster) const {
  const Key mine{Kind::cluster, cluster.id.str()};
  const Key nodes{Kind::allocation, cluster.status.allocation.str()};
  for (const auto* set : {&restless_, &moving_}) {
    if (set->contains(mine) || set->contains(nodes)) return false;
  }
  const Registry& reg = parts_.ledger.view();
  for (const auto& [kind, id] : moving_) {
    if (kind != Kind::incident) break;  // incidents come first
    const auto* incident = reg.find(IncidentId(id));
    if (incident && incident->allocation == cluster.status.allocation) return false;
  }
  return true;
}

Instant Manager::next_look(const ClusterId& id, const Cluster& cluster) const {
  const auto looked = engine_looked_.find(id);
  if (looked == engine_looked_.end()) return {1};
  return looked->second +
         (is_quiet(cluster) ? parts_.limits.engine_interval : parts_.limits.engine_interval_busy);
}

void Manager::look_at_engines(Instant now) {
  const Registry& reg = parts_.ledger.view();
  const auto is_gone = [&](const auto& entry) { return !reg.find(entry.first); };
  std::erase_if(engine_looked_, is_gone);
  std::erase_if(seen_.engines, is_gone);
  std::erase_if(seen_.engine_answered, is_gone);
  std::erase_if(seen_.jobs, is_gone);
  for (const auto& [id, cluster] : reg.all<Cluster>()) {
    if (!cluster.status.controller_ready || now < next_look(id, cluster)) continue;
    engine_looked_[id] = now;
    const Allocation* held = reg.find(cluster.status.allocation);
    if (!held) continue;
    for (const auto& member : held->status.nodes) {
      if (member.role != MemberRole::controller) continue;
      runner_.observe_engine(id, engine_cluster(cluster), member.node);
    }
  }
}

void Manager::touch_allocations() {
  for (const auto& [id, held] : parts_.ledger.view().all<Allocation>()) {
    touch(Kind::allocation, id.str());
  }
}

void Manager::on_engine(const ClusterId& cluster, EngineObserved observed) {
  const Registry& reg = parts_.ledger.view();
  const Cluster* found = reg.find(cluster);
  if (!found) {
    seen_.engines.erase(cluster);
    seen_.engine_answered.erase(cluster);
    return;
  }
  if (observed.reachable) seen_.engine_answered[cluster] = observed.at;
  note_jobs(cluster, *found, observed);
  const bool same = fresh_engine(view(), cluster) && shows_same(seen_.engines[cluster], observed);
  seen_.engines[cluster] = std::move(observed);
  if (same && is_quiet(*found)) return;
  touch(Kind::cluster, cluster.str());
  touch_health();
  touch(Kind::allocation, found->status.allocation.str());
  if (const Allocation* held = reg.find(found->status.allocation)) {
    for (const auto& member : held->status.nodes) touch_windows(member.node);
  }
  for (const auto& [id, incident] : reg.all<Incident>()) {
    const bool waits = incident.state == IncidentState::open ||
                       (!incident.jobs.empty() && !incident.jobs.back().running_again_at.is_set());
    if (waits && incident.allocation == found->status.allocation) {
      touch(Kind::incident, id.str());
    }
  }
}

void Manager::on_finished(const Action& action) {
  if (action.result_to == ResultTo::controller_ready) look_anew(action.cluster);
  touch(Kind::incident, action.incident.str());
  touch(Kind::cluster, action.cluster.str());
  touch(Kind::allocation, action.allocation.str());
  touch(Kind::node, action.node.str());
  touch(Kind::maintenance, action.maintenance.str());
  touch(Kind::report, action.report.str());
  if (leased_checks(action)) touch(Kind::active, "site");
  schedule_pump();
}

void Manager::on_outcome(const Action& action, const std::string& fault) {
  const Instant now = parts_.scheduler.now();
  if (fault.empty()) {
    seen_.faults.erase(action.key);
    return;
  }
  std::erase_if(seen_.faults,
                [&](const auto& one) { return now - one.second.at > act_fault_life; });
  seen_.faults[action.key] = {fault_text(action.name, fault), action.node, action.allocation, now};
}

void Manager::on_load(const NodeId& node, const std::optional<NodeLoad>& load) {
  seen_.loads[node] = {load, parts_.scheduler.now()};
}

/// A silence that was seen before a controller was set up does not ask for another set-up.
void Manager::look_anew(const ClusterId& cluster) {
  const auto seen = seen_.engines.find(cluster);
  if (seen == seen_.engines.end() || seen->second.reachable) return;
  seen_.engines.erase(seen);
  engine_looked_.erase(cluster);
}

void Manager::on_hook(const std::string& hook) {
  constexpr std::string_view begin = "act:";
  constexpr std::string_view end = ":start";
  if (hook.starts_with(begin) && hook.ends_with(end)) {
    ++acts_[hook.substr(begin.size(), hook.size() - begin.size() - end.size())].started;
  }
  if (parts_.hook) parts_.hook(hook);
}

void Manager::on_permit(const Action& action, const Permit& permit) {
  if (permit.leave == Leave::execute) ++acts_[action.name].permitted;
  if (parts_.on_permit) parts_.on_permit(action, permit);
}

}  // namespace tundish::control
