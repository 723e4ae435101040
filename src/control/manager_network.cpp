// The manager's eyes on switches, fabrics and storage, and what it puts right there.
#include <algorithm>

#include "base/log.hpp"
#include "control/manager.hpp"
#include "control/network/reconcile_switch.hpp"
#include "control/network/storage.hpp"
#include "control/network/tombstones.hpp"
#include "model/ops/pool.hpp"

namespace tundish::control {

void Manager::read_switches(Instant now) {
  for (const auto& [id, device] : parts_.ledger.view().all<Switch>()) {
    if (device.spec.management_url.empty()) continue;
    Instant& read = switch_read_[id.str()];
    if (read.is_set() && now - read < parts_.limits.port_interval) continue;
    read = now;
    runner_.read_switch({device.meta.name, device.spec.management_url, "", device.spec.driver},
                        ownership_of(view(), device));
  }
}

void Manager::read_fabrics(Instant now) {
  for (const auto& [id, fabric] : parts_.ledger.view().all<Fabric>()) {
    if (fabric.spec.management_url.empty()) continue;
    Instant& read = fabric_read_[id.str()];
    if (read.is_set() && now - read < parts_.limits.port_interval) continue;
    read = now;
    runner_.read_fabric({fabric.meta.name, fabric.spec.management_url, fabric.spec.partitions});
  }
}

void Manager::read_storage(Instant now) {
  for (const auto& [id, fabric] : parts_.ledger.view().all<Fabric>()) {
    if (fabric.spec.storage_url.empty()) continue;
    Instant& read = storage_read_[id.str()];
    if (read.is_set() && now - read < parts_.limits.port_interval) continue;
    read = now;
    runner_.read_storage({fabric.meta.name, fabric.spec.storage_url});
  }
}

void Manager::on_storage(const std::string& fabric, Result<StorageSeen> seen, Instant asked) {
  StorageObserved& known = seen_.storage[fabric];
  if (!seen) {
    if (known.fault.empty()) {
      known.fault_since = parts_.scheduler.now();
      touch_health();
    }
    known.fault = seen.error().message();
    return;
  }
  if (!known.fault.empty()) touch_health();
  const bool changed = asked - known.at > network::stale_after || !(known.seen == *seen);
  known = {std::move(*seen), asked, "", {}};
  learn_storage_keys(fabric);
  if (changed) {
    touch_allocations();
    for (const auto& [id, cluster] : parts_.ledger.view().all<Cluster>()) {
      touch(Kind::cluster, id.str());
    }
  }
  if (changed) look_at_network(fabric);
  if (auto orphans = network::revoke_orphans(view(), fabric)) {
    runner_.submit(std::move(*orphans), view());
  }
  schedule_pump();
}

/// What must open each tenant's export, to tell it from what somebody else put there. A key is made
/// with its export, so one that has none yet is not asked for.
void Manager::learn_storage_keys(const std::string& fabric) {
  const View now = view();
  for (const auto& [id, held] : now.reg.all<Network>()) {
    if (held.status.fabric != fabric || seen_.storage_keys.contains(held.meta.tenant)) continue;
    const auto plan = network::storage_plan(now, held);
    const auto& exports = seen_.storage[fabric].seen.exports;
    const bool made = plan && std::ranges::find(exports, plan->export_name,
                                                &StorageExport::name) != exports.end();
    if (!made) continue;
    std::string key = parts_.secrets.storage_key(held.meta.tenant).public_key;
    if (!key.empty()) seen_.storage_keys[held.meta.tenant] = std::move(key);
  }
}

void Manager::on_export_unknown(const std::string& fabric, const StorageChange& change) {
  seen_.storage[fabric].written.insert(change.export_name);
}

void Manager::free_tombstones() {
  for (const auto& change : network::tombstone_changes(view())) {
    const std::string name(change->name());
    (void)parts_.ledger.perform(*change, "controller:pool", "seen on the fabric");
    on_hook("op:" + name);
  }
  for (const auto& id : network::rested_tombstones(view())) {
    (void)parts_.ledger.perform(*free_pool_entry(id), "controller:pool", "tombstone ran out");
    on_hook("op:free_pool_entry");
  }
}

void Manager::on_switch(const std::string& name, SwitchReading reading, Instant asked) {
  bool changed = false;
  for (const auto& port : reading.ports) {
    PortObserved& known = seen_.ports[{port.switch_name, port.port}];
    const bool differs = !known.at.is_set() || known.segment != port.segment;
    const std::pair key(port.switch_name, port.port);
    // Unset: it was never looked at before, or an act of ours on it just ended.
    const bool changed_it = known.at.is_set() ? differs : seen_.port_changed.contains(key);
    if (changed_it) seen_.port_changed[key] = parts_.scheduler.now();
    if (differs) fleet_.touch_port(port.switch_name, port.port);
    changed = changed || differs;
    known = port;
    known.at = parts_.scheduler.now();
  }
  SwitchObserved& known = seen_.switches[name];
  const bool was_stale = asked - known.at > network::stale_after;
  if (!known.fault.empty()) touch_health();
  changed = changed || was_stale || !(known.reading.seen.own == reading.seen.own);
  known = {std::move(reading), asked, "", {}};
  if (changed) touch_allocations();
  if (!known.reading.has_config) return;
  const Switch* device = parts_.ledger.view().find_named<Switch>(name);
  if (device) look_at_network(network::fabric_of(*device));
  schedule_pump();
}

void Manager::on_fabric(const std::string& name, FabricReading reading, Instant asked) {
  seen_.fabrics[name] = {
      std::move(reading.seen), reading.has_tables, std::move(reading.ports), asked, "", {}};
  std::set<std::string> access;
  for (const auto& [id, held] : parts_.ledger.view().all<Network>()) {
    access.insert(held.status.fabric);
  }
  if (access.empty()) access.insert("access");  // the fabric has a state of its own
  for (const auto& fabric : access) look_at_network(fabric);
  note_foreign(name);
  touch_allocations();
  schedule_pump();
}

void Manager::on_fabric_silent(const std::string& name, const Error& why) {
  FabricObserved& known = seen_.fabrics[name];
  if (known.fault.empty()) known.fault_since = parts_.scheduler.now();
  known.fault = why.message();
  look_when_stale(name, known.at);
}

/// Where nothing answers any more no look comes that would write down that it is unknown.
void Manager::look_when_stale(const std::string& name, Instant at) {
  const Registry& reg = parts_.ledger.view();
  const Instant since = at.is_set() ? at : seen_.started_at;
  if (parts_.scheduler.now() - since <= network::stale_after) return;
  const auto is_told = [](const std::vector<Condition>& conditions) {
    return std::ranges::any_of(conditions, [](const Condition& one) {
      return one.type == "unreachable" && one.state == Truth::yes;
    });
  };
  std::set<std::string> fabrics;
  const Switch* device = reg.find_named<Switch>(name);
  if (device && !is_told(device->status.conditions)) fabrics.insert(network::fabric_of(*device));
  const Fabric* fabric = reg.find_named<Fabric>(name);
  for (const auto& [id, held] : reg.all<Network>()) {
    const bool shares = fabric && !is_told(fabric->conditions) &&
                        (held.status.partition_fabric == name || held.status.nvlink_fabric == name);
    if (shares) fabrics.insert(held.status.fabric);
  }
  for (const auto& one : fabrics) look_at_network(one);
  if (!fabrics.empty()) schedule_pump();
}

namespace {
/// What hangs on a network that somebody changed on a switch is not judged until it looked again.
void note_drift(const Registry& reg, Instant now, Observations& seen) {
  for (const auto& [id, network] : reg.all<Network>()) {
    for (const auto& sync : network.status.sync) {
      if (sync.state != SyncState::drifted) continue;
      seen.port_changed[{sync.object, id.str()}] = now;
    }
  }
}
}  // namespace

/// What is known of a fabric's networks is written down only where it changed.
void Manager::look_at_network(const std::string& fabric) {
  const auto outcome = network::reconcile_networks(view(), fabric);
  for (const auto& change : outcome.changes) {
    const auto done =
        parts_.ledger.perform(*change.operation, "controller:network", change.reason);
    if (!done) log(LogLevel::warn, "network_not_recorded", {{"why", done.error().message()}});
  }
  note_drift(parts_.ledger.view(), parts_.scheduler.now(), seen_);
  note_foreign(fabric);
  std::set<std::string>& wanted = wanted_restores_[fabric];
  wanted.clear();
  for (const auto& one : outcome.restores) {
    wanted.insert(network::restore_key(one.switch_name, one.since));
  }
  for (const auto& one : outcome.fabric_restores) {
    wanted.insert(network::restore_key(one.ref.name, one.since));
  }
  for (const auto& restore : outcome.restores) restore_switch(restore);
  for (const auto& restore : outcome.fabric_restores) restore_fabric(restore);
}

/// Numbers that others use are taken out of the pools.
void Manager::note_foreign(const std::string& fabric) {
  for (const auto& change : network::foreign_changes(view(), fabric)) {
    (void)parts_.ledger.perform(*change, "controller:network", "in use by others");
  }
}

/// An hour after the last change of anybody else: done where authority is act, proposed at advise.
void Manager::restore_switch(const network::Restore& restore) {
  const Switch* device = parts_.ledger.view().find_named<Switch>(restore.switch_name);
  if (!device) return;
  Action action;
  action.key = network::restore_key(restore.switch_name, restore.since);
  action.name = "restore_switch";
  action.action_class = ActionClass::network;
  action.group = action.key;
  action.reason = restore.reason;
  action.limit = seconds(30);
  PortRef port = {restore.switch_name, device->spec.management_url, "", device->spec.driver};
  PortIntent intent;
  intent.segment = "as wanted";
  intent.patch = {restore.to.vrfs, restore.to.segments, restore.to.acls, restore.to.ports};
  intent.ownership = ownership_of(view(), *device);
  for (const auto& vrf : restore.to.vrfs) intent.keep_vrfs.push_back(vrf.name);
  action.act = AttachAct{std::move(port), std::move(intent)};
  runner_.submit(std::move(action), view());
}

void Manager::restore_fabric(const network::FabricRestore& restore) {
  const Fabric* fabric = parts_.ledger.view().find_named<Fabric>(restore.ref.name);
  if (!fabric) return;
  Action action;
  action.key = network::restore_key(restore.ref.name, restore.since);
  action.name = "restore_fabric";
  action.action_class = ActionClass::network;
  action.group = action.key;
  action.reason = restore.reason;
  action.limit = seconds(30);
  action.act = FabricAct{restore.ref, restore.to};
  runner_.submit(std::move(action), view());
}

void Manager::on_switch_silent(const std::string& name, const Error& why) {
  SwitchObserved& known = seen_.switches[name];
  if (known.fault.empty()) {
    known.fault_since = parts_.scheduler.now();
    touch_health();
  }
  known.fault = why.message();
  look_when_stale(name, known.at);
}

void Manager::on_port_unknown(const PortRef& port) {
  seen_.ports.erase({port.switch_name, port.port});
  seen_.port_changed[{port.switch_name, port.port}] = parts_.scheduler.now();
  fleet_.touch_port(port.switch_name, port.port);
}

}  // namespace tundish::control
