// The manager's part in health: who is looked at, and which jobs ran where.
#include "control/cluster/drained.hpp"
#include "control/health/gather.hpp"
#include "control/manager.hpp"

namespace tundish::control {
namespace {

constexpr Duration jobs_kept = minutes(10);  ///< as long as events count for blame

}  // namespace

/// A node that is well changes nothing for the others until it was unwell.
void Manager::touch_health(const NodeId& node) {
  if (node.empty()) {  // an incident on a shared part
    touch_health();
    return;
  }
  const bool was = unwell_.contains(node);
  const bool is = health::is_unwell(parts_.ledger.view(), node);
  if (is) unwell_.insert(node);
  if (!is) unwell_.erase(node);
  if (is || was) touch(Kind::health, "site");
}

void Manager::touch_health() {
  const bool any = !unwell_.empty() || !parts_.ledger.view().incidents_on({}).empty();
  if (any) touch(Kind::health, "site");
}

/// It is whole from now on: incidents that left it short, ended ones as well, say until when.
void Manager::touch_short_incidents(const Allocation& allocation) {
  const auto& status = allocation.status;
  const bool turned = status.phase_since == parts_.scheduler.now();
  if (status.phase != AllocationPhase::active || !turned) return;
  for (const auto& [id, incident] : parts_.ledger.view().all<Incident>()) {
    const bool over = incident.member_restored_at.is_set();
    if (!over && incident.allocation == allocation.id) touch(Kind::incident, id.str());
  }
}

void Manager::list_unwell() {
  unwell_.clear();
  const Registry& reg = parts_.ledger.view();
  for (const auto& [id, node] : reg.all<Node>()) {
    if (health::is_unwell(reg, id)) unwell_.insert(id);
  }
  due_.insert({Kind::health, "site"});
}

void Manager::note_jobs(const ClusterId& id, const Cluster& cluster,
                        const EngineObserved& observed) {
  const Instant now = parts_.scheduler.now();
  auto& jobs = seen_.jobs[id];
  std::erase_if(jobs, [&](const auto& entry) { return now - entry.second.last > jobs_kept; });
  std::map<std::string, NodeId> by_name;
  for (const auto& declared : cluster.status.declared) by_name[declared.name] = declared.node;
  for (const auto& job : observed.jobs) {
    if (job.state != "RUNNING" || is_check_work(job)) continue;
    JobSeen& seen = jobs[job.id];
    seen.nodes.clear();
    seen.last = now;
    for (const auto& name : job.nodes) {
      const auto node = by_name.find(name);
      if (node != by_name.end()) seen.nodes.push_back(node->second);
    }
  }
}

}  // namespace tundish::control
