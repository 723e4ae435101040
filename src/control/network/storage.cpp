#include "control/network/storage.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.hpp"
#include "control/network/difference.hpp"
#include "control/network/reconcile_switch.hpp"
#include "model/ops/allocation_ops.hpp"
#include "model/ops/pool.hpp"
#include "model/prefix.hpp"

namespace tundish::control::network {
namespace {

bool uses_storage(const AllocationNode& member) {
  return member.role == MemberRole::member || member.role == MemberRole::login;
}

bool leaves(const Allocation& allocation, const AllocationNode& member) {
  return member.role == MemberRole::leaving ||
         allocation.status.phase == AllocationPhase::releasing;
}

/// Its own unmounting comes first, as long as its agent is there to do it. One that is not heard is
/// shut out at once: it may still write.
bool may_be_shut_out(const View& view, const AllocationNode& member) {
  return !member.joined || !is_present(view, member.node);
}

const StorageExport* find_export(const StorageSeen& seen, const std::string& name) {
  for (const auto& one : seen.exports) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

bool is_granted(const StorageSeen& seen, const std::string& address) {
  return std::any_of(seen.exports.begin(), seen.exports.end(), [&](const StorageExport& one) {
    return std::count(one.addresses.begin(), one.addresses.end(), address) != 0;
  });
}

bool is_granted(const StorageExport* one, const std::string& address) {
  return one && std::count(one->addresses.begin(), one->addresses.end(), address) != 0;
}

bool has_session(const StorageSeen& seen, const std::string& address) {
  return std::any_of(seen.sessions.begin(), seen.sessions.end(),
                     [&](const StorageSession& one) { return one.address == address; });
}

/// The storage VRF of one switch takes the address in, as seen.
bool takes_in(const SwitchState& seen, const Network& network, const FabricSpec& fabric,
              const Prefix& own) {
  const VrfState* vrf = find_vrf(seen, fabric.storage_vrf);
  if (!vrf) return false;
  for (const auto& leak : vrf->leaks) {
    if (leak.from_vrf != vrf_name(network.status.vrf_id)) continue;
    for (const auto& text : leak.prefixes) {
      const auto prefix = parse_prefix(text);
      if (prefix && prefix->contains(own)) return true;
    }
  }
  return false;
}

/// On the switches that the storage is cabled to, as seen. One that was not read is `unknown`.
struct Routed {
  bool everywhere = true, somewhere = false;
};
Routed routed(const View& view, const Network& network, const std::string& address) {
  Routed out;
  const Fabric* fabric = view.reg.find_named<Fabric>(network.status.fabric);
  const auto own = parse_prefix(address + "/32");
  if (!fabric || !own) return {false, false};
  for (const auto& port : fabric->spec.storage_ports) {
    const auto seen = view.seen.switches.find(port.switch_name);
    const Switch* device = view.reg.find_named<Switch>(port.switch_name);
    if (device && (device->spec.driver.empty() || device->spec.driver == "flat")) continue;
    const bool read = seen != view.seen.switches.end() && seen->second.reading.has_config;
    const bool in = read && takes_in(seen->second.reading.seen.own, network, fabric->spec, *own);
    out.everywhere = out.everywhere && in;
    out.somewhere = out.somewhere || in;
  }
  return out;
}

Action make_act(const Allocation& allocation, const Network& network, const StorageAct& act,
                const std::string& name) {
  Action action;
  action.key = allocation.id.str() + "/" + name + "/" + std::to_string(network.meta.version) +
               "/+" + join(act.change.grant, ",") + "/-" + join(act.change.revoke, ",");
  action.name = name;
  action.action_class = ActionClass::network;
  action.cluster = allocation.cluster;
  action.allocation = allocation.id;
  action.group = action.key;
  action.limit = seconds(15);
  action.act = act;
  return action;
}

std::string node_name(const View& view, const NodeId& id) {
  const Node* node = view.reg.find(id);
  return node ? node->meta.name : id.str();
}

}  // namespace

std::optional<StoragePlan> storage_plan(const View& view, const Network& network) {
  const Fabric* fabric = view.reg.find_named<Fabric>(network.status.fabric);
  const Tenant* tenant = view.reg.find(network.meta.tenant);
  const bool driven = fabric && !fabric->spec.storage_url.empty() && network.spec.storage;
  if (!driven || !tenant) return std::nullopt;
  StoragePlan out;
  out.ref = {network.status.fabric, fabric->spec.storage_url};
  out.export_name = tenant->meta.name;
  out.mount_address = fabric->spec.storage_mount_address;
  out.prefix = fabric->spec.storage_prefix;
  return out;
}

const StorageObserved* fresh_storage(const View& view, const std::string& fabric) {
  const auto found = view.seen.storage.find(fabric);
  if (found == view.seen.storage.end() || !found->second.at.is_set()) return nullptr;
  return view.now - found->second.at <= stale_after ? &found->second : nullptr;
}

std::string storage_address(const Network& network, const NodeId& node) {
  for (const auto& own : network.status.storage) {
    if (own.node == node) return own.address;
  }
  return "";
}

StoragePlace storage_place(const View& view, const Allocation& allocation,
                           const AllocationNode& member) {
  const Network* network = find_network(view.reg, allocation.id);
  const auto plan = network ? storage_plan(view, *network) : std::nullopt;
  if (!plan) return StoragePlace::none;
  const std::string address = storage_address(*network, member.node);
  if (address.empty() || member.role == MemberRole::controller) return StoragePlace::none;
  const StorageObserved* seen = fresh_storage(view, network->status.fabric);
  if (!seen) return StoragePlace::unknown;
  const Routed way = routed(view, *network, address);
  if (!is_granted(seen->seen, address)) {
    // A grant that was sent before the node had to leave may still arrive.
    const bool sent = seen->written.contains(plan->export_name);
    const bool left = sent || has_session(seen->seen, address) || way.somewhere;
    return left ? StoragePlace::unknown : StoragePlace::outside;
  }
  const bool own = is_granted(find_export(seen->seen, plan->export_name), address);
  return own && way.everywhere ? StoragePlace::inside : StoragePlace::unknown;
}

bool storage_place_is_known(const View& view, const Allocation& allocation) {
  const Network* network = find_network(view.reg, allocation.id);
  if (!network || !storage_plan(view, *network)) return true;
  const auto found = view.seen.storage.find(network->status.fabric);
  return found != view.seen.storage.end() && found->second.at.is_set();
}

void add_export_acts(const View& view, const Allocation& allocation, std::vector<Action>& out) {
  const Network* network = find_network(view.reg, allocation.id);
  const auto plan = network ? storage_plan(view, *network) : std::nullopt;
  const StorageObserved* seen = plan ? fresh_storage(view, network->status.fabric) : nullptr;
  if (!seen) return;
  const StorageExport* own = find_export(seen->seen, plan->export_name);
  if (!own) return;  // the cluster's controller makes it
  StorageAct act{plan->ref, {}};
  act.change.export_name = plan->export_name;
  for (const auto& member : allocation.status.nodes) {
    const std::string address = storage_address(*network, member.node);
    if (address.empty()) continue;
    const bool granted = is_granted(own, address);
    if (leaves(allocation, member)) {
      const bool left = !granted && !has_session(seen->seen, address);
      if (!left && may_be_shut_out(view, member)) act.change.revoke.push_back(address);
    } else if (uses_storage(member)) {
      if (!granted) act.change.grant.push_back(address);
    } else if (granted) {
      act.change.revoke.push_back(address);
    }
  }
  if (act.change.grant.empty() && act.change.revoke.empty()) return;
  out.push_back(make_act(allocation, *network, act,
                         act.change.revoke.empty() ? "grant_export" : "revoke_export"));
  const auto& change = act.change;
  std::string& reason = out.back().reason;
  reason = "export " + change.export_name + ":";
  if (!change.grant.empty()) reason += " grant " + join(change.grant, ", ");
  if (!change.revoke.empty()) reason += " revoke " + join(change.revoke, ", ");
}

std::optional<Action> revoke_orphans(const View& view, const std::string& fabric) {
  const Fabric* found = view.reg.find_named<Fabric>(fabric);
  const StorageObserved* seen = fresh_storage(view, fabric);
  const auto pool = found ? parse_prefix(found->spec.storage_node_pool) : std::nullopt;
  if (!seen || !pool || found->spec.storage_url.empty()) return std::nullopt;
  std::set<std::string> held;
  for (const auto& [id, network] : view.reg.all<Network>()) {
    if (network.status.fabric != fabric) continue;
    for (const auto& own : network.status.storage) held.insert(own.address);
  }
  for (const auto& one : seen->seen.exports) {
    StorageAct act{{fabric, found->spec.storage_url}, {}};
    act.change.export_name = one.name;
    for (const auto& address : one.addresses) {
      const auto number = parse_ipv4(address);
      if (!number || held.contains(address) || !pool->contains({*number, 32})) continue;
      const int value = static_cast<int>(*number - pool->address);
      if (find_entry(view.reg, {fabric, "storage_address"}, value)) {
        act.change.revoke.push_back(address);
      }
    }
    if (act.change.revoke.empty()) continue;
    Action action;
    action.key = "storage/" + fabric + "/orphans/" + join(act.change.revoke, ",");
    action.name = "revoke_export";
    action.action_class = ActionClass::network;
    action.group = action.key;
    action.limit = seconds(15);
    action.act = std::move(act);
    return action;
  }
  return std::nullopt;
}

std::optional<Action> make_export(const View& view, const Allocation& allocation) {
  const Network* network = find_network(view.reg, allocation.id);
  const auto plan = network ? storage_plan(view, *network) : std::nullopt;
  const StorageObserved* seen = plan ? fresh_storage(view, network->status.fabric) : nullptr;
  if (!seen || find_export(seen->seen, plan->export_name)) return std::nullopt;
  StorageAct act{plan->ref, {}};
  act.change.export_name = plan->export_name;
  Action action = make_act(allocation, *network, act, "make_export");
  action.reason = "export " + act.change.export_name + " is not there";
  return action;
}

namespace {

/// A grant, a session or a key that nobody ordered.
struct ForeignGrant {
  std::string kind;  ///< "grant", "session" or "key"
  std::string whom, where;
  std::string text() const { return kind + " " + whom + " in export " + where; }
  std::string state() const {
    return kind == "grant" ? "granted" : kind == "key" ? "accepted" : "open";
  }
};

/// The end of a key tells it from others and fits a line.
std::string short_key(const std::string& key) {
  constexpr std::size_t told = 16;
  const auto space = key.find(' ');
  if (space == std::string::npos || key.size() - space <= told + 1) return key;
  return key.substr(0, space) + " ..." + key.substr(key.size() - told);
}

/// Keys that open the export and are not the tenant's. Until its key is known nothing is said.
void find_foreign_keys(const View& view, const Network& network, const StoragePlan& plan,
                       const StorageSeen& seen, std::vector<ForeignGrant>& out) {
  const auto own = view.seen.storage_keys.find(network.meta.tenant);
  const StorageExport* made = find_export(seen, plan.export_name);
  if (!made || own == view.seen.storage_keys.end()) return;
  for (const auto& key : made->keys) {
    if (key != own->second) out.push_back({"key", short_key(key), plan.export_name});
  }
}

/// Its export is there, and nobody can tell which keys open it.
bool keys_are_unknown(const View& view, const Network& network, const StoragePlan& plan,
                      const StorageSeen& seen) {
  if (!find_export(seen, plan.export_name)) return false;
  return !seen.shows_keys || !view.seen.storage_keys.contains(network.meta.tenant);
}

/// Who has an address towards the storage.
struct AddressOwner {
  const Network* network = nullptr;
  NodeId node;
};

std::map<std::string, AddressOwner> owners_of_addresses(const View& view,
                                                        const std::string& fabric) {
  std::map<std::string, AddressOwner> out;
  for (const auto& [id, network] : view.reg.all<Network>()) {
    if (network.status.fabric != fabric) continue;
    for (const auto& own : network.status.storage) out[own.address] = {&network, own.node};
  }
  return out;
}

std::vector<ForeignGrant> find_foreign(const View& view, const Network& network) {
  std::vector<ForeignGrant> out;
  const auto plan = storage_plan(view, network);
  const auto found = view.seen.storage.find(network.status.fabric);
  if (!plan || found == view.seen.storage.end()) return out;
  const auto owners = owners_of_addresses(view, network.status.fabric);
  const auto look = [&](const char* kind, const std::string& address, const std::string& where) {
    const auto owner = owners.find(address);
    const Network* whose = owner == owners.end() ? nullptr : owner->second.network;
    const bool of_tenant = whose && whose->meta.tenant == network.meta.tenant;
    const bool of_network = whose && whose->id == network.id;
    const bool is_own = where == plan->export_name;
    if (is_own ? of_tenant : !of_network) return;
    const Tenant* tenant = whose ? view.reg.find(whose->meta.tenant) : nullptr;
    const std::string whom =
        !whose ? "nobody's address " + address
               : node_name(view, owner->second.node) + " " + address + " of " +
                     (tenant ? tenant->meta.name : whose->meta.tenant.str()) + "/" +
                     whose->meta.name;
    out.push_back({kind, whom, where});
  };
  for (const auto& one : found->second.seen.exports) {
    for (const auto& address : one.addresses) look("grant", address, one.name);
  }
  for (const auto& session : found->second.seen.sessions) {
    if (!session.name.empty()) look("session", session.address, session.name);
  }
  find_foreign_keys(view, network, *plan, found->second.seen, out);
  return out;
}

}  // namespace

namespace {
const std::string keys_of = "keys of export ";
}  // namespace

std::string storage_name(const std::string& fabric) { return "storage of " + fabric; }

std::vector<std::string> foreign_grants(const View& view, const Network& network) {
  std::vector<std::string> out;
  for (const auto& one : find_foreign(view, network)) out.push_back(one.text());
  return out;
}

std::optional<NetworkSync> storage_sync(const View& view, const Network& network) {
  if (!storage_plan(view, network)) return std::nullopt;
  NetworkSync next;
  next.object = storage_name(network.status.fabric);
  for (const auto& known : network.status.sync) {
    if (known.object == next.object) next = known;
  }
  const auto found = view.seen.storage.find(network.status.fabric);
  const Instant at = found == view.seen.storage.end() ? Instant{} : found->second.at;
  if (!at.is_set() && view.now - view.seen.started_at <= stale_after) return next;
  next.observed_at = at;
  if (!fresh_storage(view, network.status.fabric)) {
    next.state = SyncState::unknown;
    next.reason = at.is_set() ? "not read since " + render_utc(at) : "never read";
    const bool told = found != view.seen.storage.end() && !found->second.fault.empty();
    if (told) next.reason += ": " + found->second.fault;
    return next;
  }
  std::vector<std::string> differs = foreign_grants(view, network);
  next.state = differs.empty() ? SyncState::synced : SyncState::drifted;
  for (const auto& row : export_rows(view, network)) {
    if (row.wanted == row.observed || next.state == SyncState::drifted) continue;
    if (row.known == RowKnown::no) continue;
    differs.push_back(row.item + (row.wanted.empty() ? " is still there" : " is missing"));
  }
  if (next.state == SyncState::synced && !differs.empty()) {
    next.state = next.version > 0 ? SyncState::pending : SyncState::applying;
  }
  next.reason = tell_lines(differs);
  const auto plan = storage_plan(view, network);
  const bool untold = keys_are_unknown(view, network, *plan, found->second.seen);
  if (next.state == SyncState::synced && untold) {
    next.state = SyncState::unknown;
    next.reason = keys_of + plan->export_name + ": the server does not tell which open it";
    return next;
  }
  if (next.state == SyncState::synced) next.version = network.meta.version;
  return next;
}

std::vector<ExportRow> export_rows(const View& view, const Network& network) {
  std::vector<ExportRow> out;
  const auto plan = storage_plan(view, network);
  const Allocation* allocation = view.reg.find(network.allocation);
  if (!plan || !allocation) return out;
  const auto found = view.seen.storage.find(network.status.fabric);
  const StorageSeen nothing;
  const StorageSeen& seen = found == view.seen.storage.end() ? nothing : found->second.seen;
  const StorageExport* own = find_export(seen, plan->export_name);
  out.push_back({"export " + plan->export_name, "made", own ? "made" : ""});
  if (keys_are_unknown(view, network, *plan, seen)) {
    out.push_back({keys_of + plan->export_name, "the tenant's", "not told", RowKnown::no});
  }
  for (const auto& member : allocation->status.nodes) {
    const std::string address = storage_address(network, member.node);
    const bool inside =
        member.role != MemberRole::controller && is_inside(*allocation, member);
    const bool granted = is_granted(own, address);
    if (address.empty() || (!inside && !granted && !has_session(seen, address))) continue;
    const std::string label = node_name(view, member.node) + " " + address;
    out.push_back({"grant " + label, inside ? "granted" : "", granted ? "granted" : ""});
    // Between two uses a client may have none.
    const bool open = has_session(seen, address);
    if (inside) {
      out.push_back({"session " + label, open ? "open" : "idle", open ? "open" : "idle"});
    } else if (open) {
      out.push_back({"session " + label, "", "open"});
    }
  }
  for (const auto& one : find_foreign(view, network)) {
    out.push_back({one.text(), "", one.state()});
  }
  return out;
}

}  // namespace tundish::control::network
