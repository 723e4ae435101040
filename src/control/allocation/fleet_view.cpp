#include "control/allocation/fleet_view.hpp"

#include "control/allocation/fleet_cache.hpp"
#include "control/placement/place.hpp"
#include "model/ops/allocation_ops.hpp"
#include "model/ops/node_ops.hpp"

namespace tundish::control {
namespace {

placement::Request request_for(const Allocation& allocation) {
  placement::Request request;
  request.sku = allocation.spec.sku;
  request.count = allocation.spec.nodes;
  return request;
}

/// The NVLink domain that the whole gang is in; empty: several, none, or no gang.
std::string domain_of(const View& view, const Allocation& allocation) {
  if (allocation.spec.nodes < 2) return "";
  std::string domain;
  for (const auto& member : allocation.status.nodes) {
    if (member.role != MemberRole::member && member.role != MemberRole::leaving) continue;
    const Node* node = view.reg.find(member.node);
    if (!node || node->spec.nvlink_domain.empty()) return "";
    if (!domain.empty() && domain != node->spec.nvlink_domain) return "";
    domain = node->spec.nvlink_domain;
  }
  return domain;
}

placement::Swap swap_for(const Allocation& allocation, const NodeId& lost) {
  placement::Swap swap;
  for (const auto& member : allocation.status.nodes) {
    if (member.role == MemberRole::member) swap.members.push_back(member.node.str());
  }
  swap.lost = lost.str();
  return swap;
}

}  // namespace

placement::Slot slot_of(const View& view, const Node& node) {
  placement::Slot slot;
  slot.node = node.id.str();
  slot.pod = node.spec.site;
  slot.leaf_group = node.spec.leaf_group;
  slot.nvlink_domain = node.spec.nvlink_domain;
  slot.sku = node.spec.sku;
  slot.rack = node.spec.rack;
  slot.placeable = placeable(view, node).yes;
  slot.counts_as_capacity =
      node.status.phase != NodePhase::retired && node.status.phase != NodePhase::expected;
  const Sku* sku = view.reg.find_named<Sku>(node.spec.sku);
  slot.gpus = sku ? sku->spec.gpus : 0;
  return slot;
}

placement::Fleet fleet_of(const View& view) {
  placement::Fleet fleet;
  for (const auto& [id, node] : view.reg.all<Node>()) {
    if (node.spec.role == NodeRole::gpu) fleet.slots.push_back(slot_of(view, node));
  }
  return fleet;
}

std::optional<NodeId> find_stand_in(const View& view, const Allocation& allocation,
                                    const NodeId& lost, std::string& why) {
  FleetCache own;
  const auto index = find_fleet(view, own);
  if (!index) {
    why = index.error().what;
    return std::nullopt;
  }
  placement::Request request = request_for(allocation);
  // A tray of another domain cannot stand in: the gang was placed for its NVLink.
  const std::string domain = domain_of(view, allocation);
  for (const auto& [id, node] : view.reg.all<Node>()) {
    if (domain.empty()) break;
    if (node.spec.nvlink_domain != domain) request.excluded_nodes.insert(id.str());
  }
  if (lost.empty()) {
    // A spare stands where it could replace the first member: closest to the gang.
    const auto swap = swap_for(allocation, {});
    if (swap.members.empty()) return std::nullopt;
    placement::Swap beside = swap;
    beside.lost = swap.members.front();
    const auto found = placement::pick_replacement(**index, beside, request);
    if (const auto* node = std::get_if<placement::Replacement>(&found)) return NodeId(node->node);
    why = std::get<placement::Shortfall>(found).text;
    return std::nullopt;
  }
  const auto found = placement::pick_replacement(**index, swap_for(allocation, lost), request);
  if (const auto* node = std::get_if<placement::Replacement>(&found)) return NodeId(node->node);
  why = std::get<placement::Shortfall>(found).text;
  return std::nullopt;
}

std::optional<NodeId> find_spare(const View& view, const Allocation& allocation,
                                 const NodeId& lost) {
  const Node* gone = view.reg.find(lost);
  const std::string domain = domain_of(view, allocation);
  const Node* best = nullptr;
  int best_distance = 0;
  for (const auto& member : allocation.status.nodes) {
    if (member.role != MemberRole::spare) continue;
    const Node* node = view.reg.find(member.node);
    if (!node || !view.reg.claims_on(node->id).empty() || !is_present(view, node->id)) continue;
    if (find_condition(*node, "miswired")) continue;
    if (!domain.empty() && node->spec.nvlink_domain != domain) continue;
    int distance = 2;
    if (gone && node->spec.leaf_group == gone->spec.leaf_group) distance = 1;
    if (gone && !gone->spec.nvlink_domain.empty() &&
        node->spec.nvlink_domain == gone->spec.nvlink_domain) {
      distance = 0;
    }
    if (!best || distance < best_distance) {
      best = node;
      best_distance = distance;
    }
  }
  if (!best) return std::nullopt;
  return best->id;
}

}  // namespace tundish::control
