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

constexpr std::string_view out_of_service = "out_of_service";

bool is_for_tenants(std::string_view what) {
  for (const std::string_view known : {"detected", "claimed", "job hit", "job running again",
                                       "allocation whole again", "returned"}) {
    if (what == known) return true;
  }
  return false;
}

/// What an act means for whoever uses the node, in our own words.
std::string plain_detail(std::string_view what) {
  struct Meaning {
    std::string_view what, text;
  };
  constexpr Meaning known[] = {
      {"permit", "waits for leave to take the node out"},
      {"evacuate", "jobs that lost their device are requeued, others may finish"},
      {"isolate", "the node leaves your cluster and networks"},
      {"reset", "its GPUs are reset"},
      {"reboot", "the node is restarted"},
      {"power_cycle", "the node is powered off and on"},
      {"power_off", "the node is powered off"},
      {"revalidate", "real checks, before anybody uses it again"},
      {"last_look", "real checks, before anybody uses it again"},
      {"wipe", "nothing of yours is left on the node"},
      {"rma", "a part goes to the vendor"}};
  for (const auto& one : known) {
    if (one.what == what) return std::string(one.text);
  }
  return "";
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
/// Of one on a shared part: the tenant that it hits, when it hits one only. A tenant keeps the
/// incidents of a cluster that is gone.
std::optional<TenantId> owner_of(const Registry& view, const Incident& incident) {
  if (!incident.allocation.empty() || incident.allocations.empty()) {
    const auto owner = owner_of_allocation(view, incident.allocation);
    return owner ? owner : own_tenant(incident);
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
    return owner_of(view, incident) == who.tenant;
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
  for (const auto& condition : node.status.conditions) {
    if (condition.type == out_of_service) status.conditions.push_back(condition);
  }
  // What active checks found while it served the tenant; reasons may name serials and cables.
  for (const auto& verdict : node.status.active_verdicts) {
    if (verdict.at < node.status.phase_since) continue;
    Verdict told;
    told.check = verdict.check;
    told.state = verdict.state;
    told.device = verdict.device;
    told.at = verdict.at;
    status.active_verdicts.push_back(std::move(told));
  }
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

/// Claims are the operator's; that one is on its node is the tenant's to know.
void add_names(const Registry& view, const Identity& who, Node& node) {
  if (who.tenant.empty() || view.claims_on(node.id).empty()) return;
  Condition out;
  out.type = out_of_service;
  out.state = Truth::yes;
  out.reason = "the provider works on it";
  node.status.conditions = {out};
}

void redact(const Identity& who, Incident& incident) {
  if (who.tenant.empty()) return;
  // Its own part is the tenant's to know: the device was seen by its own jobs as well.
  const bool own = !incident.device.empty() && !incident.node_name.empty();
  incident.blame = own ? "GPU " + incident.device + " of node " + incident.node_name + ": " +
                             incident.fault
                       : "";
  incident.witnesses.clear();
  incident.verdicts.clear();
  incident.boot_id_at_entry.clear();
  for (auto& entry : incident.timeline) {
    // That it was an act, and how it ended, is the tenant's to know; its identity is not.
    if (!entry.key.empty()) entry.key = "act";
    // Details of acts and of people's notes may name serials, racks and others.
    if (!is_for_tenants(entry.what)) entry.detail = plain_detail(entry.what);
  }
}

}  // namespace tundish::edge::api
