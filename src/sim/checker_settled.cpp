// What must hold once nothing happens any more.
#include "model/ops/allocation_ops.hpp"
#include "sim/checker.hpp"

namespace tundish::sim {

/// What nodes share is told of as long as it is so: what is wet stays wet, and trays that the
/// vendor has are out.
bool Checker::cause_stands(const Incident& incident) const {
  if (!incident.node.empty()) return false;
  constexpr std::size_t of_the_rack = 3;  // more than two trays out is the rack
  std::size_t wet = 0, out = 0;
  for (const auto& [name, node] : world_.nodes) {
    const Node* known = view_->find_named<Node>(name);
    if (!node.leak.empty() && node.leak != "OK") ++wet;
    if (node.imex_down) out += of_the_rack;
    if (known && !view_->claims_on(known->id).empty()) ++out;
  }
  if (incident.fault == "leak") return wet > 0;
  return incident.fault == "NVLink fabric" && out >= of_the_rack;
}

void Checker::settled_incidents() {
  for (const auto& [id, incident] : view_->all<Incident>()) {
    if (incident.state != IncidentState::open || cause_stands(incident)) continue;
    broken_.push_back("incident " + id.str() + " (" + incident.fault + ") is stuck in " +
                      incident.policy_state);
  }
  for (const auto& [id, claim] : view_->all<Claim>()) {
    const Incident* incident = view_->find(claim.incident);
    const bool ended = incident && incident->state != IncidentState::open &&
                       incident->state != IncidentState::rma;
    if (claim.state == ClaimState::active && ended) {
      broken_.push_back("claim " + id.str() + " outlived its incident");
    }
  }
}

void Checker::settled_clusters() {
  std::set<std::string> owners;
  for (const auto& [id, cluster] : view_->all<Cluster>()) {
    owners.insert(id.str());
    const Allocation* held = view_->find(cluster.status.allocation);
    if (!held) {
      broken_.push_back("cluster " + cluster.meta.name + " has no allocation");
      continue;
    }
    const int members = count_role(*held, MemberRole::member);
    const auto phase = held->status.phase;
    if (members < held->spec.nodes && phase == AllocationPhase::active) {
      broken_.push_back("allocation " + held->meta.name + " is short and says active");
    }
    if (phase != AllocationPhase::active && phase != AllocationPhase::degraded) {
      broken_.push_back("allocation " + held->meta.name + " never became active");
    }
    if (count_role(*held, MemberRole::leaving) > 0) {
      broken_.push_back("allocation " + held->meta.name + " still has a leaving node");
    }
    const auto engine = world_.engines.find(cluster.meta.name);
    if (engine == world_.engines.end()) {
      broken_.push_back("cluster " + cluster.meta.name + " has no engine");
      continue;
    }
    for (const auto& job : engine->second.jobs) {
      if (phase == AllocationPhase::active && job.state != "RUNNING") {
        broken_.push_back("job " + job.id + " of " + cluster.meta.name + " is " + job.state);
      }
    }
  }
  for (const auto& [id, entry] : view_->all<PoolEntry>()) {
    if (entry.state == PoolState::held && !owners.contains(entry.owner)) {
      broken_.push_back("pool value " + entry.meta.name + " is held for nobody");
    }
  }
  for (const auto& [name, engine] : world_.engines) {
    if (!view_->find_named<Cluster>(name)) broken_.push_back("engine " + name + " is an orphan");
  }
}

void Checker::settled_nodes() {
  for (const auto& [name, node] : world_.nodes) {
    const Node* known = view_->find_named<Node>(name);
    if (!known || node.gpus.empty()) continue;
    const bool claimed = !view_->claims_on(known->id).empty();
    const bool insisted = world_.resumed_by_person.contains(name);
    if (!node.healthy() && !claimed && !insisted && !node.silent_fault) {
      broken_.push_back("node " + name + " is broken and in service");
    }
    if (node.healthy() && claimed) {
      broken_.push_back("node " + name + " is healthy and claimed");
    }
    const auto phase = known->status.phase;
    const bool rests = phase == NodePhase::ready || phase == NodePhase::assigned ||
                       phase == NodePhase::reserved || claimed;
    if (!rests) {
      broken_.push_back("node " + name + " is still " +
                        std::string(enum_names(phase)[static_cast<std::size_t>(phase)]));
    }
  }
}

void Checker::settled_people() {
  for (const auto& [id, window] : view_->all<Maintenance>()) {
    if (is_over(window)) continue;
    const auto state = enum_names(window.state)[static_cast<std::size_t>(window.state)];
    broken_.push_back("maintenance " + id.str() + " is still " + std::string(state));
  }
  for (const auto& [id, report] : view_->all<NodeReport>()) {
    if (report.state == ReportState::testing) {
      broken_.push_back("report " + id.str() + " was never answered");
    }
  }
}

std::vector<std::string> Checker::settled() {
  if (!view_) return {"tundishd is down"};
  std::vector<std::string> out = sweep();
  settled_incidents();
  settled_clusters();
  settled_nodes();
  settled_people();
  const auto more = take_broken();
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

}  // namespace tundish::sim
