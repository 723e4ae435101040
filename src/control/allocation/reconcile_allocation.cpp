#include "control/allocation/reconcile_allocation.hpp"

#include <map>

#include "control/allocation/fleet_view.hpp"
#include "control/cluster/drained.hpp"
#include "control/network/cabling.hpp"
#include "control/network/drive.hpp"
#include "control/network/storage.hpp"
#include "control/permit/permit.hpp"
#include "model/ops/allocation_ops.hpp"
#include "model/ops/incident_ops.hpp"

namespace tundish::control {
namespace {

/// What its ports share on a switch changes: lists, targets, routes.
constexpr std::string_view update_port = "update_port";

/// Claim that lets the allocation act on a node: permitted, or a person's. A maintenance window
/// takes no spare: the member comes back when the work is done.
const Claim* acting_claim(const View& view, const NodeId& node) {
  for (const auto& id : view.reg.claims_on(node)) {
    const Claim* claim = view.reg.find(id);
    if (claim && claim->permitted && !is_of_maintenance(*claim)) return claim;
  }
  return nullptr;
}

Action attach_action(const Allocation& allocation, const AllocationNode& member,
                     const std::string& segment) {
  Action action;
  action.key = allocation.id.str() + "/" + member.node.str() + "/port/" +
               (segment.empty() ? "quarantine" : segment) + "/" + std::to_string(member.since.us);
  action.name = segment.empty() ? "quarantine_port" : "attach_port";
  action.action_class = ActionClass::network;
  action.node = member.node;
  action.cluster = allocation.cluster;
  action.allocation = allocation.id;
  action.group = member.cause.empty() ? action.key : member.cause;
  action.limit = seconds(10);
  return action;
}

/// Brings the port to `segment`; true when it was seen there.
bool converge_port(const View& view, const Allocation& allocation, const AllocationNode& member,
                   const std::string& segment, Outcome& out) {
  const Node* node = view.reg.find(member.node);
  if (!node) return false;
  const PortRef port = port_of(view, *node, member.interface);
  if (port.switch_name.empty()) {
    out.reason = "node " + node->meta.name + " has no cabled access port";
    return false;
  }
  const auto seen = seen_segment(view, port);
  const bool there = seen && *seen == segment;
  if (!there && !segment.empty()) {
    if (std::string why = network::miswired_port(*node, member.interface); !why.empty()) {
      out.reason = "waits: " + why;
      return false;
    }
  }
  if (there && !network::is_configured(port)) return true;
  const bool moved_by_hand = seen && !there && member.attached && !segment.empty() &&
                             network::is_drifted(view, allocation, port.switch_name);
  if (moved_by_hand) {
    out.reason = "port " + port.port + " of " + port.switch_name + " was moved by somebody else";
    return false;
  }
  auto intent = network::port_intent(view, allocation, member, port, segment);
  if (!intent) {
    out.reason = intent.error().message();
    return there;
  }
  if (there && !network::is_behind(view, allocation, port, *intent)) return true;
  Action action = attach_action(allocation, member, segment);
  if (there) {  // in its segment, but a list or a target of it changed since
    const Network* held = find_network(view.reg, allocation.id);
    action.key += "/" + std::to_string(held ? held->meta.version : 0);
    action.name = std::string(update_port);
  }
  action.reason = network::change_text(view, port, *intent);
  action.act = AttachAct{port, std::move(*intent)};
  out.actions.push_back(std::move(action));
  return there;
}

/// What the ports of one switch share needs one act: the first that is permitted, else the first.
void keep_one_update(const View& view, std::vector<Action>& actions) {
  const auto switch_of = [](const Action& action) {
    const auto* attach = std::get_if<AttachAct>(&action.act);
    return attach && action.name == update_port ? attach->port.switch_name : std::string();
  };
  std::map<std::string, std::string> kept;  // switch -> key of the act
  std::map<std::string, std::string> first;
  for (const auto& action : actions) {
    const std::string place = switch_of(action);
    if (place.empty()) continue;
    first.emplace(place, action.key);
    if (!kept.contains(place) && waits_for(action, view).empty()) kept.emplace(place, action.key);
  }
  kept.merge(first);
  std::erase_if(actions, [&](const Action& action) {
    const auto known = kept.find(switch_of(action));
    return known != kept.end() && known->second != action.key;
  });
}

/// In the network on every technology, as seen; or out of every one of them.
bool is_everywhere(const View& view, const Allocation& allocation, const AllocationNode& member,
                   bool inside, Outcome& out) {
  const Node* node = view.reg.find(member.node);
  if (!node) return false;
  const auto storage = network::storage_place(view, allocation, member);
  const auto wanted = inside ? network::StoragePlace::inside : network::StoragePlace::outside;
  if (storage != network::StoragePlace::none && storage != wanted) return false;
  const auto look = network::partition_place(view, allocation, *node);
  if (!look.why.empty()) out.reason = look.why;
  if (look.place == network::PartitionPlace::none) return true;
  return look.place ==
         (inside ? network::PartitionPlace::inside : network::PartitionPlace::outside);
}

Action leave_action(const View& view, const Allocation& allocation, const AllocationNode& member) {
  Action action;
  const bool controller = member.role == MemberRole::controller;
  action.key =
      allocation.id.str() + "/" + member.node.str() + "/leave/" + std::to_string(member.since.us);
  action.name = controller ? "stop_controller" : "leave_cluster";
  action.action_class = ActionClass::node_setup;
  action.node = member.node;
  action.cluster = allocation.cluster;
  action.allocation = allocation.id;
  action.group = member.cause.empty() ? action.key : member.cause;
  action.limit = seconds(30);
  action.result_to = ResultTo::member_joined;
  VerbCall call;
  call.verb = controller ? Verb::stop_controller : Verb::leave_cluster;
  if (const Cluster* cluster = view.reg.find(allocation.cluster))
    call.cluster = engine_cluster(*cluster);
  action.act = VerbAct{std::move(call)};
  return action;
}

/// Out of the engine, off the network, seen gone; then it belongs to nobody.
void converge_leaving(const View& view, const Allocation& allocation, const AllocationNode& member,
                      Outcome& out) {
  const Node* node = view.reg.find(member.node);
  if (!node) return;
  const bool releasing = allocation.status.phase == AllocationPhase::releasing;
  if (!releasing && !is_drained(view, *node)) return;
  // A broken member may be skipped: it is wiped later. A controller that is only not heard, as all
  // nodes after a restart of ours, would run on for a cluster that is gone.
  const bool controller = member.role == MemberRole::controller;
  // What a controller's set-up began must go even when it never came to an end.
  const bool there = member.joined || (controller && member.begun);
  if (there && (controller || is_present(view, member.node))) {
    out.actions.push_back(leave_action(view, allocation, member));
    return;
  }
  if (there) {  // not heard: it is shut out as it is
    out.operations.push_back(mark_joined(allocation.id, member.node, false, ""));
    return;
  }
  if (!converge_port(view, allocation, member, "", out)) return;
  if (!is_everywhere(view, allocation, member, false, out)) return;
  if (member.attached) {
    out.operations.push_back(mark_attached(allocation.id, member.node, false));
    return;
  }
  const bool incident = !view.reg.incidents_on(member.node).empty();
  out.operations.push_back(detach_node(allocation.id, member.node,
                                       incident ? NodePhase::revalidating : NodePhase::wiping));
}

/// What is cabled to its port is somebody else, as is only seen once the port is open. One that
/// serves already is not stopped: it is named, and a person decides.
bool take_out_miswired(const View& view, const Allocation& allocation,
                       const AllocationNode& member, Outcome& out) {
  const Node* node = view.reg.find(member.node);
  if (!node || !member.attached || member.joined || member.role == MemberRole::spare) return false;
  const std::string why = network::miswired_port(*node, member.interface);
  if (why.empty()) return false;
  if (converge_port(view, allocation, member, "", out)) {
    out.operations.push_back(mark_attached(allocation.id, member.node, false));
  }
  out.reason = "waits: " + why;
  return true;
}

void converge_member(const View& view, const Allocation& allocation, const AllocationNode& member,
                     Outcome& out) {
  if (member.role == MemberRole::leaving || allocation.status.phase == AllocationPhase::releasing) {
    converge_leaving(view, allocation, member, out);
    return;
  }
  if (take_out_miswired(view, allocation, member, out)) return;
  const bool outside = member.role == MemberRole::spare;
  const std::string segment = outside ? "" : allocation.status.segment;
  const bool there = converge_port(view, allocation, member, segment, out) &&
                     is_everywhere(view, allocation, member, !outside, out);
  if (there && member.attached == outside) {
    out.operations.push_back(mark_attached(allocation.id, member.node, !outside));
  }
}

/// A spare that may well be there: it was only not heard since tundishd started.
bool spare_may_be_there(const View& view, const Allocation& allocation) {
  if (view.now - view.seen.started_at >= view.limits.silent_after) return false;
  for (const auto& member : allocation.status.nodes) {
    const bool usable = member.role == MemberRole::spare && view.reg.claims_on(member.node).empty();
    if (usable && !is_present(view, member.node)) return true;
  }
  return false;
}

/// One claimed member: the spare takes over, else any fitting free node, else the tenant is short.
void replace_member(const View& view, const Allocation& allocation, const AllocationNode& member,
                    const Claim& claim, Outcome& out) {
  if (allocation.spec.replace != Consent::automatic) {
    out.reason = "node is claimed; the tenant does not let it be replaced";
    return;
  }
  if (const auto spare = find_spare(view, allocation, member.node)) {
    out.operations.push_back(bind_spare(allocation.id, member.node, *spare, claim.incident));
    return;
  }
  if (spare_may_be_there(view, allocation)) {
    out.reason = "its spare was not heard since the start yet";
    out.wake(view.seen.started_at + view.limits.silent_after);
    return;
  }
  std::string why;
  if (const auto free = find_stand_in(view, allocation, member.node, why)) {
    out.operations.push_back(mark_leaving(allocation.id, member.node, claim.incident));
    out.operations.push_back(add_node(allocation.id, *free, MemberRole::member, claim.incident));
    return;
  }
  out.operations.push_back(mark_leaving(allocation.id, member.node, claim.incident));
}

/// A free node serves a gang that is short before it becomes anyone's spare.
bool others_are_short(const View& view, const Allocation& mine) {
  for (const auto& [id, other] : view.reg.all<Allocation>()) {
    const bool rival = id != mine.id && other.spec.sku == mine.spec.sku &&
                       other.status.phase != AllocationPhase::releasing;
    if (rival && count_role(other, MemberRole::member) < other.spec.nodes) return true;
  }
  return false;
}

/// The incident that left the allocation short; empty when there is none any more.
IncidentId cause_of_gap(const View& view, const Allocation& allocation) {
  for (const auto& [id, incident] : view.reg.all<Incident>()) {
    const bool open = incident.state == IncidentState::open && incident.replacement.empty();
    if (open && incident.allocation == allocation.id) return id;
  }
  return {};
}

void keep_strength(const View& view, const Allocation& allocation, Outcome& out) {
  for (const auto& member : allocation.status.nodes) {
    const Claim* claim = acting_claim(view, member.node);
    if (!claim) continue;
    if (member.role == MemberRole::spare) {
      out.operations.push_back(mark_leaving(allocation.id, member.node, claim->incident));
    } else if (member.role == MemberRole::member) {
      replace_member(view, allocation, member, *claim, out);
    }
    if (!out.operations.empty()) return;  // decide the next one on the changed registry
  }
  const int members = count_role(allocation, MemberRole::member);
  const int spares = count_role(allocation, MemberRole::spare);
  std::string why;
  if (members < allocation.spec.nodes) {
    if (const auto spare = find_spare(view, allocation, {})) {
      // It could not stand in when the member left: not heard yet, or claimed itself.
      out.operations.push_back(
          bind_spare(allocation.id, {}, *spare, cause_of_gap(view, allocation)));
    } else if (const auto free = find_stand_in(view, allocation, {}, why)) {
      out.operations.push_back(add_node(allocation.id, *free, MemberRole::member, {}));
    }
  } else if (spares < allocation.spec.spares && !others_are_short(view, allocation)) {
    if (const auto free = find_stand_in(view, allocation, {}, why)) {
      out.operations.push_back(add_node(allocation.id, *free, MemberRole::spare, {}));
    }
  }
}

bool all_where(const Allocation& allocation, bool AllocationNode::*field) {
  for (const auto& member : allocation.status.nodes) {
    if (member.role == MemberRole::spare || member.role == MemberRole::leaving) continue;
    if (!(member.*field)) return false;
  }
  return true;
}

int serving(const View& view, const Allocation& allocation) {
  int count = 0;
  for (const auto& member : allocation.status.nodes) {
    const bool serves = member.role == MemberRole::member && member.attached && member.joined;
    if (serves && view.reg.claims_on(member.node).empty()) ++count;
  }
  return count;
}

/// `waits`: why what it wants done is not done; empty: nothing waits.
void advance_phase(const View& view, const Allocation& allocation, const std::string& waits,
                   Outcome& out) {
  const auto& status = allocation.status;
  const auto to = [&](AllocationPhase phase, std::string reason) {
    out.operations.push_back(set_allocation_phase(allocation.id, phase, std::move(reason)));
  };
  const auto stay = [&] {
    if (status.reason != waits) to(status.phase, waits);
  };
  const Cluster* cluster = view.reg.find(allocation.cluster);
  switch (status.phase) {
    case AllocationPhase::network_pending:
      if (!all_where(allocation, &AllocationNode::attached)) return stay();
      to(AllocationPhase::provisioning, "");
      break;
    case AllocationPhase::provisioning:
      if (!all_where(allocation, &AllocationNode::joined)) return stay();
      to(AllocationPhase::verifying, "");
      break;
    case AllocationPhase::verifying:
      if (!cluster || cluster->status.phase != ClusterPhase::active) return stay();
      to(AllocationPhase::active, "");
      break;
    case AllocationPhase::active:
    case AllocationPhase::degraded: {
      const int have = serving(view, allocation);
      if (have >= allocation.spec.nodes) {
        to(AllocationPhase::active, waits);
      } else {
        to(AllocationPhase::degraded, std::to_string(have) + " of " +
                                          std::to_string(allocation.spec.nodes) +
                                          " members serve" + (waits.empty() ? "" : "; " + waits));
      }
      break;
    }
    case AllocationPhase::releasing:
      if (!status.nodes.empty()) return stay();
      out.operations.push_back(remove_cluster(allocation.cluster));
      break;
    case AllocationPhase::requested:
    case AllocationPhase::released:
    case AllocationPhase::failed: break;
  }
}

}  // namespace

Outcome reconcile_allocation(const View& view, const Allocation& allocation) {
  Outcome out;
  const auto phase = allocation.status.phase;
  if (phase != AllocationPhase::releasing) {
    keep_strength(view, allocation, out);
    if (!out.operations.empty()) return out;
  }
  for (const auto& member : allocation.status.nodes) {
    converge_member(view, allocation, member, out);
  }
  for (auto& action : network::beside_actions(view, allocation)) {
    out.actions.push_back(std::move(action));
  }
  network::add_export_acts(view, allocation, out.actions);
  keep_one_update(view, out.actions);
  network::keep_to_one_side(view, out.actions);
  std::string waits = waits_for(out.actions, view);
  if (waits.empty()) waits = waiting_part(out.reason);
  advance_phase(view, allocation, waits, out);
  return out;
}

}  // namespace tundish::control
