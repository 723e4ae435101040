#include "control/cluster/reconcile_cluster.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include "base/text.hpp"
#include "control/cluster/drained.hpp"
#include "control/cluster/engine_drains.hpp"
#include "control/cluster/setup.hpp"
#include "control/network/storage.hpp"
#include "control/permit/permit.hpp"
#include "model/ops/allocation_ops.hpp"
#include "model/ops/incident_ops.hpp"
#include "model/ops/node_ops.hpp"

namespace tundish::control {
namespace {

void join_members(const View& view, const Cluster& cluster, const Allocation& allocation,
                  const DesiredEngine& desired, const Engine& engine, SecretSource& secrets,
                  Outcome& out) {
  std::vector<EngineFile> files;
  const std::string wanted = setup_hash(desired);
  for (const auto& member : allocation.status.nodes) {
    const bool joins = member.role == MemberRole::member || member.role == MemberRole::login;
    if (!joins || !member.attached) continue;
    // A user that came or went changes the accounts of nodes that serve already.
    if (member.joined && member.setup_hash == wanted) continue;
    if (member.joined && !is_present(view, member.node)) continue;
    if (!network::storage_place_is_known(view, allocation)) {
      out.reason = "waits for a look at the storage";
      continue;
    }
    if (files.empty()) files = engine.render(desired);
    out.actions.push_back(
        make_node_setup(view, cluster, allocation, member, desired, files, secrets));
  }
}

/// Its own claim has leave: not only the window of a maintenance, whose end ends that drain.
bool may_drain(const View& view, const DesiredEngineNode& wanted) {
  const Incident* incident = view.reg.find(IncidentId(wanted.group));
  if (!incident) return false;
  const auto& claims = view.reg.claims_on(incident->node);
  return std::any_of(claims.begin(), claims.end(), [&](const auto& id) {
    const Claim* claim = view.reg.find(id);
    return claim && claim->permitted && claim->incident == incident->id;
  });
}

/// Drains that we see for the reason of a claim; one of them gone is a person's resume, as long as
/// the claim wants it. A drain for another reason of ours says nothing: we may just have ended it.
void follow_people(const View& view, const Cluster& cluster, const DesiredEngine& desired,
                   const EngineObserved& engine, Outcome& out) {
  std::map<std::string_view, const DesiredEngineNode*> claimed;
  for (const auto& node : desired.nodes) {
    if (node.drained && !node.group.empty() && may_drain(view, node)) claimed[node.name] = &node;
  }
  std::vector<std::string> drained;
  for (const auto& node : engine.nodes) {
    const auto wanted = claimed.find(node.name);
    if (wanted == claimed.end()) continue;
    if (has_state(node, "DRAIN") || has_state(node, "DOWN")) {
      if (node.reason == wanted->second->reason) drained.push_back(node.name);
      continue;
    }
    const auto& known = cluster.status.drained;
    if (std::find(known.begin(), known.end(), node.name) == known.end()) continue;
    for (const auto& declared : cluster.status.declared) {
      if (declared.name == node.name) {
        out.operations.push_back(override_claims(
            declared.node, "a person resumed " + node.name + " in the engine; it stays resumed"));
      }
    }
  }
  out.operations.push_back(record_drained(cluster.id, std::move(drained)));
}

/// Requeues touch one broken node each and need their own leave; the rest is configuration.
void act_on_engine(const Cluster& cluster, const Allocation& allocation,
                   std::vector<EngineCommand> commands, const EngineObserved& engine,
                   const DesiredEngine& desired, Outcome& out) {
  Action action;
  action.key = cluster.id.str() + "/engine/" + std::to_string(engine.at.us);
  action.name = "engine_commands";
  action.action_class = ActionClass::engine_config;
  action.cluster = cluster.id;
  action.allocation = allocation.id;
  action.group = action.key;
  action.limit = seconds(30);
  EngineAct act;
  act.seen_at = engine.at;
  act.cluster_name = engine_cluster(cluster);
  for (const auto& member : allocation.status.nodes) {
    if (member.role == MemberRole::controller) act.controller = member.node;
  }
  for (const auto& command : commands) {
    const bool requeue = command.verb == EngineVerb::requeue_job;
    if (requeue) action.action_class = ActionClass::requeue;
    for (const auto& node : desired.nodes) {
      if (requeue && node.device_lost && !node.group.empty()) {
        action.group = node.group;
        action.incident = IncidentId(node.group);
      }
    }
  }
  for (const auto& command : commands) {
    const auto verb = enum_names(command.verb)[static_cast<std::size_t>(command.verb)];
    action.reason += (action.reason.empty() ? "" : ", ") + std::string(verb);
    if (!command.nodes.empty()) action.reason += " " + join(command.nodes, ",");
    if (!command.state.empty()) action.reason += " " + command.state;
  }
  // One approval lets the same commands through, whenever they were decided.
  if (action.incident.empty()) action.group = cluster.id.str() + "/engine/" + action.reason;
  act.commands = std::move(commands);
  action.act = std::move(act);
  out.actions.push_back(std::move(action));
}

bool members_serve(const Cluster& cluster, const Allocation& allocation,
                   const EngineObserved& engine, std::string& why) {
  int serving = 0;
  for (const auto& member : allocation.status.nodes) {
    if (member.role != MemberRole::member) continue;
    const std::string name = engine_name(cluster, member.node);
    const EngineNode* node = find_engine_node(engine, name);
    if (node && node->registered && !has_state(*node, "DRAIN") && !has_state(*node, "DOWN")) {
      ++serving;
    } else {
      const std::string reason = node && !node->reason.empty() ? " (" + node->reason + ")" : "";
      why += (why.empty() ? "" : ", ") + name +
             (node ? " is " + join(node->states, "+") + reason : " is not known");
    }
  }
  return serving >= allocation.spec.nodes;
}

void to_phase(const Cluster& cluster, ClusterPhase phase, const std::string& reason, Outcome& out) {
  out.operations.push_back(set_cluster_phase(cluster.id, phase, reason));
}

/// Why nothing goes on: what the nodes wait for, else the first act of the cluster itself.
std::string waits_of(const View& view, const Allocation& allocation, const Outcome& out) {
  const std::string nodes = waiting_part(allocation.status.reason);
  return nodes.empty() ? waits_for(out.actions, view) : nodes;
}

std::string beside(const std::string& why, const std::string& waits) {
  return why.empty() || waits.empty() ? why + waits : why + "; " + waits;
}

void look_at_engine(const View& view, const Cluster& cluster, const Allocation& allocation,
                    const DesiredEngine& desired, const Engine& engine, Outcome& out) {
  const EngineObserved* seen = fresh_engine(view, cluster.id);
  if (!seen) {
    const auto it = view.seen.engines.find(cluster.id);
    out.reason =
        "engine does not answer" + (it == view.seen.engines.end() ? "" : ": " + it->second.fault);
    return;
  }
  for (const auto& job : seen->jobs) {  // its start may be called for a moment later, unchanged
    const bool waits = job.state == "PENDING" && job.restarts > 0;
    if (waits && job.begin_time_s * 1000000 > view.now.us) out.wake(view.now + seconds(1));
  }
  follow_people(view, cluster, desired, *seen, out);
  follow_engine_drains(view, cluster, engine, *seen, out);
  auto commands = engine.plan(desired, *seen);
  if (!commands.empty()) {
    act_on_engine(cluster, allocation, std::move(commands), *seen, desired, out);
  }
  bool joined = true;
  for (const auto& member : allocation.status.nodes) {
    const bool joins = member.role == MemberRole::member || member.role == MemberRole::login;
    joined = joined && (!joins || member.joined);
  }
  std::string why;
  const bool serves = members_serve(cluster, allocation, *seen, why);
  const bool begun = cluster.status.phase == ClusterPhase::active ||
                     cluster.status.phase == ClusterPhase::degraded;
  const std::string waits = waits_of(view, allocation, out);
  if (serves && joined) {
    to_phase(cluster, ClusterPhase::active, waits, out);
  } else if (begun) {
    const std::string short_of = why.empty() ? "a member is short" : why;
    to_phase(cluster, ClusterPhase::degraded, beside(short_of, waits), out);
  } else if (joined) {
    to_phase(cluster, ClusterPhase::verifying, beside(why, waits), out);
  } else {
    to_phase(cluster, ClusterPhase::joining, waits, out);
  }
}

/// Its agent answers and the engine does not: the daemons that are dead are started again. One that
/// runs is left alone, so a slow controller comes to no harm.
void revive_controller(const View& view, const Cluster& cluster, const Allocation& allocation,
                       const DesiredEngine& desired, const Engine& engine, SecretSource& secrets,
                       Outcome& out) {
  const auto last = view.seen.engines.find(cluster.id);
  if (last == view.seen.engines.end() || last->second.reachable) return;
  constexpr std::int64_t pause_us = 15 * 1000000;
  Action action = make_controller_setup(view, cluster, allocation, desired, engine, secrets);
  action.key += "/revive/" + std::to_string(view.now.us / pause_us);
  out.actions.push_back(std::move(action));
  out.wake(view.now + microseconds(pause_us));
}

}  // namespace

Outcome reconcile_cluster(const View& view, const Cluster& cluster, const Engine& engine,
                          SecretSource& secrets) {
  Outcome out;
  const Allocation* allocation = view.reg.find(cluster.status.allocation);
  if (!allocation) return out;
  if (cluster.status.phase == ClusterPhase::deleting) {
    to_phase(cluster, cluster.status.phase, waits_of(view, *allocation, out), out);
    return out;
  }
  if (auto act = network::make_export(view, *allocation)) {
    auto& change = std::get<StorageAct>(act->act).change;
    change.public_key = secrets.storage_key(cluster.meta.tenant).public_key;
    if (!change.public_key.empty()) out.actions.push_back(std::move(*act));
  }
  const AllocationNode* controller = nullptr;
  for (const auto& member : allocation->status.nodes) {
    if (member.role == MemberRole::controller) controller = &member;
  }
  if (!controller || !controller->attached) {
    out.reason = "waits for the network of its service node";
    to_phase(cluster, cluster.status.phase, waits_of(view, *allocation, out), out);
    return out;
  }
  const DesiredEngine desired = desired_engine(view, cluster);
  const bool stale = cluster.status.config_applied != controller_hash(cluster, desired);
  if (!cluster.status.controller_ready || stale) {
    out.actions.push_back(
        make_controller_setup(view, cluster, *allocation, desired, engine, secrets));
    if (!cluster.status.controller_ready) {
      to_phase(cluster, ClusterPhase::configuring, waits_of(view, *allocation, out), out);
    }
    if (!controller->begun) {
      out.operations.push_back(mark_setup_begun(allocation->id, controller->node));
    }
    if (!cluster.status.controller_ready) return out;
  }
  revive_controller(view, cluster, *allocation, desired, engine, secrets, out);
  join_members(view, cluster, *allocation, desired, engine, secrets, out);
  look_at_engine(view, cluster, *allocation, desired, engine, out);
  return out;
}

}  // namespace tundish::control
