#include "control/node/tenant_checks.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "control/cluster/drained.hpp"
#include "model/ops/allocation_ops.hpp"

namespace tundish::control {
namespace {

struct Place {
  const Allocation* allocation = nullptr;
  const AllocationNode* member = nullptr;
  const Cluster* cluster = nullptr;
};

Place place_of(const View& view, const Node& node) {
  Place out;
  out.allocation = view.reg.find(node.status.allocation);
  if (!out.allocation) return out;
  out.member = find_member(*out.allocation, node.id);
  out.cluster = view.reg.find(out.allocation->cluster);
  return out;
}

bool serves(const Place& place, const Node& node) {
  return place.member && place.member->role == MemberRole::member && place.member->joined &&
         node.status.phase == NodePhase::assigned;
}

bool is_ending(const Cluster& cluster) { return cluster.status.phase == ClusterPhase::deleting; }

std::string owner_text(const Place& place, const Node& node) {
  return node.meta.name + " belongs to allocation " + place.allocation->meta.name;
}

}  // namespace

std::string tenant_refusal(const View& view, const Node& node) {
  const Place place = place_of(view, node);
  if (!place.allocation || !place.cluster) return node.meta.name + " is in no cluster";
  const Cluster& cluster = *place.cluster;
  if (is_ending(cluster)) return "cluster " + cluster.meta.name + " is being deleted";
  if (!cluster.spec.allow_checks) {
    return owner_text(place, node) + ", whose tenant allows no active checks";
  }
  if (!serves(place, node)) return owner_text(place, node) + " and does not serve it";
  if (!view.reg.claims_on(node.id).empty()) return "a claim is on " + node.meta.name;
  const EngineObserved* engine = fresh_engine(view, cluster.id);
  if (engine && !engine->can_preempt) {
    return "the engine of cluster " + cluster.meta.name + " ends no work for other work";
  }
  return "";
}

std::string tenant_busy(const View& view, const Node& node) {
  if (const std::string why = tenant_refusal(view, node); !why.empty()) return why;
  const Place place = place_of(view, node);
  const std::string& cluster = place.cluster->meta.name;
  const EngineObserved* engine = fresh_engine(view, place.cluster->id);
  if (!engine) return "the engine of cluster " + cluster + " does not answer";
  const std::string name = engine_name(*place.cluster, node.id);
  const auto& queue = engine->check_nodes;
  if (std::find(queue.begin(), queue.end(), name) == queue.end()) {
    return "the engine of cluster " + cluster + " has no queue for checks on " + name +
           " yet" + std::string(being_set_up);
  }
  const EngineNode* seen = find_engine_node(*engine, name);
  if (!seen) return "the engine of cluster " + cluster + " does not know " + name;
  const auto jobs = jobs_on(*engine, name);
  const bool ours = std::all_of(jobs.begin(), jobs.end(),
                                [](const EngineJob* job) { return is_check_work(*job); });
  if (!jobs.empty() && ours) {
    return "an active check runs on " + name + " of cluster " + cluster + " already";
  }
  if (!jobs.empty()) {
    return name + " is at work: " + std::to_string(jobs.size()) + " jobs of cluster " + cluster;
  }
  const bool idle = seen->registered && seen->allocated_cpus == 0 &&
                    seen->states == std::vector<std::string>{"IDLE"};
  return idle ? "" : name + " is " + join(seen->states, "+") + " in cluster " + cluster;
}

std::optional<CheckWork> work_on(const View& view, const Node& node) {
  const Place place = place_of(view, node);
  if (!place.cluster || !serves(place, node)) return std::nullopt;
  const std::string name = engine_name(*place.cluster, node.id);
  if (name.empty()) return std::nullopt;
  return CheckWork{place.cluster->spec.engine, name};
}

}  // namespace tundish::control
