#include "sim/world.hpp"

#include <algorithm>

#include "codec/kernel_log/event.hpp"
#include "model/ops/incident_proof.hpp"

namespace tundish::sim {
namespace {

std::string pci_of(int gpu) {
  static constexpr char digits[] = "0123456789abcdef";
  return std::string("0000:") + digits[gpu / 16 % 16] + digits[gpu % 16] + ":00";
}

bool contains(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

Verdict verdict(std::string check, bool good, std::string reason, Instant at) {
  Verdict out;
  out.check = std::move(check);
  out.state = good ? VerdictState::ok : VerdictState::fail;
  out.reason = good ? "" : std::move(reason);
  out.at = at;
  return out;
}

bool lost_nothing(const SimJob& job, const std::string& node) {
  return job.state == "RUNNING" && contains(job.nodes, node) && job.restarts >= job.hits;
}

/// A busy node; one that is slow draws less and is told to be throttled.
NodeLoad load_of(const SimNode& node) {
  NodeLoad out;
  const auto gpus = static_cast<std::int64_t>(node.gpus.size());
  out.clock_mhz = node.slow ? 900 : 1900;
  out.power_w = (node.slow ? 300 : 650) * gpus;
  out.utilization_percent = 99;
  out.throttled_gpus = node.slow ? 1 : 0;
  out.nic_bytes_per_s = 20'000'000'000;
  out.nic_rate_gbps = 400;
  return out;
}

}  // namespace

bool SimNode::healthy() const {
  return leak != "Critical" && std::all_of(gpus.begin(), gpus.end(),
                     [](const SimGpu& gpu) { return !gpu.lost && !gpu.ecc; });
}

SimNode& World::add_node(const std::string& name, int gpus) {
  SimNode& node = nodes[name];
  node.name = name;
  node.gpus.resize(static_cast<std::size_t>(gpus));
  node.begin_boot();
  return node;
}

SimNode* World::find(const std::string& name) {
  const auto it = nodes.find(name);
  return it == nodes.end() ? nullptr : &it->second;
}

SimNode* World::find_id(const std::string& id) {
  for (auto& [name, node] : nodes) {
    if (node.id == id) return &node;
  }
  return nullptr;
}

void World::write_kernel_line(SimNode& node, const std::string& text, Provenance provenance) {
  Witness witness;
  witness.source = "kmsg";
  witness.boot_id = node.boot_id();
  witness.seq = ++node.seq;
  witness.id = witness.boot_id + "/kmsg/" + std::to_string(witness.seq);
  witness.provenance = provenance;
  witness.observed_at = scheduler_.now();
  const auto event = parse_kernel_text(text);
  if (!event) return;
  witness.event = *event;
  if (node.powered) node.spool.push_back(std::move(witness));
}

void World::hit_jobs(const SimNode& node) {
  touched_jobs = true;
  for (auto& [name, engine] : engines) {
    for (auto& job : engine.jobs) {
      if (job.state == "RUNNING" && contains(job.nodes, node.name)) ++job.hits;
    }
  }
}

void World::write_fault_line(SimNode& node, int gpu, int xid, Provenance provenance) {
  const std::string detail = xid == 79 ? "pid=1, name=python3, GPU has fallen off the bus."
                                       : "pid=1, name=python3, Uncontained: FBHUB. RST: Yes, "
                                         "D-RST: No";
  ++node.fault_lines;
  write_kernel_line(node,
                    "NVRM: Xid (PCI:" + pci_of(gpu) + "): " + std::to_string(xid) + ", " + detail,
                    provenance);
}

void World::fail_gpu(SimNode& node, int gpu, int xid, bool sticky) {
  SimGpu& hit = node.gpus.at(static_cast<std::size_t>(gpu));
  if (xid == 79) hit.lost = true;
  if (xid == 95) hit.ecc = true;
  hit.sticky = hit.sticky || sticky;
  hit_jobs(node);
  write_fault_line(node, gpu, xid, Provenance::kernel);
}

void World::wet(SimNode& node) {
  node.leak = "Critical";
  hit_jobs(node);
}

void World::fail_silently(SimNode& node, int gpu) {
  node.gpus.at(static_cast<std::size_t>(gpu)).lost = true;
  node.silent_fault = true;
  hit_jobs(node);
}

void World::write_forged_line(SimNode& node, int gpu) {
  hit_jobs(node);
  write_fault_line(node, gpu, 79, Provenance::userspace);
}

void World::attach(const std::string& port, const std::string& segment) {
  ports.at(port) = segment;
  touched_ports.insert(port);
}

void World::drain_by_person(const std::string& cluster, const std::string& node) {
  SimEngineNode& state = engines[cluster].nodes[node];
  if (state.drained) return;
  state.drained = true;
  state.reason = "cable work, ask Ann";
}

void World::resume_by_person(const std::string& cluster, const std::string& node) {
  SimEngine& engine = engines[cluster];
  if (engine.nodes[node].drained && engine.nodes[node].reason.starts_with("tundish:")) {
    resumed_by_person.insert(node);
  }
  engine.nodes[node] = {};
  schedule_jobs(engine);
}

void World::power(SimNode& node, PowerVerb verb) {
  ++node.power_acts;
  node.powered = false;
  node.cluster.clear();
  if (verb == PowerVerb::off) return;
  const Duration boot = random_.between(seconds(5), seconds(60));
  scheduler_.at(scheduler_.now() + boot, [this, name = node.name] {
    SimNode& back = nodes[name];
    if (back.powered) return;
    back.powered = true;
    back.agent_up = true;
    back.begin_boot();
    back.seq = 0;
    for (auto& gpu : back.gpus) {
      if (!gpu.sticky) gpu = {};
    }
    back.silent_fault = back.slow = false;
    if (on_boot) on_boot(back);
  });
}

void World::begin_run(SimNode& node, const VerbCall& call, std::weak_ptr<int> holder) {
  node.active_run = call.key;
  node.run_holder = std::move(holder);
  node.run_in_cluster = call.run_checks->work.has_value();
  touched_nodes.insert(node.name);
  watch_lease(node.id, call.key, milliseconds(call.run_checks->lease_ms));
}

void World::watch_lease(const std::string& id, const std::string& key, Duration lease) {
  scheduler_.at(scheduler_.now() + lease, [this, id, key, lease] {
    SimNode* node = find_id(id);
    if (!node || node->active_run != key) return;
    if (node->run_holder.expired() || !node->reachable()) {
      node->active_run.clear();
    } else {
      watch_lease(id, key, lease);
    }
  });
}

/// The agent ends a run before anything else is done to the node. Under a tundishd that lives its
/// lease was taken back before: a node that is given to a tenant waits for no check.
void World::preempt(SimNode& node) {
  if (!node.active_run.empty() && !node.run_holder.expired()) {
    faults.push_back(node.name + " is set up while its active checks still hold a lease");
  }
  node.active_run.clear();
}

std::vector<Verdict> World::run_checks(const SimNode& node, const VerbCall& call) {
  const Instant now = scheduler_.now();
  bool lost = false;
  bool ecc = false;
  for (const auto& gpu : node.gpus) {
    lost = lost || gpu.lost;
    ecc = ecc || gpu.ecc;
  }
  std::vector<Verdict> out;
  if (!call.run_checks || !call.run_checks->only_active) {
    out.push_back(verdict("gpu_count", !lost, "a GPU is lost", now));
    out.push_back(verdict("ecc", !ecc, "uncorrected errors", now));
  }
  if (!call.run_checks) return out;
  for (const auto& name : call.run_checks->checks) {
    if (name == serve_checks || name == "gpu_count" || name == "ecc") continue;
    out.push_back(verdict(name, !lost && !ecc, "a GPU is broken", now));
    if (node.slow && name == "gpu_throttle") {
      out.back().state = VerdictState::warn;
      out.back().reason = "the hardware slows it down for heat";
    }
  }
  for (const auto& name : call.run_checks->active) {
    out.push_back(verdict(name, !lost && !ecc, "wrong results", now));
  }
  return out;
}

void World::setup_controller(const SetupController& setup) {
  SimEngine& engine = engines[setup.cluster];
  engine.up = true;
  for (const auto& entry : setup.hosts) {
    if (entry.name.ends_with("-ctl") || entry.name.ends_with("-login")) continue;
    engine.nodes.try_emplace(entry.name);
  }
}

void World::reset_gpus(SimNode& node, VerbResult& out) {
  ++node.resets;
  node.slow = false;
  for (auto& gpu : node.gpus) {
    if (gpu.lost) out.ok = false;
    if (!gpu.sticky) gpu.ecc = false;
  }
  out.what = out.ok ? "" : "a lost GPU cannot be reset";
}

void World::mount_export(SimNode& node, const SetupNode& setup, VerbResult& out) {
  node.storage_address.clear();
  if (!setup.storage) return;
  const std::string& source = setup.exports.at(0).source;
  const auto found = exports.find(source.substr(0, source.find('@')));
  if (found == exports.end() || !found->second.contains(setup.storage->address)) {
    out.ok = false;
    out.code = "unavailable";
    out.what = "the storage lets nobody in from " + setup.storage->address;
    return;
  }
  node.storage_address = setup.storage->address;
  touched_exports = true;
}

Result<> World::change_export(const StorageChange& change) {
  touched_exports = true;
  for (const auto& address : change.revoke) {
    for (auto& [name, addresses] : exports) addresses.erase(address);
    for (auto& [name, node] : nodes) {
      if (node.storage_address == address) node.storage_address.clear();
    }
  }
  if (!change.public_key.empty()) exports[change.export_name];
  const auto own = exports.find(change.export_name);
  if (own == exports.end()) return make_error(Code::not_found, "no export " + change.export_name);
  for (const auto& address : change.grant) {
    for (const auto& [name, addresses] : exports) {
      if (name == change.export_name || !addresses.contains(address)) continue;
      return make_error(Code::conflict, address + " is granted to " + name);
    }
    own->second.insert(address);
  }
  return {};
}

StorageSeen World::show_exports() const {
  StorageSeen out;
  out.identity_key = "ssh-ed25519 AAAA";
  out.shows_keys = true;
  for (const auto& [name, addresses] : exports) {
    out.exports.push_back({name, {addresses.begin(), addresses.end()}, {"public"}});
  }
  for (const auto& [name, node] : nodes) {
    if (node.storage_address.empty()) continue;
    StorageSession session{"", node.storage_address};
    for (const auto& one : out.exports) {
      const auto& granted = one.addresses;
      if (std::find(granted.begin(), granted.end(), session.address) != granted.end()) {
        session.name = one.name;
      }
    }
    out.sessions.push_back(std::move(session));
  }
  std::ranges::sort(out.sessions, {}, &StorageSession::address);
  return out;
}

VerbResult World::do_verb(SimNode& node, const VerbCall& call) {
  VerbResult out;
  out.key = call.key;
  out.ok = true;
  switch (call.verb) {
    case Verb::setup_node:
      if (!node.residue.empty() && node.residue != call.cluster && !node.gpus.empty()) {
        faults.push_back("node " + node.name + " got " + call.cluster + " with data of " +
                         node.residue);
      }
      mount_export(node, *call.setup_node, out);
      if (!out.ok) break;
      node.cluster = call.cluster;
      node.residue = call.cluster;
      break;
    case Verb::leave_cluster:
      node.cluster.clear();
      node.storage_address.clear();
      break;
    case Verb::setup_controller: setup_controller(*call.setup_controller); break;
    case Verb::stop_controller: engines.erase(call.cluster); break;
    case Verb::run_checks: out.verdicts = run_checks(node, call); break;
    case Verb::reset_gpus: reset_gpus(node, out); break;
    case Verb::wipe:
      if (bug != Bug::skip_wipe) node.residue.clear();
      node.cluster.clear();
      break;
    case Verb::engine_commands:
    case Verb::engine_observe:
    case Verb::inject:
    case Verb::probe_network: break;
    case Verb::read_load: out.load = load_of(node); break;
  }
  return out;
}

VerbResult World::run_verb(SimNode& node, const VerbCall& call) {
  if (const auto known = node.journal.find(call.key); known != node.journal.end()) {
    return known->second;
  }
  touched_nodes.insert(node.name);
  VerbCall plain = call;
  plain.cluster = plain_cluster(call.cluster);
  if (plain.setup_controller) plain.setup_controller->cluster = plain.cluster;
  return node.journal[call.key] = do_verb(node, plain);
}

std::string plain_cluster(const std::string& engine_cluster) {
  return engine_cluster.substr(0, engine_cluster.rfind('-'));
}

SimJob& World::submit_job(const std::string& cluster, int wanted) {
  SimJob job;
  job.id = std::to_string(++jobs_);
  job.nodes_wanted = wanted;
  SimEngine& engine = engines[cluster];
  engine.jobs.push_back(std::move(job));
  schedule_jobs(engine);
  return engine.jobs.back();
}

void World::cancel_jobs(const std::string& cluster) {
  const auto engine = engines.find(cluster);
  if (engine != engines.end()) engine->second.jobs.clear();
}

void World::schedule_jobs(SimEngine& engine) {
  const std::int64_t now_s = scheduler_.now().us / 1000000;
  for (auto& job : engine.jobs) {
    if (job.state != "PENDING" || job.begin_time_s > now_s) continue;
    std::vector<std::string> free;
    for (const auto& name : engine.partition) {
      const auto it = engine.nodes.find(name);
      const SimNode* node = find(name);
      if (it == engine.nodes.end() || it->second.drained || it->second.down || !node) continue;
      if (!node->powered || node->cluster.empty()) continue;
      bool busy = false;
      for (const auto& other : engine.jobs) {
        busy = busy || (other.state == "RUNNING" && contains(other.nodes, name));
      }
      if (!busy) free.push_back(name);
    }
    if (static_cast<int>(free.size()) < job.nodes_wanted) continue;
    free.resize(static_cast<std::size_t>(job.nodes_wanted));
    job.nodes = free;
    job.state = "RUNNING";
    job.started = scheduler_.now();
    for (const auto& name : job.nodes) {
      // Slurm knows nothing of a GPU that broke since: the job lands on it and loses it.
      if (!find(name)->healthy()) ++job.hits;
    }
  }
}

EngineObserved World::observe_engine(const std::string& cluster) {
  EngineObserved out;
  const auto found = engines.find(cluster);
  if (found == engines.end() || !found->second.up) {
    out.fault = "controller does not answer";
    return out;
  }
  SimEngine& engine = found->second;
  schedule_jobs(engine);
  out.reachable = true;
  out.partition_nodes = engine.partition;
  out.nodes.reserve(engine.nodes.size());
  out.jobs.reserve(engine.jobs.size());
  for (const auto& [name, state] : engine.nodes) {
    EngineNode& node = out.nodes.emplace_back();
    node.name = name;
    node.reason = state.reason;
    const SimNode* real = find(name);
    node.registered = real && real->powered && real->cluster == cluster;
    node.states.reserve(4);
    node.states.emplace_back("IDLE");
    if (!node.registered) node.states.emplace_back("NOT_RESPONDING");
    if (state.drained) node.states.emplace_back("DRAIN");
    if (state.down) node.states.emplace_back("DOWN");
    for (const auto& job : engine.jobs) {
      if (job.state == "RUNNING" && contains(job.nodes, name)) node.allocated_cpus = 1;
    }
  }
  for (const auto& job : engine.jobs) {
    EngineJob& seen = out.jobs.emplace_back();
    seen.id = job.id;
    seen.state = job.state;
    seen.nodes = job.nodes;
    seen.restarts = job.restarts;
    seen.requeueable = true;
    seen.begin_time_s = job.begin_time_s;
    if (job.state == "RUNNING") seen.started_at = job.started;
  }
  return out;
}

/// A job that lost nothing is waited for, and ends some day; whoever owns it starts the next one.
void World::end_jobs(const std::string& node) {
  for (auto& [cluster, engine] : engines) {
    const auto found = engine.nodes.find(node);
    if (found == engine.nodes.end() || !found->second.drained) continue;
    for (auto& job : engine.jobs) {
      if (!lost_nothing(job, node)) continue;
      SimJob next;
      next.id = std::to_string(++jobs_);
      next.nodes_wanted = job.nodes_wanted;
      job = next;
    }
    schedule_jobs(engine);
  }
}

void World::let_jobs_end(const SimEngine& engine, const std::string& node) {
  constexpr Duration job_length = minutes(20);
  const bool waits = std::any_of(engine.jobs.begin(), engine.jobs.end(),
                                 [&](const SimJob& job) { return lost_nothing(job, node); });
  if (!waits) return;
  scheduler_.at(scheduler_.now() + job_length, [this, node] { end_jobs(node); });
}

void World::apply_to_nodes(SimEngine& engine, const EngineCommand& command) {
  for (const auto& name : command.nodes) {
    SimEngineNode& node = engine.nodes[name];
    const bool for_fault = command.state == "drain" && command.reason.starts_with("tundish: xid");
    if (for_fault && node.reason != command.reason) let_jobs_end(engine, name);
    if (command.state == "drain") node.drained = true;
    if (command.state == "down") node.down = true;
    if (command.state != "resume" && command.state != "undrain") {
      node.reason = command.reason;
      continue;
    }
    if (node.drained && !node.reason.starts_with("tundish:")) {
      faults.push_back("a person's drain of " + name + " was cleared");
    }
    node = {};
  }
}

void World::apply_to_job(SimJob& job, const EngineCommand& command) {
  if (command.verb == EngineVerb::requeue_job && job.state == "RUNNING") {
    job.state = "PENDING";
    job.nodes.clear();
    ++job.restarts;
    job.begin_time_s = scheduler_.now().us / 1000000 + 120;
    touched_jobs = true;
  }
  if (command.verb == EngineVerb::start_job_now) job.begin_time_s = 0;
}

Result<> World::apply_engine(const std::string& cluster,
                             const std::vector<EngineCommand>& commands) {
  const auto found = engines.find(cluster);
  if (found == engines.end() || !found->second.up) {
    return make_error(Code::unavailable, "controller does not answer");
  }
  SimEngine& engine = found->second;
  for (const auto& command : commands) {
    if (command.verb == EngineVerb::update_nodes) apply_to_nodes(engine, command);
    const bool sets = command.verb == EngineVerb::set_partition;
    if (sets && command.partition != check_work_name) engine.partition = command.nodes;
    for (auto& job : engine.jobs) {
      if (job.id == command.job) apply_to_job(job, command);
    }
  }
  schedule_jobs(engine);
  return {};
}

}  // namespace tundish::sim
