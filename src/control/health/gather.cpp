#include "control/health/gather.hpp"

#include <algorithm>

#include "control/cluster/drained.hpp"
#include "control/health/carriers.hpp"
#include "control/health/sightings.hpp"
#include "control/network/storage.hpp"
#include "model/ops/blame_ops.hpp"
#include "model/ops/node_ops.hpp"

namespace tundish::control::health {
namespace {

bool serves(const Node& node) {
  switch (node.status.phase) {
    case NodePhase::ready:
    case NodePhase::reserved:
    case NodePhase::provisioning:
    case NodePhase::assigned: return true;
    default: return false;  // its own life cycle judges it
  }
}

bool is_out(const View& view, const NodeId& id) {
  for (const auto& claim_id : view.reg.claims_on(id)) {
    const Claim* claim = view.reg.find(claim_id);
    const Incident* incident = claim ? view.reg.find(claim->incident) : nullptr;
    if (incident && incident->hardware_witness) return true;
  }
  return false;
}

class Builder {
 public:
  Builder(const View& view, const std::set<NodeId>& unwell) : view_(view), unwell_(unwell) {}

  Topology build(const std::vector<Sighting>& seen) {
    for (const auto& id : unwell_) {
      if (const Node* node = view_.reg.find(id)) want(*node);
    }
    const bool waits = std::any_of(seen.begin(), seen.end(), [](const Sighting& s) {
      return s.part == Resource::storage_client;
    });
    if (waits) want_storage_leaves();
    for (const auto& [id, node] : view_.reg.all<Node>()) place(node);
    add_clusters();
    // Who waits for storage uses it, whatever the allocation says at the moment.
    for (const auto& s : seen) {
      if (s.part != Resource::storage_client) continue;
      const Node* node = view_.reg.find(s.node);
      const AllocationId held = node ? node->status.allocation : AllocationId{};
      add_client(storage_of(held), fabric_of(held), s.node, "");
    }
    Topology out;
    out.nodes = std::move(nodes_);
    for (auto& [key, shared] : shared_) {
      // Nobody hangs on it: there is nothing to compare. A domain of one node is that node.
      const std::size_t least = shared.kind == SubjectKind::domain ? 2 : 1;
      const bool hang = shared.users.size() >= least || !shared.clients.empty();
      if (hang) out.shared.push_back(std::move(shared));
    }
    return out;
  }

 private:
  using Key = std::tuple<SubjectKind, std::string, Resource>;

  Shared& add(SubjectKind kind, const std::string& name, Resource part) {
    Shared& out = shared_[{kind, name, part}];
    out.kind = kind;
    out.name = name;
    out.part = part;
    return out;
  }
  Shared* find(SubjectKind kind, const std::string& name, Resource part) {
    const auto it = shared_.find({kind, name, part});
    return it == shared_.end() ? nullptr : &it->second;
  }

  void want_leaf(const std::string& name) {
    Shared& leaf = add(SubjectKind::network_switch, name, Resource::leaf);
    const auto seen = view_.seen.switches.find(name);
    if (seen == view_.seen.switches.end()) return;
    leaf.asked_at = seen->second.at;
    if (seen->second.fault.empty()) return;
    leaf.down_since = seen->second.fault_since;
    leaf.down_says = "the switch does not answer: " + seen->second.fault;
  }

  /// Whoever waits for a storage waits for what it is cabled to as well.
  void want_storage_leaves() {
    for (const auto& [id, fabric] : view_.reg.all<Fabric>()) {
      for (const auto& port : fabric.spec.storage_ports) want_leaf(port.switch_name);
    }
  }

  /// What an unwell node hangs on is looked at; everything else cannot be to blame.
  void want(const Node& node) {
    for (const auto& port : node.spec.ports) {
      if (!port.switch_name.empty()) want_leaf(port.switch_name);
    }
    if (!node.spec.nvlink_domain.empty()) {
      add(SubjectKind::domain, node.spec.nvlink_domain, Resource::nvswitch);
      add(SubjectKind::domain, node.spec.nvlink_domain, Resource::cooling);
    }
    if (node.spec.rack.empty()) return;
    add(SubjectKind::rack, node.spec.rack, Resource::power);
    add(SubjectKind::rack, node.spec.rack, Resource::thermal);
  }

  void place(const Node& node) {
    bool used = unwell_.contains(node.id);
    const auto use = [&](Shared* shared) {
      if (!shared) return;
      shared->users[node.id];
      used = true;
    };
    for (const auto& port : node.spec.ports) {
      Shared* leaf = find(SubjectKind::network_switch, port.switch_name, Resource::leaf);
      if (!leaf) continue;
      leaf->users[node.id].insert(port.name);
      const Instant speaks = speaks_of_leaf(view_, node, port.switch_name);
      if (speaks > view_.now) leaf->speaks_at[node.id] = speaks;
      used = true;
    }
    if (node.spec.role == NodeRole::gpu) {
      use(find(SubjectKind::domain, node.spec.nvlink_domain, Resource::nvswitch));
      use(find(SubjectKind::domain, node.spec.nvlink_domain, Resource::cooling));
    }
    use(find(SubjectKind::rack, node.spec.rack, Resource::power));
    use(find(SubjectKind::rack, node.spec.rack, Resource::thermal));
    if (used) add_place(node);
  }

  void add_place(const Node& node) {
    Place& place = nodes_[node.id];
    if (!place.name.empty()) return;
    place.name = node.meta.name;
    place.rack = node.spec.rack;
    place.heard = serves(node) && is_present(view_, node.id);
    const auto presence = view_.seen.presence.find(node.id);
    if (presence != view_.seen.presence.end()) place.heard_since = presence->second.heard_since;
    place.out = is_out(view_, node.id);
    place.shows_links = is_cabled_through(node);
    place.uses_storage = false;  // until it is seen to be a client
    for (const auto& port : node.spec.ports) {
      if (!port.switch_name.empty()) {
        place.ports[port.name] = port.switch_name + "/" + port.switch_port;
      }
    }
  }

  /// Its switch holds the port of a node that serves nobody down, and the node says so of none.
  bool is_cabled_through(const Node& node) const {
    const Allocation* held = view_.reg.find(node.status.allocation);
    if (!held || held->status.phase == AllocationPhase::releasing) return false;
    return std::any_of(held->status.nodes.begin(), held->status.nodes.end(),
                       [&](const AllocationNode& member) {
                         const bool serves = member.role == MemberRole::member ||
                                             member.role == MemberRole::login;
                         return member.node == node.id && member.joined && serves;
                       });
  }

  void add_user(Shared& shared, const NodeId& id, const std::string& device) {
    const Node* node = view_.reg.find(id);
    if (!node) return;
    auto& devices = shared.users[id];
    if (!device.empty()) devices.insert(device);
    add_place(*node);
  }

  /// `fabric`: that its storage is cabled to; nullptr: nobody knows.
  void add_client(Shared& storage, const Fabric* fabric, const NodeId& id,
                  const std::string& device) {
    add_user(storage, id, device);
    const auto known = nodes_.find(id);
    if (known == nodes_.end()) return;
    known->second.uses_storage = true;
    if (!fabric) return;
    for (const auto& port : fabric->spec.storage_ports) {
      Shared* leaf = find(SubjectKind::network_switch, port.switch_name, Resource::leaf);
      if (leaf) leaf->clients.insert(id);
    }
  }
  const Fabric* fabric_of(const AllocationId& allocation) const {
    const Network* network = find_network(view_.reg, allocation);
    return network ? view_.reg.find_named<Fabric>(network->status.fabric) : nullptr;
  }
  /// What does not answer behind a switch that does not either is no word of its own.
  bool is_cut_off(const Fabric* fabric) const {
    if (!fabric) return false;
    const auto& ports = fabric->spec.storage_ports;
    return std::any_of(ports.begin(), ports.end(), [&](const StoragePort& port) {
      const auto leaf = view_.seen.switches.find(port.switch_name);
      return leaf != view_.seen.switches.end() && !leaf->second.fault.empty();
    });
  }

  /// What an allocation mounts: the storage of its fabric, or the one of the whole site.
  Shared& storage_of(const AllocationId& allocation) {
    const Network* network = find_network(view_.reg, allocation);
    const auto plan = network ? network::storage_plan(view_, *network) : std::nullopt;
    if (!plan) {
      return add(SubjectKind::storage, storage_name_of(view_.limits), Resource::storage_server);
    }
    Shared& out = add(SubjectKind::storage, plan->mount_address + " of " + plan->ref.fabric,
                      Resource::storage_server);
    const auto seen = view_.seen.storage.find(plan->ref.fabric);
    const bool silent = seen != view_.seen.storage.end() && !seen->second.fault.empty();
    if (silent && !is_cut_off(fabric_of(allocation))) {
      out.down_since = seen->second.fault_since;
      out.down_says = "the storage's own management does not answer: " + seen->second.fault;
    }
    return out;
  }

  void add_clusters() {
    for (const auto& [id, cluster] : view_.reg.all<Cluster>()) {
      const Allocation* held = view_.reg.find(cluster.status.allocation);
      if (!held) continue;
      Shared& storage = storage_of(held->id);
      const Fabric* fabric = fabric_of(held->id);
      Shared& engine = add(SubjectKind::engine, cluster.meta.name, Resource::service);
      if (const auto silence = engine_silence(view_, cluster)) {
        engine.down_since = silence->since;
        engine.down_says = "the engine's controller does not answer" +
                           (silence->fault.empty() ? "" : ": " + silence->fault);
      }
      for (const auto& member : held->status.nodes) {
        // One that leaves has its mounts and its daemon until it has left.
        const bool serves = member.role == MemberRole::member || member.role == MemberRole::leaving;
        if (!member.joined || !(serves || member.role == MemberRole::login)) continue;
        add_client(storage, fabric, member.node, "/data");
        if (serves) add_user(engine, member.node, "slurmd");
      }
      add_jobs(id, cluster);
    }
  }

  void add_jobs(const ClusterId& id, const Cluster& cluster) {
    const auto jobs = view_.seen.jobs.find(id);
    if (jobs == view_.seen.jobs.end()) return;
    for (const auto& [name, job] : jobs->second) {
      const bool hit = std::any_of(job.nodes.begin(), job.nodes.end(),
                                   [&](const NodeId& node) { return unwell_.contains(node); });
      if (!hit || view_.now - job.last > events_age_limit) continue;
      Shared& shared = add(SubjectKind::job, name + " of " + cluster.meta.name, Resource::process);
      for (const auto& node : job.nodes) add_user(shared, node, "");
    }
  }

  const View& view_;
  const std::set<NodeId>& unwell_;
  std::map<NodeId, Place> nodes_;
  std::map<Key, Shared> shared_;
};

}  // namespace

std::string storage_name_of(const Limits& limits) {
  const std::size_t colon = limits.export_source.find(':');
  if (colon == std::string::npos || colon == 0) return "shared-storage";
  const std::size_t at = limits.export_source.find('@');
  const std::size_t begin = at != std::string::npos && at < colon ? at + 1 : 0;
  return limits.export_source.substr(begin, colon - begin);
}

bool is_unwell(const Registry& view, const NodeId& id) {
  const Node* node = view.find(id);
  if (!node) return false;
  if (!node->status.verdicts.empty() || !node->status.bmc_verdicts.empty()) return true;
  if (!view.incidents_on(id).empty()) return true;
  if (find_condition(*node, symptom_condition)) return true;
  const AgentCursor* cursor = view.find(Id<AgentCursor>(id.str()));
  return cursor && !cursor->recent.empty();
}

Evidence gather(const View& view, const std::set<NodeId>& unwell) {
  std::map<NodeId, Instant> repaired;
  for (const auto& [id, incident] : view.reg.all<Incident>()) {
    if (incident.node.empty() || incident.state == IncidentState::open) continue;
    Instant& at = repaired[incident.node];
    at = std::max(at, incident.resolved_at);
  }
  const Carriers carriers(view);
  Evidence out;
  for (const auto& id : unwell) {
    const Node* node = view.reg.find(id);
    if (!node || node->status.phase == NodePhase::retired) continue;
    // What its own life cycle judges is left to it. A leak is not: nobody is safe from it.
    auto seen = serves(*node) ? sightings_of(view, *node, repaired[id])
                              : NodeSightings{bmc_sightings_of(view, *node), {}};
    carriers.drop_explained(*node, seen.list);
    out.sightings.insert(out.sightings.end(), std::make_move_iterator(seen.list.begin()),
                         std::make_move_iterator(seen.list.end()));
    const bool sooner = !out.wake_at.is_set() || seen.wake_at < out.wake_at;
    if (seen.wake_at.is_set() && sooner) out.wake_at = seen.wake_at;
  }
  out.topology = Builder(view, unwell).build(out.sightings);
  return out;
}

}  // namespace tundish::control::health
