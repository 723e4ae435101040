#include "control/network/drive.hpp"

#include <algorithm>

#include "control/network/difference.hpp"
#include "control/network/port_tables.hpp"
#include "control/network/reconcile_switch.hpp"

namespace tundish::control::network {
namespace {

const SwitchObserved* fresh_switch(const View& view, const std::string& name) {
  const auto found = view.seen.switches.find(name);
  if (found == view.seen.switches.end() || !found->second.reading.has_config) return nullptr;
  return view.now - found->second.at <= stale_after ? &found->second : nullptr;
}

const FabricObserved* fresh_fabric(const View& view, const std::string& name) {
  const auto found = view.seen.fabrics.find(name);
  if (found == view.seen.fabrics.end() || !found->second.at.is_set()) return nullptr;
  return view.now - found->second.at <= stale_after ? &found->second : nullptr;
}

Action make_action(const Allocation& allocation, const Network& network, const std::string& name,
                   const std::string& object) {
  Action action;
  action.key =
      allocation.id.str() + "/" + name + "/" + object + "/" + std::to_string(network.meta.version);
  action.name = name;
  action.action_class = ActionClass::network;
  action.cluster = allocation.cluster;
  action.allocation = allocation.id;
  action.group = action.key;
  action.limit = seconds(20);
  return action;
}

PortRef storage_port(const View& view, const std::string& fabric, const std::string& name) {
  PortRef out;
  const Switch* device = view.reg.find_named<Switch>(name);
  const Fabric* found = view.reg.find_named<Fabric>(fabric);
  if (!device || !found) return out;
  for (const auto& port : found->spec.storage_ports) {
    if (port.switch_name != name) continue;
    out = {name, device->spec.management_url, port.port, device->spec.driver};
  }
  return out;
}

/// What an order leaves as it is, in use or not: the networks of others, and the storage's VRF.
/// What nobody in the registry has is nobody's to keep.
std::vector<std::string> kept_vrfs(const View& view, const Allocation& allocation,
                                   const Intent& intent, const std::string& switch_name) {
  std::vector<std::string> out = keep_vrfs(intent, switch_name);
  for (const auto& [id, other] : view.reg.all<Network>()) {
    const bool beside = other.allocation != allocation.id && other.status.vrf_id != 0 &&
                        other.status.fabric == intent.fabric;
    if (beside) out.push_back(vrf_name(other.status.vrf_id));
  }
  return out;
}

void add_storage_acts(const View& view, const Allocation& allocation, const Network& network,
                      std::vector<Action>& out) {
  if (!network.spec.storage) return;
  for (const auto& name : storage_switches(view, network.status.fabric)) {
    const PortRef port = storage_port(view, network.status.fabric, name);
    if (!is_configured(port) || !fresh_switch(view, name)) continue;
    const Switch* device = view.reg.find_named<Switch>(name);
    auto patch = storage_patch(view, allocation, name);
    if (!patch || !device) continue;
    PortIntent intent;
    intent.patch = std::move(*patch);
    const Intent all = intent_of(view, network.status.fabric);
    intent.segment = all.spec.storage_vrf;
    intent.keep_vrfs = kept_vrfs(view, allocation, all, name);
    intent.ownership = ownership_of(view, *device);
    if (!is_behind(view, allocation, port, intent)) continue;
    Action action = make_action(allocation, network, "route_storage", name);
    action.reason = change_text(view, port, intent);
    action.act = AttachAct{port, std::move(intent)};
    out.push_back(std::move(action));
  }
}

/// The partition of one network in a state; nullptr: it has none there.
const IbPartitionState* partition_in(const FabricState& state, int pkey) {
  for (const auto& partition : state.partitions) {
    if (partition.pkey == pkey) return &partition;
  }
  return nullptr;
}

/// A GUID that is still seen elsewhere does not enter: it would join two tenants.
std::optional<IbPartitionState> wanted_partition(const View& view, const Network& network,
                                                 const FabricObserved& seen,
                                                 const FabricOwnership& ownership) {
  const FabricState plan = plan_fabric(view, network.status.partition_fabric);
  const IbPartitionState* wanted = partition_in(plan, network.status.pkey);
  if (!wanted) return std::nullopt;
  IbPartitionState out = *wanted;
  const IbPartitionState* there = partition_in(seen.seen.own, network.status.pkey);
  std::erase_if(out.members, [&](const IbMember& member) {
    const bool is_in = there && std::any_of(there->members.begin(), there->members.end(),
                                            [&](const auto& in) { return in == member; });
    return !is_in && is_elsewhere(seen, ownership, member.guid, out.pkey);
  });
  if (out.members.empty()) return std::nullopt;
  return out;
}

std::string partition_change(const View& view, const std::string& fabric,
                             const FabricState& desired, const FabricState& seen) {
  const Intent intent = intent_of(view, fabric);
  std::vector<std::string> lines;
  for (const auto& one : differences(intent, desired, seen)) {
    lines.push_back(name_guids(intent, one.what));
  }
  return fabric + " " + tell_lines(lines);
}

void add_partition_act(const View& view, const Allocation& allocation, const Network& network,
                       std::vector<Action>& out) {
  const std::string& name = network.status.partition_fabric;
  const FabricObserved* seen = fresh_fabric(view, name);
  const Fabric* fabric = view.reg.find_named<Fabric>(name);
  if (network.status.pkey == 0 || !seen || !fabric || fabric->spec.management_url.empty()) return;
  const auto wanted = wanted_partition(view, network, *seen, fabric->spec.partitions);
  const IbPartitionState* there = partition_in(seen->seen.own, network.status.pkey);
  const bool same = wanted ? there && *wanted == *there : there == nullptr;
  if (same || is_drifted(view, allocation, name)) return;
  // Only this network's partition: the others' orders are theirs to permit.
  FabricState desired = seen->seen.own;
  std::erase_if(desired.partitions, [&](const IbPartitionState& partition) {
    return partition.pkey == network.status.pkey;
  });
  if (wanted) desired.partitions.push_back(*wanted);
  std::ranges::sort(desired.partitions, {}, &IbPartitionState::pkey);
  Action action = make_action(allocation, network, "set_partition", name);
  action.reason = partition_change(view, name, desired, seen->seen.own);
  action.act =
      FabricAct{{name, fabric->spec.management_url, fabric->spec.partitions}, std::move(desired)};
  out.push_back(std::move(action));
}

/// One HCA, by its own table, or by the manager's word where the manager shows no tables. A port
/// that is down carries nothing: it is outside as soon as the manager no longer names it.
PartitionLook place_of(const FabricObserved& seen, const Fabric& fabric, const std::string& guid,
                       int pkey) {
  const auto unknown = [&](const std::string& why) {
    return PartitionLook{PartitionPlace::unknown, "port " + guid + " " + why};
  };
  const IbPartitionState* listed = partition_in(seen.seen.own, pkey);
  const bool named = listed && std::any_of(listed->members.begin(), listed->members.end(),
                                           [&](const auto& in) { return in.guid == guid; });
  if (!seen.has_tables) return {named ? PartitionPlace::inside : PartitionPlace::outside, ""};
  const Carries there = carries(seen, guid, pkey);
  if (there == Carries::silent) return unknown("did not answer");
  if (!named && there == Carries::yes) return unknown("still carries PKey " + pkey_text(pkey));
  if (!named) return {PartitionPlace::outside, ""};
  if (there == Carries::down) return unknown("is down");
  if (there == Carries::no) return unknown("does not carry PKey " + pkey_text(pkey) + " yet");
  const std::string stranger = stranger_in(seen, fabric.spec.partitions, guid, pkey);
  if (!stranger.empty()) return unknown(stranger);
  return {PartitionPlace::inside, ""};
}

}  // namespace

bool is_drifted(const View& view, const Allocation& allocation, const std::string& switch_name) {
  const Network* network = find_network(view.reg, allocation.id);
  if (!network) return false;
  return std::any_of(network->status.sync.begin(), network->status.sync.end(),
                     [&](const NetworkSync& sync) {
                       return sync.object == switch_name && sync.state == SyncState::drifted;
                     });
}

bool is_configured(const PortRef& port) { return !port.driver.empty() && port.driver != "flat"; }

Result<PortIntent> port_intent(const View& view, const Allocation& allocation,
                               const AllocationNode& member, const PortRef& port,
                               const std::string& segment) {
  PortIntent intent;
  intent.segment = segment;
  if (!is_configured(port)) return intent;
  const Switch* device = view.reg.find_named<Switch>(port.switch_name);
  if (!device) return make_error(Code::not_found, "switch " + port.switch_name + " is not known");
  intent.patch = TRY(patch_for(view, allocation, member.node, member.interface,
                               segment.empty() ? PatchTarget::quarantine : PatchTarget::attach));
  const Intent all = intent_of(view, fabric_of(*device));
  intent.keep_vrfs = kept_vrfs(view, allocation, all, port.switch_name);
  intent.ownership = ownership_of(view, *device);
  return intent;
}

bool is_behind(const View& view, const Allocation& allocation, const PortRef& port,
               const PortIntent& intent) {
  const SwitchObserved* seen = fresh_switch(view, port.switch_name);
  if (!seen || is_drifted(view, allocation, port.switch_name)) return false;
  const SwitchState& own = seen->reading.seen.own;
  return !(merge_patch(own, intent.patch, intent.keep_vrfs) == own);
}

std::string change_text(const View& view, const PortRef& port, const PortIntent& intent) {
  if (!is_configured(port)) {
    const auto seen = seen_segment(view, port);
    const auto place = [](const std::string& segment) {
      return segment.empty() ? "quarantine" : segment;
    };
    return port.port + ": " + (seen ? "in " + place(*seen) : "not seen") + ", wanted in " +
           place(intent.segment);
  }
  const SwitchObserved* seen = fresh_switch(view, port.switch_name);
  const Switch* device = view.reg.find_named<Switch>(port.switch_name);
  if (!seen || !device) return port.port + ": " + port.switch_name + " was not read lately";
  const SwitchState& own = seen->reading.seen.own;
  std::vector<std::string> lines;
  for (auto& one : differences(intent_of(view, fabric_of(*device)), port.switch_name,
                               merge_patch(own, intent.patch, intent.keep_vrfs), own)) {
    lines.push_back(std::move(one.what));
  }
  return port.switch_name + " " + tell_lines(lines);
}

std::vector<Action> beside_actions(const View& view, const Allocation& allocation) {
  std::vector<Action> out;
  const Network* network = find_network(view.reg, allocation.id);
  if (!network) return out;
  add_storage_acts(view, allocation, *network, out);
  add_partition_act(view, allocation, *network, out);
  return out;
}

PartitionLook partition_place(const View& view, const Allocation& allocation, const Node& node) {
  const Network* network = find_network(view.reg, allocation.id);
  if (!network || network->status.pkey == 0) return {};
  std::vector<std::string> guids;
  for (const auto& port : node.spec.ports) {
    if (!port.guid.empty()) guids.push_back(port.guid);
  }
  if (guids.empty()) return {};
  const std::string& name = network->status.partition_fabric;
  const Fabric* fabric = view.reg.find_named<Fabric>(name);
  if (!fabric || fabric->spec.management_url.empty()) {
    return {PartitionPlace::unknown, "fabric " + name + " has no management_url: nobody can see " +
                                         "the partition of node " + node.meta.name};
  }
  const FabricObserved* seen = fresh_fabric(view, name);
  if (!seen) return {PartitionPlace::unknown, "fabric " + name + " was not read lately"};
  std::optional<PartitionPlace> place;
  for (const auto& guid : guids) {
    const PartitionLook one = place_of(*seen, *fabric, guid, network->status.pkey);
    const std::string about = "node " + node.meta.name + ": ";
    if (one.place == PartitionPlace::unknown) return {one.place, about + one.why};
    if (place && *place != one.place) {
      return {PartitionPlace::unknown, about + "its ports are not all in the same partition"};
    }
    place = one.place;
  }
  return {*place, ""};
}

}  // namespace tundish::control::network
