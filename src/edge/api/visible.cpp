#include "edge/api/visible.hpp"

#include "edge/api/tenant_blame.hpp"
#include "model/ops/allocation_ops.hpp"

namespace tundish::edge::api {
namespace {

std::optional<TenantId> owner_of_allocation(const Registry& view, const AllocationId& id) {
  const Allocation* held = view.find(id);
  if (!held || held->meta.tenant.empty()) return std::nullopt;
  return held->meta.tenant;
}

bool is_for_tenants(std::string_view what) {
  for (const std::string_view known : {"detected", "claimed", "job hit", "job running again",
                                       "allocation whole again", "returned"}) {
    if (what == known) return true;
  }
  return false;
}

}  // namespace

std::optional<TenantId> owner_of(const Registry&, const Tenant& tenant) { return tenant.id; }
std::optional<TenantId> owner_of(const Registry&, const User& user) { return own_tenant(user); }
std::optional<TenantId> owner_of(const Registry&, const Token& token) { return own_tenant(token); }
std::optional<TenantId> owner_of(const Registry&, const Secret& secret) {
  return own_tenant(secret);
}
std::optional<TenantId> owner_of(const Registry&, const Cluster& cluster) {
  return own_tenant(cluster);
}
std::optional<TenantId> owner_of(const Registry&, const Allocation& allocation) {
  return own_tenant(allocation);
}
std::optional<TenantId> owner_of(const Registry&, const Network& network) {
  return own_tenant(network);
}
std::optional<TenantId> owner_of(const Registry& view, const Node& node) {
  const Allocation* held = view.find(node.status.allocation);
  const AllocationNode* member = held ? find_member(*held, node.id) : nullptr;
  // A spare is the operator's until it is bound.
  if (!member || member->role == MemberRole::spare) return std::nullopt;
  return owner_of_allocation(view, node.status.allocation);
}
/// Of one on a shared part: the tenant that it hits, when it hits one only.
std::optional<TenantId> owner_of(const Registry& view, const Incident& incident) {
  if (!incident.allocation.empty() || incident.allocations.empty()) {
    return owner_of_allocation(view, incident.allocation);
  }
  const auto first = owner_of_allocation(view, incident.allocations.front());
  for (const auto& id : incident.allocations) {
    if (owner_of_allocation(view, id) != first) return std::nullopt;
  }
  return first;
}
bool is_visible(const Registry& view, const Identity& who, const Incident& incident) {
  if (who.tenant.empty()) return true;
  if (!incident.allocation.empty()) {
    return owner_of_allocation(view, incident.allocation) == who.tenant;
  }
  for (const auto& id : incident.allocations) {
    if (owner_of_allocation(view, id) == who.tenant) return true;
  }
  return false;
}
std::optional<TenantId> owner_of(const Registry&, const NodeReport& report) {
  return own_tenant(report);
}
std::optional<TenantId> owner_of(const Registry&, const Sku&) { return TenantId(); }

void redact(const Identity&, Token& token) { token.hash.clear(); }

void redact(const Identity&, Secret& secret) { secret.sealed.clear(); }

/// A tenant learns nothing of the switches; what it may know is whether its network is in step.
void redact(const Identity& who, Network& network) {
  if (who.tenant.empty()) return;
  network.status.switches.clear();
  for (auto& sync : network.status.sync) {
    sync.object.clear();
    sync.reason.clear();
  }
}

void redact(const Identity& who, Node& node) {
  if (who.tenant.empty()) return;
  NodeSpec spec;
  spec.role = node.spec.role;
  spec.sku = node.spec.sku;
  node.spec = spec;
  NodeStatus status;
  status.phase = node.status.phase;
  status.phase_since = node.status.phase_since;
  status.allocation = node.status.allocation;
  status.enrolled = node.status.enrolled;
  for (const auto& gpu : node.status.hardware.gpus) {
    status.hardware.gpus.push_back({gpu.index, gpu.uuid, "", gpu.model, ""});
  }
  node.status = status;
}

/// Reasons and evidence of checks may name serials, racks and cables.
void redact(const Identity& who, NodeReport& report) {
  if (who.tenant.empty()) return;
  for (auto& verdict : report.verdicts) {
    verdict.reason.clear();
    verdict.evidence.clear();
  }
}

/// What an order waits for names scopes of the provider.
void hide_wait(std::string& reason) {
  const auto at = reason.find("waits: ");
  if (at != std::string::npos) reason = reason.substr(0, at) + "waits for the provider";
}

void redact(const Identity& who, Allocation& allocation) {
  if (who.tenant.empty()) return;
  hide_wait(allocation.status.reason);
  std::erase_if(allocation.status.nodes,
                [](const AllocationNode& node) { return node.role == MemberRole::spare; });
}

/// What is declared to the engine as headroom belongs to others.
void redact(const Identity& who, Cluster& cluster) {
  if (who.tenant.empty()) return;
  hide_wait(cluster.status.reason);
  cluster.status.declared.clear();
  cluster.status.drained.clear();
}

/// A tenant knows a node that serves or served it: one that jobs ran on, or that was replaced. A
/// spare that never served it has no name there.
void add_names(const Registry& view, const Identity& who, Incident& incident) {
  keep_own_blame(view, who, incident);
  const Node* node = view.find(incident.node);
  if (!node) return;
  const bool served = !incident.jobs.empty() || !incident.replacement.empty();
  if (served || is_visible(view, who, *node)) incident.node_name = node->meta.name;
}

void redact(const Identity& who, Incident& incident) {
  if (who.tenant.empty()) return;
  incident.blame.clear();
  incident.witnesses.clear();
  incident.verdicts.clear();
  incident.boot_id_at_entry.clear();
  for (auto& entry : incident.timeline) {
    entry.key.clear();
    // Details of acts and of people's notes may name serials, racks and others.
    if (!is_for_tenants(entry.what)) entry.detail.clear();
  }
}

}  // namespace tundish::edge::api
