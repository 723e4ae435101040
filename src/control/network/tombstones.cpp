#include "control/network/tombstones.hpp"

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "control/network/intent.hpp"
#include "model/ops/pool.hpp"
#include "model/prefix.hpp"

namespace tundish::control::network {
namespace {

/// Numbers that one switch or one manager shows, whoever wrote them.
struct Shown {
  std::set<std::pair<std::string, int>> numbers;  ///< (pool, value)
  std::set<std::string> segments;                 ///< names, of switches without configuration
  std::vector<Prefix> storage;
  void add(const char* pool, int value) { numbers.emplace(pool, value); }
  void add_vni(int value) {
    add("l2vni", value);
    add("l3vni", value);
  }
  void add_vlan(int value) {
    add("vlan", value);
    add("l3vlan", value);
  }
  /// The number of a target or a distinguisher.
  void add_target(const std::string& text) {
    const auto number = parse_integer(text.substr(text.find(':') + 1));
    if (number) add_vni(static_cast<int>(*number));
  }
  void add_prefix(const std::string& text) {
    if (const auto prefix = parse_prefix(text)) storage.push_back(*prefix);
  }
};

void add_state(const SwitchState& own, Shown& out) {
  for (const auto& vrf : own.vrfs) {
    out.add("vrf_id", vrf.vrf_id);
    out.add_vni(vrf.l3vni);
    out.add_vlan(vrf.l3vlan);
    for (const auto* list : {&vrf.import_targets, &vrf.export_targets}) {
      for (const auto& target : *list) out.add_target(target);
    }
    for (const auto& route : vrf.routes) out.add_prefix(route.prefix);
    for (const auto& leak : vrf.leaks) {
      for (const auto& prefix : leak.prefixes) out.add_prefix(prefix);
    }
  }
  for (const auto& segment : own.segments) {
    out.add_vlan(segment.vlan);
    out.add_vni(segment.l2vni);
    for (const auto* list : {&segment.import_targets, &segment.export_targets}) {
      for (const auto& target : *list) out.add_target(target);
    }
  }
  for (const auto& port : own.ports) out.add_vlan(port.vlan);
  for (const auto& acl : own.acls) {
    for (const auto& rule : acl.rules) {
      if (rule.source.ends_with("/32")) out.add_prefix(rule.source);
    }
  }
}

Shown shown_by(const View& view, const std::string& name, const SwitchObserved& observed) {
  Shown out;
  const SwitchSeen& seen = observed.reading.seen;
  add_state(seen.own, out);
  for (const int vlan : seen.foreign.vlans) out.add_vlan(vlan);
  for (const int vni : seen.foreign.vnis) out.add_vni(vni);
  for (const auto& target : seen.foreign.route_targets) out.add_target(target);
  for (const auto& [key, port] : view.seen.ports) {
    if (key.first == name && !port.segment.empty()) out.segments.insert(port.segment);
  }
  return out;
}

Shown shown_by(const FabricObserved& observed) {
  Shown out;
  for (const auto& partition : observed.seen.own.partitions) out.add("pkey", partition.pkey);
  for (const int pkey : observed.seen.foreign_pkeys) out.add("pkey", pkey);
  for (const auto& port : observed.ports) {
    for (const auto& entry : port.pkeys) out.add("pkey", entry.pkey);
  }
  for (const auto& partition : observed.seen.own.nvlink) {
    out.add("nvlink_partition", partition.partition_id);
  }
  return out;
}

/// Whoever may still read with an address, or does.
Shown shown_by(const StorageSeen& seen) {
  Shown out;
  for (const auto& one : seen.exports) {
    for (const auto& address : one.addresses) out.add_prefix(address + "/32");
  }
  for (const auto& session : seen.sessions) out.add_prefix(session.address + "/32");
  return out;
}

struct Place {
  Instant looked_at;
  bool clear = true;  ///< every line was understood
  Shown shown;
};

bool is_partition(const std::string& pool) { return pool == "pkey" || pool == "nvlink_partition"; }

class Graveyard {
 public:
  explicit Graveyard(const View& view) : view_(view) {
    for (const auto& [id, fabric] : view.reg.all<Fabric>()) {
      const auto seen = view.seen.fabrics.find(fabric.meta.name);
      if (fabric.spec.technology == FabricTechnology::evpn) continue;
      Place& place = managers_[fabric.meta.name];
      if (seen == view.seen.fabrics.end()) continue;
      // A port that is there and did not answer may still carry any of them.
      const bool all_answered = std::all_of(seen->second.ports.begin(), seen->second.ports.end(),
                                            [](const FabricPort& port) { return port.has_table; });
      place = {seen->second.at, seen->second.seen.unclear.empty() && all_answered,
               shown_by(seen->second)};
    }
    for (const auto& [id, device] : view.reg.all<Switch>()) {
      if (device.spec.management_url.empty()) continue;
      const std::string& name = device.meta.name;
      Place& place = switches_[fabric_of(device)][name];
      const auto seen = view.seen.switches.find(name);
      if (seen == view.seen.switches.end()) continue;
      place = {seen->second.at, seen->second.reading.seen.unclear.empty(),
               shown_by(view, name, seen->second)};
    }
    for (const auto& [id, fabric] : view.reg.all<Fabric>()) {
      if (fabric.spec.storage_url.empty()) continue;
      Place& place = storage_[fabric.meta.name];
      const auto seen = view.seen.storage.find(fabric.meta.name);
      if (seen != view.seen.storage.end()) {
        place = {seen->second.at, true, shown_by(seen->second.seen)};
      }
    }
  }

  /// yes: some place shows it; no: every place was looked at since and none does.
  Truth shows(const PoolEntry& entry) const {
    bool all_looked = true;
    for (const Place* place : places_of(entry)) {
      if (shows(place->shown, entry)) return Truth::yes;
      all_looked = all_looked && place->clear && place->looked_at > entry.since;
    }
    return all_looked ? Truth::no : Truth::unknown;
  }

 private:
  std::vector<const Place*> places_of(const PoolEntry& entry) const {
    std::vector<const Place*> out;
    if (is_partition(entry.pool)) {
      const auto it = managers_.find(entry.fabric);
      if (it != managers_.end()) out.push_back(&it->second);
      return out;
    }
    if (entry.pool == "storage_address") {
      const auto it = storage_.find(entry.fabric);
      if (it != storage_.end()) out.push_back(&it->second);
    }
    const auto slash = entry.fabric.find('/');
    const auto fabric = switches_.find(entry.fabric.substr(0, slash));
    if (fabric == switches_.end()) return out;
    for (const auto& [name, place] : fabric->second) {
      const bool here = slash == std::string::npos || entry.fabric.substr(slash + 1) == name;
      if (here) out.push_back(&place);
    }
    return out;
  }

  bool shows(const Shown& shown, const PoolEntry& entry) const {
    if (entry.pool == "storage_address") {
      const Fabric* fabric = view_.reg.find_named<Fabric>(entry.fabric);
      const auto pool = fabric ? parse_prefix(fabric->spec.storage_node_pool) : std::nullopt;
      if (!pool) return false;
      const Prefix own{pool->address + static_cast<std::uint32_t>(entry.value), 32};
      return std::any_of(shown.storage.begin(), shown.storage.end(),
                         [&](const Prefix& prefix) { return prefix.contains(own); });
    }
    const bool segment = entry.pool == "l2vni" || entry.pool == "segment";
    if (segment && shown.segments.contains(segment_name(entry.value))) return true;
    return shown.numbers.contains({entry.pool, entry.value});
  }

  const View& view_;
  std::map<std::string, Place> managers_, storage_;
  std::map<std::string, std::map<std::string, Place>> switches_;  ///< fabric -> name
};

bool any_tombstone(const View& view) {
  const auto& all = view.reg.all<PoolEntry>();
  return std::any_of(all.begin(), all.end(),
                     [](const auto& item) { return item.second.state == PoolState::tombstone; });
}

void add_use(const View& view, const PoolRef& pool, int value, const std::string& where,
             std::vector<ForeignUse>& out) {
  const auto range = pool_range(view.reg, pool);
  if (range && range->contains(value)) out.push_back({pool, value, where});
}

void add_uses(const View& view, const std::string& fabric, const std::string& where,
              const ForeignNumbers& foreign, std::vector<ForeignUse>& out) {
  const Fabric* declared = view.reg.find_named<Fabric>(fabric);
  const int rt_admin = declared ? declared->spec.rt_admin : FabricSpec{}.rt_admin;
  const auto add_vni = [&](int value) {
    for (const char* pool : {"l2vni", "l3vni"}) add_use(view, {fabric, pool}, value, where, out);
  };
  for (const int vlan : foreign.vlans) {
    for (const char* pool : {"vlan", "l3vlan"}) {
      add_use(view, {fabric + "/" + where, pool}, vlan, where, out);
    }
  }
  for (const int vni : foreign.vnis) add_vni(vni);
  for (const auto& target : foreign.route_targets) {
    const auto colon = target.find(':');
    if (colon == std::string::npos || target.substr(0, colon) != std::to_string(rt_admin)) continue;
    if (const auto number = parse_integer(target.substr(colon + 1))) {
      add_vni(static_cast<int>(*number));
    }
  }
}

/// Every use, or nothing when some place was not looked at: what is not seen is not free.
std::optional<std::vector<ForeignUse>> uses_of(const View& view, const std::string& fabric) {
  std::vector<ForeignUse> out;
  const Fabric* manager = view.reg.find_named<Fabric>(fabric);
  if (manager && manager->spec.technology != FabricTechnology::evpn) {
    const auto seen = view.seen.fabrics.find(fabric);
    if (seen == view.seen.fabrics.end() || !seen->second.at.is_set()) return std::nullopt;
    for (const int pkey : seen->second.seen.foreign_pkeys) {
      add_use(view, {fabric, "pkey"}, pkey, fabric, out);
    }
    return out;
  }
  for (const auto& [id, device] : view.reg.all<Switch>()) {
    if (fabric_of(device) != fabric || device.spec.management_url.empty()) continue;
    const auto seen = view.seen.switches.find(device.meta.name);
    if (seen == view.seen.switches.end() || !seen->second.at.is_set()) return std::nullopt;
    add_uses(view, fabric, device.meta.name, seen->second.reading.seen.foreign, out);
  }
  return out;
}

}  // namespace

std::vector<OperationPtr> tombstone_changes(const View& view) {
  std::vector<OperationPtr> out;
  if (!any_tombstone(view)) return out;
  const Graveyard graveyard(view);
  for (const auto& [id, entry] : view.reg.all<PoolEntry>()) {
    if (entry.state != PoolState::tombstone) continue;
    const Truth shown = graveyard.shows(entry);
    if (shown == Truth::no && !entry.seen_absent) out.push_back(mark_absent(id));
    if (shown == Truth::yes && entry.seen_absent) out.push_back(mark_present(id));
  }
  return out;
}

Instant rest_end(const View& view, const PoolEntry& entry) {
  return std::max(entry.since, view.seen.started_at) + tombstone_time;
}

std::vector<Id<PoolEntry>> rested_tombstones(const View& view) {
  std::vector<Id<PoolEntry>> due, out;
  for (const auto& [id, entry] : view.reg.all<PoolEntry>()) {
    const bool buried = entry.state == PoolState::tombstone && entry.seen_absent;
    if (buried && rest_end(view, entry) <= view.now) due.push_back(id);
  }
  if (due.empty()) return out;
  const Graveyard graveyard(view);
  for (const auto& id : due) {
    if (graveyard.shows(*view.reg.find(id)) == Truth::no) out.push_back(id);
  }
  return out;
}

std::vector<OperationPtr> foreign_changes(const View& view, const std::string& fabric) {
  std::vector<OperationPtr> out;
  auto uses = uses_of(view, fabric);
  if (!uses) return out;
  std::set<std::string> wanted, known;
  for (const auto& use : *uses) {
    const PoolEntry* entry = find_entry(view.reg, use.pool, use.value);
    const bool ours = entry && entry->state == PoolState::held && !is_foreign(*entry);
    if (!ours) {
      wanted.insert(use.pool.fabric + "/" + use.pool.pool + "/" + std::to_string(use.value));
    }
  }
  for (const auto& [id, entry] : view.reg.all<PoolEntry>()) {
    const bool here = entry.fabric.substr(0, entry.fabric.find('/')) == fabric;
    if (here && entry.state == PoolState::held && is_foreign(entry)) known.insert(entry.meta.name);
  }
  if (wanted != known) out.push_back(note_foreign(fabric, std::move(*uses)));
  return out;
}

}  // namespace tundish::control::network
