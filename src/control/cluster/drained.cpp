#include "control/cluster/drained.hpp"

#include <algorithm>

namespace tundish::control {

std::string engine_cluster(const Cluster& cluster) {
  return cluster.meta.name + "-" + std::to_string(cluster.status.index);
}

std::string engine_name(const Cluster& cluster, const NodeId& node) {
  for (const auto& declared : cluster.status.declared) {
    if (declared.node == node) return declared.name;
  }
  return "";
}

const EngineNode* find_engine_node(const EngineObserved& engine, const std::string& name) {
  for (const auto& node : engine.nodes) {
    if (node.name == name) return &node;
  }
  return nullptr;
}

bool has_state(const EngineNode& node, std::string_view state) {
  return std::find(node.states.begin(), node.states.end(), state) != node.states.end();
}

std::vector<const EngineJob*> jobs_on(const EngineObserved& engine, const std::string& name) {
  static constexpr std::string_view ended[] = {"PENDING",   "COMPLETED", "CANCELLED", "FAILED",
                                               "TIMEOUT",   "NODE_FAIL", "PREEMPTED", "BOOT_FAIL",
                                               "DEADLINE",  "OUT_OF_MEMORY", "REQUEUED"};
  std::vector<const EngineJob*> out;
  for (const auto& job : engine.jobs) {
    if (std::find(std::begin(ended), std::end(ended), job.state) != std::end(ended)) continue;
    if (std::find(job.nodes.begin(), job.nodes.end(), name) != job.nodes.end()) {
      out.push_back(&job);
    }
  }
  return out;
}

bool is_check_work(const EngineJob& job) {
  return job.name == check_work_name && job.user == "root";
}

Instant spares_after(const Incident& incident, const Node& node) {
  if (incident.blamed) return {};  // what blame found stands until it is repaired
  Instant last;
  for (const auto& witness : incident.witnesses) {
    const bool hardware = witness.provenance != Provenance::userspace;
    if (hardware && witness.boot_id == node.status.boot_id) return {};
    last = std::max(last, witness.observed_at);
  }
  return last;
}

bool is_drained(const View& view, const Node& node) {
  const Allocation* allocation = view.reg.find(node.status.allocation);
  if (!allocation) return true;
  const Cluster* cluster = view.reg.find(allocation->cluster);
  if (!cluster || !cluster->status.controller_ready) return true;
  const std::string name = engine_name(*cluster, node.id);
  if (name.empty()) return true;
  const EngineObserved* engine = fresh_engine(view, cluster->id);
  if (!engine) return false;
  const EngineNode* seen = find_engine_node(*engine, name);
  if (!seen) return false;
  const bool closed = has_state(*seen, "DRAIN") || has_state(*seen, "DOWN");
  // An epilog may still run when the list of jobs no longer names the one that it cleans up after.
  const bool completes = has_state(*seen, "COMPLETING");
  return closed && !completes && seen->allocated_cpus == 0 && jobs_on(*engine, name).empty();
}

}  // namespace tundish::control
