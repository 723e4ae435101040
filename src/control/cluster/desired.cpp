#include <algorithm>

#include "control/cluster/drained.hpp"
#include "control/cluster/engine_drains.hpp"
#include "control/cluster/reconcile_cluster.hpp"
#include "model/ops/allocation_ops.hpp"

namespace tundish::control {
namespace {

struct ClaimView {
  bool acting = false;
  bool device_lost = false;
  Instant spares_after;
  std::string reason;
  std::string group;
};

/// A window has its leave to drain the node.
bool is_drained_for_work(const View& view, const NodeId& node) {
  const auto& claims = view.reg.claims_on(node);
  return std::any_of(claims.begin(), claims.end(), [&](const auto& id) {
    const Claim* claim = view.reg.find(id);
    return claim && claim->permitted && is_of_maintenance(*claim);
  });
}

void note_lost(const View& view, const Incident& incident, ClaimView& out) {
  const Node* node = view.reg.find(incident.node);
  const Instant spares = node ? spares_after(incident, *node) : Instant{};
  // Of several the one that spares the least.
  const bool all = !spares.is_set() || (out.device_lost && !out.spares_after.is_set());
  out.spares_after = all ? Instant{} : std::max(out.spares_after, spares);
  out.device_lost = true;
}

ClaimView claims_of(const View& view, const NodeId& node) {
  ClaimView out;
  for (const auto& id : view.reg.claims_on(node)) {
    const Claim* claim = view.reg.find(id);
    const Incident* incident = claim ? view.reg.find(claim->incident) : nullptr;
    // In a window an incident waits, but a job on a device that is gone does not: it is drained for
    // the window anyway, and no spare is taken for that.
    const bool in_window = incident && incident->device_lost && is_drained_for_work(view, node);
    if (!claim || !(claim->permitted || in_window)) continue;
    out.acting = true;
    // In a window the drain stays the window's: its end takes it back, and who sees that must not
    // take it for a person's resume of the incident's.
    if (claim->permitted) out.reason = claim->reason;
    if (incident) {
      if (incident->device_lost) note_lost(view, *incident, out);
      out.group = incident->id.str();
      // Without the incident's name: nodes with one reason are drained by one command.
      out.reason = incident->fault;
    }
  }
  return out;
}

/// A claim alone does not take a node down: silence and the engine's own word together do.
bool is_gone(const View& view, const Cluster& cluster, const DeclaredNode& declared) {
  if (is_present(view, declared.node)) return false;
  const EngineObserved* engine = fresh_engine(view, cluster.id);
  const EngineNode* seen = engine ? find_engine_node(*engine, declared.name) : nullptr;
  return seen && has_state(*seen, "NOT_RESPONDING");
}

/// What is drained by us stays so while an incident claims the node, also before that one has
/// leave: between the end of a window and that leave no job shall land on it. The reason as seen.
std::string drain_to_keep(const View& view, const Cluster& cluster, const Node& node,
                          const std::string& name) {
  const EngineObserved* engine = fresh_engine(view, cluster.id);
  const EngineNode* seen = engine ? find_engine_node(*engine, name) : nullptr;
  if (!seen || !has_state(*seen, "DRAIN") || !seen->reason.starts_with(our_reason)) return "";
  const auto& claims = view.reg.claims_on(node.id);
  const bool held = std::any_of(claims.begin(), claims.end(), [&](const auto& id) {
    const Claim* claim = view.reg.find(id);
    const Incident* incident = claim ? view.reg.find(claim->incident) : nullptr;
    return incident && incident->state == IncidentState::open;
  });
  return held ? seen->reason : "";
}

DesiredEngineNode desired_node(const View& view, const Cluster& cluster,
                               const Allocation& allocation, const DeclaredNode& declared) {
  DesiredEngineNode out;
  out.name = declared.name;
  out.address = declared.address;
  const Node* node = view.reg.find(declared.node);
  out.leaf = node ? node->spec.leaf_group : "";
  out.may_requeue = allocation.spec.requeue != Consent::never;
  const AllocationNode* member = find_member(allocation, declared.node);
  const ClaimView claims = claims_of(view, declared.node);
  out.drained = true;
  out.reason = "tundish: headroom";
  if (member && member->role == MemberRole::spare) {
    out.role = EngineRole::spare;
    out.reason = "tundish: spare";
  }
  if (member && (member->role == MemberRole::member || member->role == MemberRole::leaving)) {
    const bool serves = member->role == MemberRole::member;
    out.role = serves ? EngineRole::member : EngineRole::headroom;
    out.drained = claims.acting || !serves || !member->joined;
    out.reason = "tundish: " + (claims.acting ? claims.reason
                                              : std::string(serves ? "joining" : "leaving"));
    out.device_lost = claims.acting && claims.device_lost;
    out.spares_after = claims.spares_after;
    out.gone = claims.acting && is_gone(view, cluster, declared);
    out.group = claims.group;
    const std::string kept =
        !out.drained && node ? drain_to_keep(view, cluster, *node, declared.name) : "";
    if (!kept.empty()) {
      out.drained = true;
      out.reason = kept;
    }
    if (!out.drained && node) {
      const std::string over = drain_to_undo(view, cluster, *node, declared.name);
      if (!over.empty()) out.reason = over;
    }
  }
  return out;
}

std::vector<AccountUser> users_of(const View& view, const TenantId& tenant) {
  std::vector<AccountUser> out;
  for (const auto& [id, user] : view.reg.all<User>()) {
    if (user.meta.tenant == tenant) {
      out.push_back({user.meta.name, user.spec.uid, user.spec.ssh_keys});
    }
  }
  return out;
}

}  // namespace

DesiredEngine desired_engine(const View& view, const Cluster& cluster) {
  DesiredEngine out;
  out.cluster = engine_cluster(cluster);
  out.index = cluster.status.index;
  const Allocation* allocation = view.reg.find(cluster.status.allocation);
  if (!allocation) return out;
  for (const auto& member : allocation->status.nodes) {
    if (member.role == MemberRole::controller) out.controller_address = member.address;
  }
  if (const Sku* sku = view.reg.find_named<Sku>(cluster.spec.sku)) {
    out.cpus = sku->spec.cpus;
    out.sockets = sku->spec.sockets;
    out.gpus = sku->spec.gpus;
    out.memory_mib = sku->spec.memory_mib;
    out.gres_type = sku->spec.gres_type;
  }
  if (const Tenant* tenant = view.reg.find(cluster.meta.tenant)) out.tenant = tenant->meta.name;
  out.users = users_of(view, cluster.meta.tenant);
  if (cluster.spec.allow_checks) out.checks_since = cluster.status.checks_at;
  for (const auto& declared : cluster.status.declared) {
    out.nodes.push_back(desired_node(view, cluster, *allocation, declared));
  }
  return out;
}

}  // namespace tundish::control
