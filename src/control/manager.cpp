#include "control/manager.hpp"

#include "base/log.hpp"
#include "control/allocation/reconcile_allocation.hpp"
#include "control/fault/reconcile_incident.hpp"
#include "control/node/reconcile_node.hpp"
#include "model/ops/node_ops.hpp"

namespace tundish::control {
namespace {

/// More looks at one object within one pump than any chain of steps needs: two controllers
/// undoing each other.
constexpr int most_rounds = 200;
constexpr Duration tick_interval = milliseconds(250);

std::string_view actor_name(int kind) {
  static constexpr std::string_view names[] = {"controller:incident", "controller:allocation",
                                               "controller:cluster", "controller:node"};
  return names[kind];
}

}  // namespace

Manager::Manager(ManagerParts parts)
    : parts_(std::move(parts)),
      runner_(parts_.ledger, parts_.scheduler, parts_.drivers, *this) {
  parts_.ledger.on_change([this](const Change& change) { touch_change(change); });
  parts_.ledger.on_reload([this] {
    runner_.forget();
    touch_all();
  });
}

void Manager::start() {
  touch_all();
  tick();
}

View Manager::view() const {
  return {parts_.ledger.view(), seen_, parts_.policy, parts_.limits, parts_.scheduler.now()};
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
    touch_node(NodeId(change.id));
    // A node that became free may be the spare that an allocation waits for.
    const Node* node = body(static_cast<Node*>(nullptr));
    if (node && node->status.phase == NodePhase::ready) {
      for (const auto& [id, held] : parts_.ledger.view().all<Allocation>()) {
        touch(Kind::allocation, id.str());
      }
    }
  } else if (const Claim* claim = body(static_cast<Claim*>(nullptr))) {
    touch_node(claim->node);
    touch(Kind::incident, claim->incident.str());
  } else if (const Incident* incident = body(static_cast<Incident*>(nullptr))) {
    touch(Kind::incident, change.id);
    touch_node(incident->node);
    changed_incidents_.insert(change.id);
  } else if (const Allocation* held = body(static_cast<Allocation*>(nullptr))) {
    touch(Kind::allocation, change.id);
    touch(Kind::cluster, held->cluster.str());
    for (const auto& member : held->status.nodes) {
      for (const auto& id : parts_.ledger.view().incidents_on(member.node)) {
        touch(Kind::incident, id.str());
      }
    }
  } else if (const Cluster* cluster = body(static_cast<Cluster*>(nullptr))) {
    touch(Kind::cluster, change.id);
    touch(Kind::allocation, cluster->status.allocation.str());
  } else if (change.kind == Hold::kind || change.kind == Authority::kind ||
             change.kind == Proposal::kind || change.kind == User::kind ||
             change.kind == Sku::kind || change.kind == Switch::kind) {
    touch_all();
  }
}

void Manager::touch_all() {
  const Registry& reg = parts_.ledger.view();
  for (const auto& [id, object] : reg.all<Node>()) due_.insert({Kind::node, id.str()});
  for (const auto& [id, object] : reg.all<Allocation>()) due_.insert({Kind::allocation, id.str()});
  for (const auto& [id, object] : reg.all<Cluster>()) due_.insert({Kind::cluster, id.str()});
  for (const auto& [id, object] : reg.all<Incident>()) {
    if (object.state == IncidentState::open) due_.insert({Kind::incident, id.str()});
  }
  schedule_pump();
}

void Manager::schedule_pump() {
  if (pump_scheduled_ || pumping_) return;
  pump_scheduled_ = true;
  parts_.scheduler.at(parts_.scheduler.now(), [this] {
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
  }
  return {};
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
    reasons_[key.second] = outcome.reason;
    if (outcome.wake_at.is_set()) {
      wakes_[key] = outcome.wake_at;
    } else {
      wakes_.erase(key);
    }
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
    for (auto& action : list) actions.push_back(std::move(action));
  }
}

void Manager::pump() {
  if (pumping_) return;
  pumping_ = true;
  std::vector<Action> actions;
  decide(actions);
  const bool durable = parts_.ledger.flush().has_value();
  if (durable) {
    on_hook("commit");
    std::set<std::string> changed;
    std::swap(changed, changed_incidents_);
    for (const auto& id : changed) {
      const Incident* incident = parts_.ledger.view().find(IncidentId(id));
      if (incident && parts_.on_incident) parts_.on_incident(*incident);
    }
    for (auto& action : actions) runner_.submit(std::move(action), view());
  }
  pumping_ = false;
  if (!due_.empty() || parts_.ledger.has_pending()) schedule_pump();
}

void Manager::heard(const NodeId& node, const std::string& boot_id, bool on_hold) {
  Presence& presence = seen_.presence[node];
  const Instant now = parts_.scheduler.now();
  const bool was_silent = now - presence.last_heard >= parts_.limits.silent_after;
  const bool new_boot = presence.boot_id != boot_id;
  presence = {now, boot_id, on_hold};
  if (new_boot) {
    (void)parts_.ledger.perform(*record_boot(node, boot_id), "agent:" + node.str(), "new boot");
  }
  if (was_silent || new_boot) touch_node(node);
}

void Manager::set_hold_file(bool present) {
  if (seen_.hold_file == present) return;
  seen_.hold_file = present;
  touch_all();
}

void Manager::tick() {
  const Instant now = parts_.scheduler.now();
  for (auto it = wakes_.begin(); it != wakes_.end();) {
    if (it->second <= now) {
      due_.insert(it->first);
      it = wakes_.erase(it);
    } else {
      ++it;
    }
  }
  const Registry& reg = parts_.ledger.view();
  bool moving = false;
  for (const auto& [id, incident] : reg.all<Incident>()) {
    if (incident.state != IncidentState::open) continue;
    moving = true;
    due_.insert({Kind::incident, id.str()});
  }
  for (const auto& [id, cluster] : reg.all<Cluster>()) {
    const Allocation* held = reg.find(cluster.status.allocation);
    const bool settled = cluster.status.phase == ClusterPhase::active && !moving;
    const Duration pause =
        settled ? parts_.limits.engine_interval : parts_.limits.engine_interval_busy;
    if (!held) continue;
    if (!settled) due_.insert({Kind::allocation, held->id.str()});
    if (!settled) due_.insert({Kind::cluster, id.str()});
    if (!cluster.status.controller_ready || now - engine_looked_[id] < pause) continue;
    for (const auto& member : held->status.nodes) {
      if (member.role != MemberRole::controller) continue;
      engine_looked_[id] = now;
      runner_.observe_engine(id, cluster.meta.name, member.node);
    }
  }
  for (const auto& [id, device] : reg.all<Switch>()) {
    if (now - switch_read_[id.str()] < parts_.limits.port_interval) continue;
    if (device.spec.management_url.empty()) continue;
    switch_read_[id.str()] = now;
    runner_.read_switch({device.meta.name, device.spec.management_url, ""});
  }
  for (const auto& [id, node] : reg.all<Node>()) {
    const auto phase = node.status.phase;
    if (phase != NodePhase::ready && phase != NodePhase::assigned && phase != NodePhase::retired) {
      due_.insert({Kind::node, id.str()});
    }
  }
  if (!due_.empty()) schedule_pump();
  parts_.scheduler.at(now + tick_interval, [this] { tick(); });
}

void Manager::on_ports(const std::vector<PortObserved>& ports) {
  bool changed = false;
  for (const auto& port : ports) {
    PortObserved& known = seen_.ports[{port.switch_name, port.port}];
    changed = changed || !known.at.is_set() || known.segment != port.segment;
    known = port;
    known.at = parts_.scheduler.now();
  }
  if (!changed) return;
  for (const auto& [id, held] : parts_.ledger.view().all<Allocation>()) {
    touch(Kind::allocation, id.str());
  }
}

void Manager::on_engine(const ClusterId& cluster, EngineObserved observed) {
  seen_.engines[cluster] = std::move(observed);
  touch(Kind::cluster, cluster.str());
  const Registry& reg = parts_.ledger.view();
  const Cluster* found = reg.find(cluster);
  if (!found) {
    seen_.engines.erase(cluster);
    return;
  }
  touch(Kind::allocation, found->status.allocation.str());
  for (const auto& [id, incident] : reg.all<Incident>()) {
    const bool waits = incident.state == IncidentState::open ||
                       (!incident.jobs.empty() && !incident.jobs.back().running_again_at.is_set());
    if (waits && incident.allocation == found->status.allocation) {
      touch(Kind::incident, id.str());
    }
  }
}

void Manager::on_finished(const Action& action) {
  touch(Kind::incident, action.incident.str());
  touch(Kind::cluster, action.cluster.str());
  touch(Kind::allocation, action.allocation.str());
  touch(Kind::node, action.node.str());
  schedule_pump();
}

void Manager::on_hook(const std::string& hook) {
  if (parts_.hook) parts_.hook(hook);
}

void Manager::on_permit(const Action& action, const Permit& permit) {
  if (parts_.on_permit) parts_.on_permit(action, permit);
}

}  // namespace tundish::control
