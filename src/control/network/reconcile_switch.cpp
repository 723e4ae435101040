#include "control/network/reconcile_switch.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "control/network/cabling.hpp"
#include "control/network/difference.hpp"
#include "control/network/foreign.hpp"
#include "control/network/port_tables.hpp"
#include "control/permit/permit.hpp"
#include "control/network/storage.hpp"
#include "control/network/tunnel_peers.hpp"
#include "control/network/unclear.hpp"
#include "model/ops/node_ops.hpp"

namespace tundish::control::network {
namespace {

/// Keeps `since` while the state stays.
class Conditions {
 public:
  Conditions(std::vector<Condition> old, Instant now) : list(std::move(old)), now_(now) {}
  void set(const std::string& type, Truth state, const std::string& reason) {
    const auto known = std::find_if(list.begin(), list.end(),
                                    [&](const Condition& other) { return other.type == type; });
    if (known == list.end()) {
      if (state != Truth::no) list.push_back({type, state, reason, now_});
      return;
    }
    if (known->state != state) known->since = now_;
    known->state = state;
    known->reason = reason;
  }
  std::vector<Condition> list;

 private:
  Instant now_;
};

const NetworkSync* known_sync(const View& view, const NetworkId& id, const std::string& object) {
  const Network* network = view.reg.find(id);
  if (!network) return nullptr;
  for (const auto& sync : network->status.sync) {
    if (sync.object == object) return &sync;
  }
  return nullptr;
}

struct Looked {
  bool fresh = false;
  bool waits = false;  ///< tundishd began just now: what was known stands for the moment
  std::string why;
};

Looked look(const View& view, Instant at, const std::string& fault) {
  if (at.is_set() && view.now - at <= stale_after) return {true, false, ""};
  if (!at.is_set() && view.now - view.seen.started_at <= stale_after) return {false, true, ""};
  std::string why = at.is_set() ? "not read since " + render_utc(at) : "never read";
  if (!fault.empty()) why += ": " + fault;
  return {false, false, why};
}

/// What one place shows of the networks that concern it, and what of it somebody else did.
class Judge {
 public:
  Judge(const View& view, const Intent& intent, FabricTechnology technology, std::string object)
      : view_(view), intent_(intent), technology_(technology), object_(std::move(object)) {}

  void judge(const std::vector<int>& networks, const std::vector<Difference>& all,
             const std::vector<std::string>& old_drift, const Looked& looked, Instant at) {
    std::map<int, std::vector<std::string>> lines;
    std::set<int> there, somebody;
    for (const auto& difference : all) {
      const bool known =
          std::find(old_drift.begin(), old_drift.end(), difference.what) != old_drift.end();
      // The storage's own port and VRF come with the first network that uses them.
      const bool awaited =
          difference.networks.empty() && intent_.networks.empty() && !difference.there;
      if (!awaited && (known || is_settled(difference.networks))) {
        drift.push_back(difference.what);
        somebody.insert(difference.networks.begin(), difference.networks.end());
      }
      for (const int index : difference.networks) {
        lines[index].push_back(difference.what);
        if (difference.there) there.insert(index);
      }
    }
    std::set<int> concerned(networks.begin(), networks.end());
    for (const auto& [index, unused] : lines) concerned.insert(index);
    for (const int index : concerned) {
      const auto& network = intent_.networks[static_cast<std::size_t>(index)];
      NetworkSync next = previous(network);
      if (!looked.waits) {
        next.observed_at = at;
        next.reason = looked.fresh ? tell_lines(lines[index]) : looked.why;
        next.state = !looked.fresh              ? SyncState::unknown
                     : lines[index].empty()     ? SyncState::synced
                     : somebody.contains(index) ? SyncState::drifted
                     : next.version > 0         ? SyncState::pending
                     : there.contains(index)    ? SyncState::applying
                                                : SyncState::planned;
        tell_what_waits(network.id, next);
        if (next.state == SyncState::synced) next.version = network.version;
      }
      sync[network.id] = std::move(next);
    }
  }

  /// What the place shows cannot be held against anything. What was in step there is lost, and not
  /// by our doing.
  void lose(const std::vector<int>& networks, const std::string& why, Instant at,
            const std::vector<std::string>& old_drift) {
    bool was_there = std::find(old_drift.begin(), old_drift.end(), why) != old_drift.end();
    for (const int index : networks) {
      const auto& network = intent_.networks[static_cast<std::size_t>(index)];
      NetworkSync next = previous(network);
      next.observed_at = at;
      next.reason = why;
      next.state = next.version > 0 ? SyncState::drifted : SyncState::unknown;
      was_there = was_there || next.version > 0;
      sync[network.id] = std::move(next);
    }
    if (was_there) drift.push_back(why);
  }

  /// Somebody else's lines use what is a network's alone: it is not by itself there, wherever its
  /// own nodes are. A VLAN's number says nothing where the VLANs are not one bridge's.
  bool intrude(const std::vector<ForeignClash>& clashes, Instant at) {
    bool any = false;
    for (const auto& clash : clashes) {
      if (!clash.joins) continue;
      any = true;
      const auto& network = intent_.networks[static_cast<std::size_t>(clash.network)];
      const auto [found, is_new] = sync.try_emplace(network.id, previous(network));
      NetworkSync& one = found->second;
      const std::string text = clash.what + " is used by somebody else's lines";
      const bool was_fine = is_new || one.state == SyncState::synced || one.reason.empty();
      one.reason = was_fine ? text : text + " | " + one.reason;
      one.state = SyncState::drifted;
      one.observed_at = at;
      drift.push_back(text);
    }
    return any;
  }

  /// What is right by the manager's word and was not seen on the nodes' ports.
  void doubt(const std::map<int, std::vector<std::string>>& doubts) {
    for (const auto& [index, lines] : doubts) {
      const auto found = sync.find(intent_.networks[static_cast<std::size_t>(index)].id);
      if (found == sync.end() || found->second.state != SyncState::synced) continue;
      found->second.state = SyncState::unknown;
      found->second.reason = tell_lines(lines);
    }
  }

  std::map<NetworkId, NetworkSync> sync;
  std::vector<std::string> drift;

 private:
  /// What nobody may do is not being applied.
  void tell_what_waits(const NetworkId& id, NetworkSync& next) const {
    const bool ours = next.state == SyncState::pending || next.state == SyncState::applying ||
                      next.state == SyncState::planned;
    const Network* network = ours ? view_.reg.find(id) : nullptr;
    const Allocation* held = network ? view_.reg.find(network->allocation) : nullptr;
    const std::string waits = held ? waiting_part(held->status.reason) : "";
    if (waits.empty()) return;
    if (next.state == SyncState::applying) next.state = SyncState::planned;
    next.reason = waits;
  }

  NetworkSync previous(const WantedNetwork& network) const {
    if (const NetworkSync* known = known_sync(view_, network.id, object_)) return *known;
    NetworkSync fresh;
    fresh.technology = technology_;
    fresh.object = object_;
    return fresh;
  }

  /// Nothing of ours is under way there: every network it concerns was seen in this version.
  bool is_settled(const std::set<int>& networks) const {
    return std::all_of(networks.begin(), networks.end(), [&](int index) {
      const auto& network = intent_.networks[static_cast<std::size_t>(index)];
      const NetworkSync* known = known_sync(view_, network.id, object_);
      return known && known->version == network.version;
    });
  }

  const View& view_;
  const Intent& intent_;
  FabricTechnology technology_;
  std::string object_;
};

/// Lines that no parser understood weigh on the network that they name, or on every one of the
/// place.
void blame_unclear(const Intent& intent, const std::string& place,
                   const std::vector<std::string>& unclear,
                   std::map<NetworkId, NetworkSync>& sync) {
  std::map<NetworkId, std::vector<std::string>> lines;
  for (const auto& line : unclear) {
    std::set<int> owners = networks_joined_in(intent, place, line);
    const int owner = network_named_in(intent, place, line);
    if (owners.empty() && owner != nobody) owners.insert(owner);
    std::set<NetworkId> ids;
    for (const int index : owners) ids.insert(intent.networks[static_cast<std::size_t>(index)].id);
    for (const auto& [id, one] : sync) {
      if (owners.empty() || ids.contains(id)) lines[id].push_back(line);
    }
  }
  for (auto& [id, one] : sync) {
    if (one.state == SyncState::unknown || lines[id].empty()) continue;
    one.state = SyncState::drifted;
    one.reason += (one.reason.empty() ? "" : " | ") + ("not understood: " + tell_lines(lines[id]));
  }
}

void tell_reach(const Looked& looked, const std::string& hanging, Conditions& conditions) {
  if (looked.waits) return;
  conditions.set("unreachable", looked.fresh ? Truth::no : Truth::yes,
                 looked.fresh ? "" : looked.why + hanging);
}

std::set<int> drifted_in(const Intent& intent, const std::map<NetworkId, NetworkSync>& sync) {
  std::set<int> out;
  for (std::size_t i = 0; i < intent.networks.size(); ++i) {
    const auto found = sync.find(intent.networks[i].id);
    const bool drifted = found != sync.end() && found->second.state == SyncState::drifted;
    if (drifted) out.insert(static_cast<int>(i));
  }
  return out;
}

void tell_breaches(const std::vector<Breach>& breaches, Conditions& conditions) {
  conditions.set("isolation", breaches.empty() ? Truth::no : Truth::yes,
                 tell_lines(lines_of(breaches)));
}

/// A change that is new starts the hour anew; one that went away does not.
void remember_drift(const SwitchStatus& old, Instant at, SwitchStatus& status) {
  for (const auto& line : status.drift) {
    const bool known = std::find(old.drift.begin(), old.drift.end(), line) != old.drift.end();
    if (!known) status.drift_since = at;
  }
  if (status.drift.empty()) status.drift_since = {};
}

bool same_but_age(const std::vector<NetworkSync>& a, const std::vector<NetworkSync>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const NetworkSync& x, const NetworkSync& y) {
                      NetworkSync z = y;
                      z.observed_at = x.observed_at;
                      return x == z;
                    });
}

}  // namespace

namespace {

AuthorityLevel authority_over(const View& view, const std::set<std::string>& scopes) {
  std::optional<AuthorityLevel> lowest;
  for (const auto& [id, authority] : view.reg.all<Authority>()) {
    const bool fits = authority.action_class == "*" || authority.action_class == "network";
    if (!fits || !scopes.contains(authority.scope)) continue;
    if (!lowest || authority.level < *lowest) lowest = authority.level;
  }
  return lowest.value_or(AuthorityLevel::observe);
}

}  // namespace

AuthorityLevel authority_over(const View& view, const Switch& device) {
  return authority_over(view, {"*", "switch:" + device.meta.name, "site:" + device.spec.site,
                               "rack:" + device.spec.rack});
}

namespace {

constexpr std::string_view restore_word = "restore/";

/// What the driver said to the last try to put it right.
void tell_fault(const View& view, const std::string& key, std::map<NetworkId, NetworkSync>& sync) {
  const auto found = view.seen.faults.find(key);
  if (found == view.seen.faults.end() || view.now - found->second.at > act_fault_life) return;
  for (auto& [id, one] : sync) {
    if (one.state == SyncState::drifted) one.reason += " | " + found->second.what;
  }
}

/// Conditions of a switch that was read, beside what joins networks.
void tell_shown(const Intent& intent, const std::string& name, const SwitchSeen& seen,
                const std::vector<std::string>& drift, Conditions& conditions) {
  conditions.set("drift", drift.empty() ? Truth::no : Truth::yes, tell_lines(drift));
  conditions.set("unclear", seen.unclear.empty() ? Truth::no : Truth::yes,
                 tell_lines(seen.unclear));
  std::vector<std::string> clashes;
  for (const auto& one : foreign_clashes(intent, name, seen.foreign)) clashes.push_back(one.what);
  conditions.set("foreign_conflict", clashes.empty() ? Truth::no : Truth::yes, tell_lines(clashes));
}

void tell_cables(const View& view, const Switch& device, Conditions& conditions) {
  const auto miswired = miswired_cables(view, device);
  conditions.set("miswired", miswired.empty() ? Truth::no : Truth::yes, join(miswired, " | "));
}

/// An hour after anybody else's last change. `plan`: nullptr when nothing may be written.
void restore_later(const View& view, const Switch& device, const SwitchState* plan,
                   SwitchVerdict& out) {
  if (out.status.drift.empty()) return;
  const std::string& name = device.meta.name;
  const Instant due = out.status.drift_since + person_pause;
  if (view.now < due) {
    out.wake_at = due;
  } else if (plan && network::authority_over(view, device) != AuthorityLevel::observe) {
    out.restore = Restore{name, *plan, tell_lines(out.status.drift), out.status.drift_since};
    tell_fault(view, restore_key(name, out.status.drift_since), out.sync);
  }
}

}  // namespace

std::string restore_key(const std::string& place, Instant since) {
  return std::string(restore_word) + place + "/" + std::to_string(since.us);
}

std::string restored_place(const std::string& key) {
  const auto end = key.rfind('/');
  if (!key.starts_with(restore_word) || end < restore_word.size()) return "";
  return key.substr(restore_word.size(), end - restore_word.size());
}

SwitchVerdict reconcile_switch(const View& view, const Intent& intent, const Switch& device) {
  SwitchVerdict out;
  out.status = device.status;
  const std::string& name = device.meta.name;
  const auto wanted_switch = intent.switches.find(name);
  const auto observed = view.seen.switches.find(name);
  if (device.spec.management_url.empty()) return out;
  static const SwitchObserved never;
  const SwitchObserved& seen = observed == view.seen.switches.end() ? never : observed->second;
  const Looked looked = look(view, seen.at, seen.fault);
  Conditions conditions(device.status.conditions, view.now);
  const bool is_wanted = wanted_switch != intent.switches.end();
  const std::size_t ports = is_wanted ? wanted_switch->second.ports.size() : 0;
  tell_reach(looked, "; " + std::to_string(ports) + " ports of nodes are on it", conditions);
  if (looked.fresh) tell_cables(view, device, conditions);
  if (!is_wanted) {
    out.status.conditions = std::move(conditions.list);
    return out;
  }
  Judge judge(view, intent, FabricTechnology::evpn, name);
  const auto plan = plan_switch(intent, name);
  const bool is_read = looked.fresh && seen.reading.has_config;
  const bool comparable = is_read && plan;
  const auto& networks = wanted_switch->second.networks;
  std::vector<Difference> all = comparable
                                    ? differences(intent, name, *plan, seen.reading.seen.own)
                                    : std::vector<Difference>{};
  // What no configuration holds is nothing that a restore could write.
  const bool is_restorable = !all.empty();
  if (comparable) std::ranges::move(peer_differences(intent, name, seen.reading.seen.peers),
                                    std::back_inserter(all));
  if (comparable) {
    judge.judge(networks, all, device.status.drift, looked, seen.at);
    const auto& shown = seen.reading.seen;
    const bool is_used = judge.intrude(foreign_clashes(intent, name, shown.foreign), seen.at);
    // A switch that shows what is wanted, and nothing else in it, joins nobody.
    out.breaches = all.empty() && !is_used && shown.unclear.empty()
                       ? std::vector<Breach>{}
                       : breaches_on(view, intent, name, shown, drifted_in(intent, judge.sync));
    tell_breaches(*out.breaches, conditions);
  } else if (is_read) {
    judge.lose(networks, "what it shows cannot be compared: " + plan.error().what, seen.at,
               device.status.drift);
  } else if (!looked.fresh) {
    judge.judge(networks, {}, {}, looked, seen.at);
  }
  if (is_read) {
    blame_unclear(intent, name, seen.reading.seen.unclear, judge.sync);
    out.status.drift = judge.drift;
    remember_drift(device.status, seen.at, out.status);
    tell_shown(intent, name, seen.reading.seen, judge.drift, conditions);
  }
  out.sync = std::move(judge.sync);
  out.status.conditions = std::move(conditions.list);
  const bool is_clear = is_restorable && seen.reading.seen.unclear.empty();
  if (comparable) restore_later(view, device, is_clear ? &*plan : nullptr, out);
  return out;
}

namespace {

/// A line that is new starts the hour anew; one that went away does not.
void tell_drift(const std::vector<std::string>& drift, Conditions& conditions, FabricVerdict& out) {
  const auto known = [&](const std::string& line) {
    return std::any_of(conditions.list.begin(), conditions.list.end(), [&](const Condition& one) {
      return one.type == "drift" && one.state == Truth::yes &&
             one.reason.find(line) != std::string::npos;
    });
  };
  const bool is_new = !std::all_of(drift.begin(), drift.end(), known);
  if (is_new) conditions.set("drift", Truth::no, "");
  conditions.set("drift", drift.empty() ? Truth::no : Truth::yes, join(drift, " | "));
  for (const auto& one : conditions.list) {
    if (one.type == "drift" && one.state == Truth::yes) out.drift_since = one.since;
  }
}

/// The whole of what is ours, an hour after anybody else's change: also a partition that no network
/// wants, as a write leaves that came after everybody had given it up.
void restore_later(const View& view, const Intent& intent, const Fabric& fabric,
                   const FabricObserved& seen, FabricVerdict& out) {
  if (!out.drift_since.is_set() || fabric.spec.management_url.empty()) return;
  const Instant due = out.drift_since + person_pause;
  if (view.now < due) {
    out.wake_at = due;
    return;
  }
  const FabricState plan = plan_fabric(intent, fabric.meta.name);
  if (authority_over(view, {"*", "fabric:" + fabric.meta.name}) == AuthorityLevel::observe) return;
  // A port that contradicts a file that is right already is the manager's to put right.
  if (seen.seen.own == plan && seen.seen.unclear.empty()) return;
  std::string why;
  for (const auto& one : out.conditions) {
    if (one.type == "drift") why = one.reason;
  }
  out.restore = FabricRestore{
      {fabric.meta.name, fabric.spec.management_url, fabric.spec.partitions},
      plan,
      why,
      out.drift_since};
  tell_fault(view, restore_key(fabric.meta.name, out.drift_since), out.sync);
}

}  // namespace

FabricVerdict reconcile_fabric(const View& view, const Intent& intent, const Fabric& fabric) {
  FabricVerdict out;
  const std::string& name = fabric.meta.name;
  const auto observed = view.seen.fabrics.find(name);
  static const FabricObserved never;
  const FabricObserved& seen = observed == view.seen.fabrics.end() ? never : observed->second;
  const Looked looked = look(view, seen.at, seen.fault);
  Conditions conditions(fabric.conditions, view.now);
  tell_reach(looked, "", conditions);
  const bool is_driven = !fabric.spec.management_url.empty();
  std::vector<int> networks;
  for (std::size_t i = 0; i < intent.networks.size(); ++i) {
    const auto& network = intent.networks[i];
    const bool here = (network.partition_fabric == name && !network.guids.empty()) ||
                      (network.nvlink_fabric == name && !network.gpus.empty());
    if (here) networks.push_back(static_cast<int>(i));
  }
  Judge judge(view, intent, fabric.spec.technology, name);
  std::vector<Difference> all;
  PortFindings ports;
  if (looked.fresh) {
    all = differences(intent, plan_fabric(intent, name), seen.seen.own);
    ports = look_at_ports(intent, name, fabric.spec.partitions, seen);
    all.insert(all.end(), ports.differences.begin(), ports.differences.end());
    for (auto& difference : all) difference.what = name_guids(intent, difference.what);
    for (auto& [index, lines] : ports.doubts) {
      for (auto& line : lines) line = name_guids(intent, line);
    }
  }
  const Looked nobody_looks{false, false, "nobody drives the fabric: it has no management_url"};
  judge.judge(networks, all, {}, is_driven ? looked : nobody_looks, seen.at);
  judge.doubt(ports.doubts);
  if (looked.fresh) {
    blame_unclear(intent, "", seen.seen.unclear, judge.sync);
    tell_drift(judge.drift, conditions, out);
    conditions.set("unclear", seen.seen.unclear.empty() ? Truth::no : Truth::yes,
                   tell_lines(seen.seen.unclear));
    out.breaches = breaches_in(view, intent, fabric, seen);
    tell_breaches(*out.breaches, conditions);
    conditions.set(
        "default_is_full", seen.seen.default_is_full ? Truth::yes : Truth::no,
        seen.seen.default_is_full ? "ports are full members of the default partition" : "");
  }
  if (seen.seen.default_is_full && looked.fresh) {
    for (auto& [id, one] : judge.sync) {
      one.state = SyncState::drifted;
      one.reason = "ports are full members of the default partition: nobody is isolated";
    }
  }
  out.sync = std::move(judge.sync);
  out.conditions = std::move(conditions.list);
  restore_later(view, intent, fabric, seen, out);
  return out;
}

namespace {

const Condition* find_standing(const std::vector<Condition>& all, std::string_view type) {
  for (const auto& one : all) {
    if (one.type == type && one.state == Truth::yes) return &one;
  }
  return nullptr;
}

/// For the history: what became drift, or ceased to be.
std::string told_of(const std::vector<Condition>& before, const std::vector<Condition>& after) {
  const Condition* old = find_standing(before, "drift");
  const Condition* now = find_standing(after, "drift");
  if (now && (!old || old->reason != now->reason)) return "drift: " + now->reason;
  if (old && !now) return "drift is gone: " + old->reason;
  return "seen on the fabric";
}

/// Which nodes are plugged elsewhere than declared, as a fresh look tells.
void note_cables(const View& view, const Switch& device, NetworkOutcome& out) {
  const auto seen = view.seen.switches.find(device.meta.name);
  if (seen == view.seen.switches.end() || !look(view, seen->second.at, "").fresh) return;
  for (auto& change : cable_changes(view, device)) {
    const Truth state = change.reason.empty() ? Truth::no : Truth::yes;
    std::string why = change.reason.empty() ? "its port is in its place" : change.reason;
    out.changes.push_back({set_condition(change.node, std::string(miswired_condition), state,
                                         std::move(change.reason)),
                           std::move(why)});
  }
}

void follow(const View& view, const Intent& intent, const std::string& place,
            const std::optional<std::vector<Breach>>& breaches,
            const std::vector<Condition>& conditions, NetworkOutcome& out) {
  if (!breaches) return;
  const Condition* stands = find_standing(conditions, "isolation");
  auto change =
      follow_breaches(view, intent, place, *breaches, stands ? stands->since : view.now);
  if (change) out.changes.push_back({std::move(change), tell_lines(lines_of(*breaches))});
}

}  // namespace

NetworkOutcome reconcile_networks(const View& view, const std::string& fabric) {
  NetworkOutcome out;
  const Intent intent = intent_of(view, fabric);
  std::map<NetworkId, std::vector<NetworkSync>> sync;
  const auto collect = [&](std::map<NetworkId, NetworkSync>& from) {
    for (auto& [id, one] : from) sync[id].push_back(std::move(one));
  };
  const auto wake = [&](Instant at) {
    if (at.is_set() && (!out.wake_at.is_set() || at < out.wake_at)) out.wake_at = at;
  };
  for (const auto& [id, device] : view.reg.all<Switch>()) {
    if (fabric_of(device) != fabric) continue;
    SwitchVerdict verdict = reconcile_switch(view, intent, device);
    collect(verdict.sync);
    if (verdict.restore) out.restores.push_back(std::move(*verdict.restore));
    wake(verdict.wake_at);
    follow(view, intent, device.meta.name, verdict.breaches, verdict.status.conditions, out);
    note_cables(view, device, out);
    std::string why = told_of(device.status.conditions, verdict.status.conditions);
    out.changes.push_back({record_switch_status(id, std::move(verdict.status)), std::move(why)});
  }
  for (const auto& [id, other] : view.reg.all<Fabric>()) {
    if (other.spec.technology == FabricTechnology::evpn) continue;
    const Intent partitions = intent_of(view, other.meta.name);
    FabricVerdict verdict = reconcile_fabric(view, partitions, other);
    collect(verdict.sync);
    if (verdict.restore) out.fabric_restores.push_back(std::move(*verdict.restore));
    wake(verdict.wake_at);
    const std::string place = "fabric " + other.meta.name;
    follow(view, partitions, place, verdict.breaches, verdict.conditions, out);
    std::string why = told_of(other.conditions, verdict.conditions);
    out.changes.push_back(
        {record_fabric_conditions(id, std::move(verdict.conditions)), std::move(why)});
  }
  for (const auto& network : intent.networks) {
    const Network* known = view.reg.find(network.id);
    auto& list = sync[network.id];
    const auto storage = known ? storage_sync(view, *known) : std::nullopt;
    if (storage) list.push_back(*storage);
    std::ranges::sort(list, {}, &NetworkSync::object);
    if (known && !same_but_age(known->status.sync, list)) {
      out.changes.push_back({record_sync(network.id, std::move(list)), "seen on the fabric"});
    }
  }
  return out;
}

}  // namespace tundish::control::network
