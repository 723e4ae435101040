#include "sim/site.hpp"

#include "base/check.hpp"
#include "base/text.hpp"
#include "control/allocation/fleet_cache.hpp"
#include "control/allocation/fleet_view.hpp"
#include "control/allocation/order.hpp"
#include "model/ops/allocation_ops.hpp"
#include "model/ops/governance_ops.hpp"
#include "model/ops/health_ops.hpp"
#include "model/ops/incident_ops.hpp"
#include "model/ops/network_ops.hpp"
#include "model/ops/node_ops.hpp"
#include "model/ops/tenancy_ops.hpp"

namespace tundish::sim {
namespace {

constexpr Instant start_of_time{1'700'000'000'000'000};
constexpr Duration restart_delay = seconds(2);
/// More at one instant is two parts of the program waking each other for ever.
constexpr int most_events_at_once = 5000;
constexpr std::int64_t events_between_sweeps = 1000;
/// Hooks that a run of the usual length passes; crashes are drawn among them.
constexpr std::uint64_t usual_hooks = 1500;

struct Rates {
  Duration heartbeat;
  control::Limits limits;
};

Rates rates_of(Pace pace) {
  control::Limits limits;
  switch (pace) {
    case Pace::shipped: return {seconds(3), limits};
    case Pace::eased:
      limits.silent_after = seconds(45);
      limits.engine_interval = seconds(20);
      limits.engine_stale = seconds(60);
      limits.port_interval = minutes(2);
      limits.bmc_interval = minutes(2);
      limits.engine_interval_busy = seconds(2);
      return {seconds(15), limits};
    case Pace::lazy:
      limits.silent_after = hours(4);
      limits.engine_interval = hours(2);
      limits.engine_stale = hours(5);
      limits.port_interval = hours(4);
      limits.bmc_interval = hours(4);
      return {hours(1), limits};
  }
  return {};
}

std::string node_name(int index) {
  return "n" + std::string(index < 10 ? "0" : "") + std::to_string(index);
}

}  // namespace

Site::Site(const SimOptions& options)
    : options_(options),
      random_(options.seed),
      scheduler_(start_of_time, random_),
      world_(scheduler_, random_),
      checker_(world_) {
  world_.bug = options.bug;
  world_.on_boot = [this](SimNode& node) {
    after(random_.between(milliseconds(100), seconds(3)), [this, &node] { sync(node); });
  };
  store_.on_commit([this](const Batch& batch) { on_commit(batch); });
  for (int i = 0; i < options.crashes; ++i) {
    crash_hooks_.insert(1 + static_cast<int>(random_.below(usual_hooks)));
  }
}

bool Site::perform(const OperationPtr& operation) {
  if (!process_) return false;
  const bool done = process_->ledger.perform(*operation, "user:sim", "scenario").has_value();
  process_->manager->pump();
  return done;
}

void Site::want(std::function<bool()> done, std::function<void()> ask, Duration pause) {
  const auto wish = std::make_shared<Wish>(Wish{std::move(done), std::move(ask), pause});
  after({}, [this, wish] { pursue(wish); });  // asking may end in a crash, which the loop catches
}

void Site::pursue(const std::shared_ptr<Wish>& wish) {
  if (process_ && wish->done()) return;
  // Before asking, which may end in a crash.
  after(wish->pause, [this, wish] { pursue(wish); });
  if (process_) wish->ask();
}

void Site::admit(const std::string& name, NodeRole role, int ports, int gpus, int index) {
  NodeSpec spec;
  spec.role = role;
  spec.site = "site";
  spec.rack = index <= options_.nodes / 2 ? "r01" : "r02";
  spec.leaf_group = spec.rack;
  const bool tray = options_.domains && role == NodeRole::gpu;
  if (tray) spec.nvlink_domain = spec.rack == "r01" ? "nvl1" : "nvl2";
  spec.sku = role == NodeRole::gpu ? "gpu" : "plain";
  spec.bmc_mac = "02:00:00:00:00:" + render_hex(std::string(1, static_cast<char>(index)));
  spec.bmc_address = name;
  for (int i = 0; i < ports; ++i) {
    const std::string port = name + "/" + std::to_string(i);
    spec.ports.push_back({"eth" + std::to_string(i), PortRole::access, "", "leaf1", port, -1});
    world_.ports[port] = "";
  }
  check(perform(admit_node(name, spec)), "the simulated node must be admitted");
  SimNode& node = world_.add_node(name, gpus);
  if (gpus > 0 && (options_.domains || options_.scripted)) node.leak = "OK";
  node.id = view()->find_named<Node>(name)->id.str();
  perform(mark_enrolled(NodeId(node.id)));
}

void Site::build() {
  start_process();
  perform(put_site("site"));
  perform(set_authority("site:site", "*", AuthorityLevel::act));
  perform(put_sku("gpu", {"GPU", "gpu", options_.gpus, 0, 8, 1, 2000}));
  perform(put_sku("plain", {"", "", 0, 0, 4, 1, 1000}));
  perform(put_switch("leaf1", {"site", "r01", "leaf", "flat", "sim://leaf1", ""}));
  FabricSpec fabric;
  fabric.storage_prefix = "10.200.0.0/24";
  fabric.storage_ports = {{"leaf1", "storage", "10.200.0.1/24"}};
  fabric.storage_url = "ssh://root@storage";
  fabric.storage_mount_address = "10.200.0.10";
  perform(put_fabric("access", fabric));
  for (int i = 1; i <= options_.nodes; ++i) {
    admit(node_name(i), NodeRole::gpu, 1, options_.gpus, i);
  }
  admit("svc01", NodeRole::service, 4, 0, options_.nodes + 1);
  for (const char* tenant : {"acme", "bolt"}) perform(create_tenant(tenant, {options_.quota}));
  for (auto& [name, node] : world_.nodes) sync(node);
  heartbeat();
}

void Site::let_crash() { may_crash_ = true; }

void Site::order(const std::string& tenant, const std::string& name, ClusterSpec spec) {
  spec.sku = "gpu";
  want([this, name] { return view()->find_named<Cluster>(name) != nullptr; },
       [this, tenant, name, spec] {
         const auto* owner = view()->find_named<Tenant>(tenant);
         auto planned = control::plan_order(process_->manager->view(), owner->id, name, spec,
                                            control::WantLogin::no);
         if (planned) perform(create_cluster(*planned));
       });
}

void Site::remove(const std::string& cluster) {
  want(
      [this, cluster] { return view()->find_named<Cluster>(cluster) == nullptr; },
      [this, cluster] { perform(begin_delete_cluster(view()->find_named<Cluster>(cluster)->id)); });
}

void Site::start_job(const std::string& cluster, int nodes) {
  const auto has_job = [this, cluster] {
    const auto engine = world_.engines.find(cluster);
    return engine != world_.engines.end() && !engine->second.jobs.empty();
  };
  want(has_job, [this, cluster, nodes] {
    const Cluster* found = view()->find_named<Cluster>(cluster);
    if (found && found->status.phase == ClusterPhase::active) world_.submit_job(cluster, nodes);
  });
}

void Site::start_process() {
  control::Limits limits = rates_of(options_.pace).limits;
  if (brake_) limits.disruptive_floor = limits.disruptive_percent = 0;
  policy_ = *options_.policy;
  const bool checks = options_.scripted || options_.stories.idle_checks;
  if (checks) policy_.active.light_every_h = policy_.active.heavy_every_h = 1;
  if (options_.stories.idle_checks) policy_.active.idle_percent = 50;
  process_ = std::make_unique<Process>(
      ProcessParts{world_, store_, checker_, options_.trouble, *options_.catalogue,
                   policy_, limits, [this](const std::string& hook) { on_hook(hook); }});
  // Agents come back to a tundishd that comes back.
  for (auto& [name, node] : world_.nodes) {
    after(random_.between(milliseconds(1), seconds(3)), [this, &node = node] { sync(node); });
  }
}

void Site::mix(std::string_view text) {
  for (const char c : text) {
    digest_ = (digest_ ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  }
}

void Site::on_hook(const std::string& hook) {
  ++hooks_passed_;
  mix(hook);
  if (!may_crash_) return;
  const int times = ++report_.hooks[hook];
  if (!options_.crash_at.empty()) {
    if (report_.crash_hit || hook != options_.crash_at || times != options_.crash_nth) return;
    report_.crash_hit = true;
    throw Crash{hook};
  }
  if (crash_hooks_.erase(hooks_passed_) > 0) throw Crash{hook};
}

void Site::on_commit(const Batch& batch) {
  checker_.on_commit(batch, scheduler_.now());
  for (const auto& entry : batch.history) {
    mix(entry.operation);
    mix(entry.object);
    mix(std::to_string(entry.at.us));
    for (const auto& listener : listeners_) listener(entry, batch);
  }
}

void Site::restart_with_brake() {
  brake_ = true;
  crash();
}

void Site::crash() {
  ++report_.crashes;
  process_.reset();
  after(restart_delay, [this] { start_process(); });
}

void Site::tell_witnesses(SimNode& node) {
  const NodeId id(node.id);
  std::vector<Witness> told(node.spool.begin(), node.spool.end());
  if (options_.bug == Bug::witness_twice) {
    for (auto& witness : told) witness.source += std::to_string(scheduler_.now().us);
  }
  const auto stored = process_->ledger.perform(*record_witnesses(id, told, *options_.catalogue),
                                               "agent:" + node.name, "kernel log");
  if (!stored) return;
  const std::size_t count = told.size();
  const bool ack_lost = random_.chance(options_.trouble.lost_answer * 3);
  process_->ledger.after_flush([&node, count, ack_lost](const Result<>& durable) {
    if (!durable || ack_lost) return;  // told again later: must be recognised
    node.spool.erase(node.spool.begin(), node.spool.begin() + static_cast<std::ptrdiff_t>(count));
  });
}

/// What its passive checks find, when it changed.
void Site::tell_health(SimNode& node) {
  HealthReport report;
  report.boot_id = node.boot_id();
  report.complete = true;
  const auto fails = [&](const char* check, Resource part) {
    Verdict verdict;
    verdict.check = check;
    verdict.state = VerdictState::fail;
    verdict.reason = "no answer";
    verdict.watches = part;
    verdict.at = scheduler_.now();
    report.verdicts.push_back(std::move(verdict));
  };
  if (node.storage_hangs && !node.cluster.empty()) {
    fails("storage_mount", Resource::storage_client);
  }
  if (node.link_down) fails("ib_port", Resource::link);
  if (node.nic_errors) fails("ib_counters", Resource::link);
  if (node.imex_down) {
    fails("imex", Resource::service);
    report.verdicts.back().locality = Locality::device_local;
  }
  std::string told = report.boot_id;
  for (const auto& verdict : report.verdicts) told += " " + verdict.check;
  if (told == node.health_told || (node.health_told.empty() && report.verdicts.empty())) return;
  report.seq = ++node.health_seq;
  const auto stored = process_->ledger.perform(*record_verdicts(NodeId(node.id), report),
                                               "agent:" + node.name, "passive checks");
  if (!stored) return;
  process_->ledger.after_flush([&node, told](const Result<>& durable) {
    if (durable) node.health_told = told;
  });
}

void Site::sync(SimNode& node) {
  if (!process_ || !node.reachable()) return;
  const NodeId id(node.id);
  process_->manager->heard(id, node.boot_id(), false);
  const Node* known = view()->find(id);
  if (known && !known->status.hardware.at.is_set()) {
    (void)process_->ledger.perform(*record_hardware(id, {}), "agent:" + node.name, "seen");
  }
  if (!node.spool.empty()) tell_witnesses(node);
  tell_health(node);
  if (process_->ledger.has_pending()) process_->manager->pump();
}

void Site::heartbeat() {
  after(rates_of(options_.pace).heartbeat, [this] { heartbeat(); });
  for (auto& [name, node] : world_.nodes) sync(node);
}

SimNode& Site::node(int index) { return *world_.find(node_name(index)); }

SimNode& Site::random_node() {
  return node(1 + static_cast<int>(random_.below(static_cast<std::uint64_t>(options_.nodes))));
}

void Site::note(std::vector<std::string> broken) {
  if (options_.lawless) return;
  for (auto& fault : broken) {
    report_.broken.push_back(render_utc(scheduler_.now()) + " " + std::move(fault));
  }
}

/// What is kept from change to change is what would be built anew.
void Site::check_fleet() {
  if (!process_) return;
  const auto view = process_->manager->view();
  const auto kept = view.fleet->at(view);
  const auto fresh = control::placement::FleetIndex::create(control::fleet_of(view));
  if (!kept || !fresh || **kept != *fresh) note({"placement does not see the fleet as it is"});
}

void Site::run_until(Instant limit) {
  while (report_.broken.empty()) {
    bool more = false;
    try {
      more = scheduler_.step(limit);
    } catch (const Crash&) {
      crash();
      more = true;
    }
    if (!more) break;
    ++report_.events;
    still_ = scheduler_.now() == last_event_ ? still_ + 1 : 0;
    last_event_ = scheduler_.now();
    if (still_ > most_events_at_once) note({"time stands still"});
    const bool sweep = report_.events % events_between_sweeps == 0;
    note(sweep ? checker_.sweep() : checker_.after_event());
    if (sweep) check_fleet();
  }
}

/// Counts, not names or numbers: which spare stands in may depend on when.
std::string Site::describe_end() const {
  if (!process_) return "tundishd is down";
  const Registry& reg = process_->ledger.view();
  std::map<std::string, int> lines;
  for (const auto& [id, node] : reg.all<Node>()) {
    const auto phase = enum_names(NodePhase{})[static_cast<std::size_t>(node.status.phase)];
    ++lines["node " + std::string(phase) + " claims " + std::to_string(reg.claims_on(id).size())];
  }
  for (const auto& [id, held] : reg.all<Allocation>()) {
    const auto phase = enum_names(held.status.phase)[static_cast<std::size_t>(held.status.phase)];
    ++lines["allocation " + held.meta.name + " " + std::string(phase) + " " +
            std::to_string(count_role(held, MemberRole::member)) + "+" +
            std::to_string(count_role(held, MemberRole::spare))];
  }
  for (const auto& [id, incident] : reg.all<Incident>()) {
    const auto state = enum_names(incident.state)[static_cast<std::size_t>(incident.state)];
    ++lines["incident " + incident.fault + " " + std::string(state) + " witnesses " +
            std::to_string(incident.witnesses.size())];
  }
  for (const auto& [id, report] : reg.all<NodeReport>()) {
    const auto state = enum_names(report.state)[static_cast<std::size_t>(report.state)];
    ++lines["report " + std::string(state)];
  }
  for (const auto& [id, window] : reg.all<Maintenance>()) {
    const auto state = enum_names(window.state)[static_cast<std::size_t>(window.state)];
    ++lines["maintenance " + std::string(state) + " with " +
            std::to_string(window.recorded.size()) + " incidents"];
  }
  for (const auto& [id, rma] : reg.all<Rma>()) {
    ++lines["rma " +
            std::string(enum_names(rma.state)[static_cast<std::size_t>(rma.state)])];
  }
  for (const auto& [id, entry] : reg.all<PoolEntry>()) {
    ++lines["pool " + entry.pool + " " +
            std::string(enum_names(entry.state)[static_cast<std::size_t>(entry.state)])];
  }
  for (const auto& [name, engine] : world_.engines) {
    for (const auto& job : engine.jobs) {
      ++lines["job of " + name + " " + job.state + " restarts " + std::to_string(job.restarts)];
    }
  }
  for (const auto& [port, segment] : world_.ports) {
    std::string owner = segment.empty() ? "quarantine" : "nobody's segment";
    for (const auto& [id, held] : reg.all<Allocation>()) {
      if (held.status.segment == segment) owner = held.meta.name;
    }
    ++lines["port in " + owner];
  }
  std::string out;
  for (const auto& [line, count] : lines) out += std::to_string(count) + " x " + line + "\n";
  return out;
}

SimReport Site::finish() {
  check_fleet();
  if (report_.broken.empty()) note(checker_.settled());
  if (const Registry* reg = view()) {
    for (const auto& [id, incident] : reg->all<Incident>()) {
      ++report_.incidents;
      if (incident.state == IncidentState::resolved) ++report_.resolved;
      if (incident.state == IncidentState::rma) ++report_.rma;
      if (!options_.tell) continue;
      report_.end_state += id.str() + " " + incident.node.str() + " " + incident.fault + "\n";
      for (const auto& entry : incident.timeline) {
        const auto outcome = enum_names(entry.outcome)[static_cast<std::size_t>(entry.outcome)];
        report_.end_state += "  " + render_utc(entry.at) + " " + entry.what + " [" +
                             std::string(outcome) + "] " + entry.detail + "\n";
      }
    }
  }
  const auto verified = store_.verify_history();
  if (!verified || !verified->intact) note({"history chain is broken"});
  report_.calls = checker_.calls();
  report_.nodes = options_.nodes + 1;
  report_.simulated = scheduler_.now() - start_of_time;
  report_.end_state += describe_end();
  report_.digest = std::to_string(digest_);
  return report_;
}

}  // namespace tundish::sim
