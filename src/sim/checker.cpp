#include "sim/checker.hpp"

#include <algorithm>
#include <utility>

#include "model/ops/allocation_ops.hpp"
#include "model/ops/incident_ops.hpp"
#include "model/ops/incident_proof.hpp"
#include "model/ops/maintenance_ops.hpp"
#include "model/ops/pool.hpp"
#include "model/ops/tenancy_ops.hpp"

namespace tundish::sim {
namespace {

template <class T>
const T* body_of(const Change& change) {
  const auto* holder = dynamic_cast<const Holder<T>*>(change.body.get());
  return holder ? &holder->value : nullptr;
}

/// What only hardware can say; a line that a tenant's root can write is none.
bool has_hardware_witness(const Incident& incident) {
  const bool seen = std::any_of(
      incident.witnesses.begin(), incident.witnesses.end(),
      [](const Witness& witness) { return witness.provenance != Provenance::userspace; });
  const bool failed =
      std::any_of(incident.verdicts.begin(), incident.verdicts.end(),
                  [](const Verdict& verdict) { return verdict.state == VerdictState::fail; });
  return seen || failed;
}

bool all_good(const std::vector<Verdict>& verdicts) {
  return !verdicts.empty() &&
         std::all_of(verdicts.begin(), verdicts.end(), [](const Verdict& verdict) {
           return verdict.state == VerdictState::ok || verdict.state == VerdictState::warn;
         });
}

/// I8: checks passed after the last witness, those that showed the fault among them, and a wipe
/// after them.
bool was_proved(const Incident& incident) {
  bool proved = false;
  bool wiped = false;
  for (const auto& entry : incident.timeline) {
    const bool checks = entry.what == "revalidate" || entry.what == "last_look";
    if (checks) {
      proved = entry.outcome == StepOutcome::done && entry.at >= incident.last_witness_at;
      wiped = false;
    }
    if (entry.what == "wipe") wiped = entry.outcome == StepOutcome::done;
  }
  const bool measured = unproved(proof_of(incident), incident.verdicts).empty();
  return proved && wiped && measured && all_good(incident.verdicts);
}

}  // namespace

std::string words_of(const StorageChange& change) {
  std::string out = change.public_key.empty() ? "" : "make";
  for (const auto& address : change.revoke) out += " -" + address;
  for (const auto& address : change.grant) out += " +" + address;
  return out;
}

std::string power_name(PowerVerb verb) { return "power_" + std::to_string(static_cast<int>(verb)); }

void Checker::on_permit(const control::Action& action, const control::Permit& permit) {
  if (permit.leave != control::Leave::execute || !view_) return;
  DriverCall call;
  if (const auto* power = std::get_if<control::PowerAct>(&action.act)) {
    const Node* node = view_->find(action.node);
    call = {Driver::power, node ? node->spec.bmc_address : "", power_name(power->verb)};
  } else if (const auto* verb = std::get_if<control::VerbAct>(&action.act)) {
    const auto name = enum_names(verb->call.verb)[static_cast<std::size_t>(verb->call.verb)];
    call = {Driver::verb, action.node.str(), std::string(name)};
  } else if (const auto* attach = std::get_if<control::AttachAct>(&action.act)) {
    call = {Driver::port, attach->port.port, attach->intent.segment};
  } else if (const auto* engine = std::get_if<control::EngineAct>(&action.act)) {
    call = {Driver::engine, engine->cluster_name, action.key};
  } else if (const auto* storage = std::get_if<control::StorageAct>(&action.act)) {
    call = {Driver::storage, storage->change.export_name, words_of(storage->change)};
  } else {
    return;
  }
  ++permitted_[call];
}

void Checker::on_call(const DriverCall& call) {
  ++calls_;
  const std::string text = call.target + " " + call.what;
  int& left = permitted_[call];
  if (--left < 0) broken_.push_back("driver called without permit: " + text);
  if (left <= 0) permitted_.erase(call);
  if (!view_) return;
  const bool looks = call.what == "run_checks" || call.what == "read_load";
  if (call.driver == Driver::verb && looks) return;
  for (const auto& [id, hold] : view_->all<Hold>()) {
    const bool over = hold.until.is_set() && hold.until <= world_.scheduler().now();
    if (hold.scope == "*" && !over) broken_.push_back("acted under a hold: " + text);
  }
  check_repair_call(call);
}

void Checker::check_repair_call(const DriverCall& call) {
  const bool reset = call.driver == Driver::verb && call.what == "reset_gpus";
  if (call.driver != Driver::power && !reset) return;
  const Node* node =
      reset ? view_->find(NodeId(call.target)) : view_->find_named<Node>(call.target);
  if (!node) return;
  if (maintenance_over(*view_, node->id)) {
    broken_.push_back("repair of " + node->meta.name + " while people work on it");
  }
  const SimNode* real = world_.find_id(node->id.str());
  const bool goes_off = !reset && call.what == power_name(PowerVerb::off);
  if (goes_off && real && real->leak == "Critical") return;  // liquid beside live parts
  for (const auto& id : view_->incidents_on(node->id)) {
    const Incident* incident = view_->find(id);
    // What was seen stays seen: checks that pass later replace the verdicts.
    if (incident && (has_hardware_witness(*incident) || witnessed_.contains(id.str()))) return;
  }
  broken_.push_back("repair of " + node->meta.name + " without a hardware witness");
}

void Checker::on_change(const Change& change) {
  if (change.kind == Node::kind) nodes_.insert(NodeId(change.id));
  if (change.kind == Allocation::kind) allocations_.insert(AllocationId(change.id));
  if (change.kind == PoolEntry::kind) pools_ = true;
  if (const auto* incident = body_of<Incident>(change)) nodes_.insert(incident->node);
  if (const auto* claim = body_of<Claim>(change)) nodes_.insert(claim->node);
}

void Checker::on_commit(const Batch& batch, Instant now) {
  for (const auto& change : batch.changes) {
    if (change.kind == Incident::kind) commit_incident(change.id, body_of<Incident>(change));
    if (const auto* claim = body_of<Claim>(change)) commit_claim(*claim, now);
    if (change.kind == PoolEntry::kind) commit_pool(change.id, body_of<PoolEntry>(change), now);
    if (const auto* node = body_of<Node>(change)) {
      nodes_.insert(node->id);
      if (node->status.allocation.empty()) {
        given_.erase(node->id);
      } else {
        given_.insert(node->id);
      }
    }
    if (change.kind == Allocation::kind) {
      commit_allocation(change.id, body_of<Allocation>(change));
    }
  }
}

void Checker::commit_incident(const std::string& id, const Incident* incident) {
  if (!incident) {
    broken_.push_back("incident " + id + " was dropped");
    return;
  }
  const auto known = incident_states_.find(id);
  const bool was_open = known == incident_states_.end() || known->second == IncidentState::open;
  if (!was_open && incident->state == IncidentState::open) {
    broken_.push_back("incident " + id + " was ended and is open again");
  }
  const bool has_node = !incident->node.empty();  // one on a shared part took none out
  if (has_node && was_open && incident->state == IncidentState::resolved &&
      !was_proved(*incident)) {
    broken_.push_back("incident " + id + " returned its node unproved");
  }
  if (was_open && incident->state == IncidentState::rma && !has_hardware_witness(*incident)) {
    broken_.push_back("incident " + id + " sent a node away on a user's word");
  }
  incident_states_[id] = incident->state;
  if (has_hardware_witness(*incident)) witnessed_.insert(id);
}

/// What nodes share costs none of them: 0 nodes are drained for a server or a leaf.
void Checker::commit_claim(const Claim& claim, Instant now) {
  if (claim.state != ClaimState::active || now > world_.outage_until || !view_) return;
  const Incident* incident = view_->find(claim.incident);
  if (!incident || !incident->blamed || !claims_known_.insert(claim.id.str()).second) return;
  switch (incident->blamed->part) {
    case Resource::storage_client:
    case Resource::link:
    case Resource::nic:
      broken_.push_back("node " + claim.node.str() + " was claimed for what all nodes share");
      return;
    default: return;
  }
}

/// I4: a value rests before another owner gets it.
void Checker::commit_pool(const std::string& id, const PoolEntry* entry, Instant now) {
  if (entry) {
    pool_entries_[id] = *entry;
    return;
  }
  const auto known = pool_entries_.find(id);
  if (known == pool_entries_.end()) return;
  const bool rested = known->second.state == PoolState::tombstone && known->second.seen_absent &&
                      known->second.since + tombstone_time <= now;
  if (!rested) broken_.push_back("pool value " + known->second.meta.name + " is free too early");
  pool_entries_.erase(known);
}

/// I9: the whole gang or nothing.
void Checker::commit_allocation(const std::string& id, const Allocation* allocation) {
  if (!allocation) {
    allocations_known_.erase(id);
    return;
  }
  if (!allocations_known_.insert(id).second) return;
  if (count_role(*allocation, MemberRole::member) != allocation->spec.nodes ||
      count_role(*allocation, MemberRole::spare) != allocation->spec.spares) {
    broken_.push_back("allocation " + id + " began with a part of its nodes");
  }
}

/// I1: a node is in at most one allocation, and both sides say the same.
void Checker::check_ownership(const Allocation& allocation) {
  for (const auto& member : allocation.status.nodes) {
    if (member.role == MemberRole::controller) continue;
    const Node* node = view_->find(member.node);
    if (!node || node->status.allocation != allocation.id) {
      broken_.push_back("node " + member.node.str() + " is in an allocation it does not know");
    }
  }
}

void Checker::check_owner(const Node& node) {
  if (node.status.allocation.empty()) return;
  const Allocation* held = view_->find(node.status.allocation);
  if (!held || !find_member(*held, node.id)) {
    broken_.push_back("node " + node.meta.name + " names an allocation that does not hold it");
  }
}

/// I2, I12: a port lies in the segment of its owner or in quarantine.
void Checker::check_port(const std::string& port) {
  const std::string& segment = world_.ports.at(port);
  if (segment.empty()) return;
  const Node* node = view_->find_named<Node>(port.substr(0, port.find('/')));
  for (const auto& [id, allocation] : view_->all<Allocation>()) {
    if (allocation.status.segment != segment || !node) continue;
    const AllocationNode* member = find_member(allocation, node->id);
    if (member && member->role != MemberRole::spare) return;
  }
  broken_.push_back("port " + port + " is in " + segment + ", where its node does not belong");
}

/// I7: quota holds at every instant.
void Checker::check_quota() {
  for (const auto& [id, tenant] : view_->all<Tenant>()) {
    if (gpus_in_use(*view_, id) > tenant.spec.gpu_quota) {
      broken_.push_back("tenant " + tenant.meta.name + " is over its quota");
    }
  }
}

/// I4: a number has one owner.
void Checker::check_pools() {
  std::set<std::string> seen;
  for (const auto& [id, entry] : view_->all<PoolEntry>()) {
    if (!seen.insert(entry.meta.name).second) {
      broken_.push_back("pool value " + entry.meta.name + " is held twice");
    }
  }
}

/// I8: a free node is wiped; one node is the matter of one incident.
void Checker::check_node(const Node& node) {
  check_owner(node);
  if (view_->incidents_on(node.id).size() > 1) {
    broken_.push_back("node " + node.meta.name + " has two open incidents");
  }
  const auto real = world_.nodes.find(node.meta.name);
  if (real == world_.nodes.end() || node.spec.role != NodeRole::gpu) return;
  const bool free = node.status.phase == NodePhase::ready && node.status.allocation.empty();
  if (free && !real->second.residue.empty()) {
    broken_.push_back("node " + node.meta.name + " is free with data of " + real->second.residue);
  }
  for (const auto& port : node.spec.ports) {
    if (world_.ports.contains(port.switch_port)) check_port(port.switch_port);
  }
}

/// Told twice, stored once: never more sightings than lines that were written.
void Checker::check_witnesses(const NodeId& id) {
  const Node* node = view_->find(id);
  const auto real = node ? world_.nodes.find(node->meta.name) : world_.nodes.end();
  if (real == world_.nodes.end()) return;
  std::int64_t stored = 0;
  for (const auto& [incident_id, incident] : view_->all<Incident>()) {
    if (incident.node != id) continue;
    stored += std::count_if(incident.witnesses.begin(), incident.witnesses.end(),
                            [](const Witness& w) {
                              return w.provenance != Provenance::probe &&
                                     w.provenance != Provenance::bmc;
                            });
    stored += incident.witnesses_dropped;
  }
  if (stored > real->second.fault_lines) {
    broken_.push_back("node " + node->meta.name + ": " + std::to_string(stored) + " witnesses of " +
                      std::to_string(real->second.fault_lines) + " lines");
  }
}

/// A job restarts only for a GPU that it lost; nobody else's fault touches it.
void Checker::check_jobs() {
  for (const auto& [name, engine] : world_.engines) {
    for (const auto& job : engine.jobs) {
      if (job.restarts > job.hits) {
        broken_.push_back("job " + job.id + " of " + name + " was restarted " +
                          std::to_string(job.restarts) + " times for " + std::to_string(job.hits) +
                          " faults on its nodes");
      }
    }
  }
}

/// Nobody's node is put under load for us: by the event that made an allocation durable, the lease
/// of every active check on its nodes is taken back.
void Checker::check_lease(const NodeId& id) {
  const SimNode* node = given_.contains(id) ? world_.find_id(id.str()) : nullptr;
  if (!node || node->active_run.empty() || node->run_in_cluster) return;
  if (!node->run_holder.expired()) {
    broken_.push_back(node->name + " is of an allocation while active checks run under a lease");
  }
}

std::vector<std::string> Checker::take_broken() {
  std::vector<std::string> out = std::exchange(world_.faults, {});
  out.insert(out.end(), broken_.begin(), broken_.end());
  broken_.clear();
  return out;
}

std::vector<std::string> Checker::after_event() {
  const auto ports = std::exchange(world_.touched_ports, {});
  const bool jobs = std::exchange(world_.touched_jobs, false);
  for (const auto& name : std::exchange(world_.touched_nodes, {})) {
    const Node* node = view_ ? view_->find_named<Node>(name) : nullptr;
    if (node) nodes_.insert(node->id);
  }
  if (jobs) check_jobs();
  const bool exports = std::exchange(world_.touched_exports, false) || !allocations_.empty();
  if (view_ && exports) check_exports();
  if (view_) {
    for (const auto& port : ports) check_port(port);
    for (const auto& id : nodes_) {
      if (const Node* node = view_->find(id)) check_node(*node);
      check_witnesses(id);
      check_lease(id);
    }
    for (const auto& id : allocations_) {
      if (const Allocation* found = view_->find(id)) check_ownership(*found);
    }
    if (!allocations_.empty()) check_quota();
    if (pools_) check_pools();
  }
  nodes_.clear();
  allocations_.clear();
  pools_ = false;
  return take_broken();
}

std::vector<std::string> Checker::sweep() {
  check_jobs();
  if (!view_) return take_broken();
  for (const auto& [id, allocation] : view_->all<Allocation>()) check_ownership(allocation);
  for (const auto& [id, node] : view_->all<Node>()) {
    check_node(node);
    check_witnesses(id);
    check_lease(id);
  }
  for (const auto& [port, segment] : world_.ports) check_port(port);
  check_quota();
  check_pools();
  check_exports();
  return take_broken();
}

/// Whoever may read a tenant's files has its address from a network of that tenant: a node that was
/// given on has none, and neither has an address that rests.
void Checker::check_exports() {
  std::map<std::string, std::string> owner;  // address -> tenant
  for (const auto& [id, network] : view_->all<Network>()) {
    const Tenant* tenant = view_->find(network.meta.tenant);
    for (const auto& own : network.status.storage) {
      owner[own.address] = tenant ? tenant->meta.name : "";
    }
  }
  for (const auto& [name, addresses] : world_.exports) {
    for (const auto& address : addresses) {
      const auto found = owner.find(address);
      if (found != owner.end() && found->second == name) continue;
      broken_.push_back("export " + name + " is open to " + address + " of " +
                        (found == owner.end() ? "nobody" : found->second));
    }
  }
}

}  // namespace tundish::sim
