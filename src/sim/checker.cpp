#include "sim/checker.hpp"

#include <algorithm>

#include "control/permit/permit.hpp"
#include "model/ops/allocation_ops.hpp"
#include "model/ops/tenancy_ops.hpp"

namespace tundish::sim {
namespace {

using Faults = std::vector<std::string>;

/// I1: a node is in at most one allocation, and both sides say the same.
void check_ownership(const Registry& view, Faults& out) {
  std::map<NodeId, AllocationId> owner;
  for (const auto& [id, allocation] : view.all<Allocation>()) {
    for (const auto& member : allocation.status.nodes) {
      if (member.role == MemberRole::controller) continue;
      if (const auto [it, added] = owner.emplace(member.node, id); !added) {
        out.push_back("node " + member.node.str() + " is in two allocations");
      }
      const Node* node = view.find(member.node);
      if (!node || node->status.allocation != id) {
        out.push_back("node " + member.node.str() + " does not know its allocation");
      }
    }
  }
  for (const auto& [id, node] : view.all<Node>()) {
    if (!node.status.allocation.empty() && !owner.contains(id)) {
      out.push_back("node " + node.meta.name + " names an allocation that does not hold it");
    }
  }
}

/// I2, I12: a port lies in the segment of its owner or in quarantine.
void check_ports(const Registry& view, const World& world, Faults& out) {
  for (const auto& [port, segment] : world.ports) {
    if (segment.empty()) continue;
    const std::string node_name = port.substr(0, port.find('/'));
    const Node* node = view.find_named<Node>(node_name);
    bool mine = false;
    for (const auto& [id, allocation] : view.all<Allocation>()) {
      if (allocation.status.segment != segment || !node) continue;
      const AllocationNode* member = find_member(allocation, node->id);
      mine = mine || (member && member->role != MemberRole::spare);
    }
    if (!mine) out.push_back("port " + port + " is in " + segment + ", which its node is not in");
  }
}

/// I7: quota holds at every instant.
void check_quota(const Registry& view, Faults& out) {
  for (const auto& [id, tenant] : view.all<Tenant>()) {
    if (gpus_in_use(view, id) > tenant.spec.gpu_quota) {
      out.push_back("tenant " + tenant.meta.name + " is over its quota");
    }
  }
}

/// I4: a number has one owner.
void check_pools(const Registry& view, Faults& out) {
  std::set<std::string> seen;
  for (const auto& [id, entry] : view.all<PoolEntry>()) {
    const std::string key = entry.fabric + "/" + entry.pool + "/" + std::to_string(entry.value);
    if (!seen.insert(key).second) out.push_back("pool value " + key + " is held twice");
  }
}

/// I8 and design 5: a free node is wiped; a claimed one is not handed out; a witness counts once.
void check_nodes(const Registry& view, const World& world, Faults& out) {
  std::set<std::string> witnesses;
  for (const auto& [id, incident] : view.all<Incident>()) {
    for (const auto& witness : incident.witnesses) {
      if (!witnesses.insert(witness.id).second) out.push_back("witness doubled: " + witness.id);
    }
  }
  for (const auto& [id, node] : view.all<Node>()) {
    const auto real = world.nodes.find(node.meta.name);
    if (real == world.nodes.end()) continue;
    const bool free = node.status.phase == NodePhase::ready && node.status.allocation.empty();
    const bool gpu = node.spec.role == NodeRole::gpu;
    if (free && gpu && !real->second.residue.empty()) {
      out.push_back("node " + node.meta.name + " is free with data of " + real->second.residue);
    }
    if (view.incidents_on(id).size() > 1) {
      out.push_back("node " + node.meta.name + " has two open incidents");
    }
  }
}

}  // namespace

void PermitLog::count(const control::Action& action, const control::Permit& permit) {
  if (permit.leave != control::Leave::execute) return;
  if (std::holds_alternative<control::PowerAct>(action.act)) ++power;
  if (std::holds_alternative<control::VerbAct>(action.act)) ++verbs;
  if (std::holds_alternative<control::AttachAct>(action.act)) ++attach;
  if (std::holds_alternative<control::EngineAct>(action.act)) ++engine;
}

Faults check_always(const Registry& view, const World& world) {
  Faults out = world.faults;
  check_ownership(view, out);
  check_ports(view, world, out);
  check_quota(view, out);
  check_pools(view, out);
  check_nodes(view, world, out);
  return out;
}

Faults check_permits(const PermitLog& permits, const CallLog& calls) {
  Faults out;
  const auto compare = [&](const char* what, int permitted, int called) {
    if (called > permitted) {
      out.push_back(std::string(what) + ": " + std::to_string(called) + " calls, " +
                    std::to_string(permitted) + " permits");
    }
  };
  compare("power", permits.power, calls.power);
  compare("agent verbs", permits.verbs, calls.verbs);
  compare("ports", permits.attach, calls.attach);
  compare("engine", permits.engine, calls.engine);
  return out;
}

Faults check_settled(const Registry& view, const World& world) {
  Faults out = check_always(view, world);
  for (const auto& [id, incident] : view.all<Incident>()) {
    if (incident.state == IncidentState::open) {
      out.push_back("incident " + id.str() + " (" + incident.fault + ") is stuck in " +
                    incident.policy_state);
    }
  }
  for (const auto& [id, allocation] : view.all<Allocation>()) {
    const int members = count_role(allocation, MemberRole::member);
    if (members < allocation.spec.nodes && allocation.status.phase == AllocationPhase::active) {
      out.push_back("allocation " + id.str() + " is short and says active");
    }
    if (count_role(allocation, MemberRole::leaving) > 0) {
      out.push_back("allocation " + id.str() + " still has a leaving node");
    }
  }
  for (const auto& [name, node] : world.nodes) {
    const Node* known = view.find_named<Node>(name);
    if (!known || node.gpus.empty()) continue;
    const bool claimed = !view.claims_on(known->id).empty();
    if (!node.healthy() && !claimed) out.push_back("node " + name + " is broken and in service");
    if (node.healthy() && claimed) out.push_back("node " + name + " is healthy and claimed");
  }
  return out;
}

}  // namespace tundish::sim
