#include "sim/simulation.hpp"

#include "base/check.hpp"
#include "base/text.hpp"
#include "control/allocation/order.hpp"
#include "model/ops/allocation_ops.hpp"
#include "model/ops/governance_ops.hpp"
#include "model/ops/incident_ops.hpp"
#include "model/ops/node_ops.hpp"
#include "model/ops/tenancy_ops.hpp"
#include "sim/process.hpp"

namespace tundish::sim {
namespace {

constexpr Instant start_of_time{1'700'000'000'000'000};
constexpr Duration sync_interval = seconds(3);
constexpr Duration restart_delay = seconds(2);

class Simulation {
 public:
  explicit Simulation(const SimOptions& options)
      : options_(options),
        random_(options.seed),
        scheduler_(start_of_time, random_),
        world_(scheduler_, random_) {}

  SimReport run();

 private:
  void build();
  void admit(const std::string& name, NodeRole role, int ports, int gpus, int index);
  void order(const std::string& tenant, const std::string& name, int nodes, int spares);
  void start_process();
  void crash();
  void on_hook(const std::string& hook);
  void sync_agents();
  void sync(SimNode& node);
  void plan_troubles();
  void inject_fault();
  void run_until(Instant limit);
  void perform(const OperationPtr& operation);
  void check_now();
  std::string describe_end() const;

  const SimOptions& options_;
  SimRandom random_;
  SimScheduler scheduler_;
  World world_;
  MemoryStore store_;
  CallLog calls_;
  PermitLog permits_;
  std::unique_ptr<Process> process_;
  SimReport report_;
  std::uint64_t digest_ = 14695981039346656037ull;
  std::set<std::uint64_t> crash_events_;
  int hook_seen_ = 0;
  bool building_ = true;
  std::vector<std::pair<std::string, std::pair<int, int>>> orders_;
};

void Simulation::perform(const OperationPtr& operation) {
  const auto done = process_->ledger.perform(*operation, "user:sim", "scenario");
  check(done.has_value(), done ? "" : done.error().message());
}

void Simulation::admit(const std::string& name, NodeRole role, int ports, int gpus, int index) {
  NodeSpec spec;
  spec.role = role;
  spec.site = "site";
  spec.rack = index <= options_.nodes / 2 ? "r01" : "r02";
  spec.leaf_group = spec.rack;
  spec.sku = role == NodeRole::gpu ? "gpu" : "plain";
  spec.bmc_mac = "02:00:00:00:00:" + render_hex(std::string(1, static_cast<char>(index)));
  spec.bmc_address = name;
  for (int i = 0; i < ports; ++i) {
    spec.ports.push_back({"eth" + std::to_string(i), PortRole::access, "", "leaf1",
                          name + "/" + std::to_string(i), -1});
    world_.ports[name + "/" + std::to_string(i)] = "";
  }
  perform(admit_node(name, spec));
  SimNode& node = world_.add_node(name, gpus);
  node.id = process_->ledger.view().find_named<Node>(name)->id.str();
  perform(mark_enrolled(NodeId(node.id)));
}

void Simulation::build() {
  start_process();
  perform(put_site("site"));
  perform(set_authority("site:site", "*", AuthorityLevel::act));
  perform(put_sku("gpu", {"GPU", "gpu", options_.gpus, 0, 8, 1, 2000}));
  perform(put_sku("plain", {"", "", 0, 0, 4, 1, 1000}));
  perform(put_switch("leaf1", {"site", "r01", "leaf", "flat", "sim://leaf1", ""}));
  for (int i = 1; i <= options_.nodes; ++i) {
    admit("n" + std::string(i < 10 ? "0" : "") + std::to_string(i), NodeRole::gpu, 1,
          options_.gpus, i);
  }
  admit("svc01", NodeRole::service, 4, 0, options_.nodes + 1);
  for (const char* tenant : {"acme", "bolt"}) perform(create_tenant(tenant, {64}));
  process_->manager->pump();
  sync_agents();
  run_until(scheduler_.now() + minutes(5));
  orders_ = {{"acme", {4, 1}}, {"bolt", {2, 1}}};
  for (const auto& [tenant, size] : orders_) order(tenant, tenant + "-c", size.first, size.second);
  run_until(scheduler_.now() + minutes(10));
  for (const auto& [tenant, size] : orders_) world_.submit_job(tenant + "-c", size.first);
  run_until(scheduler_.now() + minutes(1));
}

void Simulation::order(const std::string& tenant, const std::string& name, int nodes, int spares) {
  const auto* owner = process_->ledger.view().find_named<Tenant>(tenant);
  ClusterSpec spec;
  spec.sku = "gpu";
  spec.nodes = nodes;
  spec.spares = spares;
  auto planned = control::plan_order(process_->manager->view(), owner->id, name, spec,
                                     control::WantLogin::no);
  check(planned.has_value(), planned ? "" : planned.error().message());
  perform(create_cluster(*planned));
  process_->manager->pump();
}

void Simulation::start_process() {
  process_ = std::make_unique<Process>(world_, store_, options_.trouble, *options_.catalogue,
                                       *options_.policy, calls_, permits_,
                                       [this](const std::string& hook) { on_hook(hook); });
}

void Simulation::on_hook(const std::string& hook) {
  report_.hooks.insert(hook);
  for (const char c : hook) {
    digest_ = (digest_ ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  }
  if (building_) return;
  if (!options_.crash_at.empty()) {
    if (hook == options_.crash_at && ++hook_seen_ == options_.crash_nth) {
      report_.crash_hit = true;
      throw Crash{hook};
    }
    return;
  }
  if (crash_events_.contains(static_cast<std::uint64_t>(++hook_seen_))) throw Crash{hook};
}

void Simulation::crash() {
  ++report_.crashes;
  process_.reset();
  scheduler_.at(scheduler_.now() + restart_delay, [this] {
    try {
      start_process();
    } catch (const Crash&) {
      crash();
    }
  });
}

void Simulation::sync(SimNode& node) {
  if (!process_ || !node.reachable()) return;
  process_->manager->heard(NodeId(node.id), node.boot_id(), false);
  const NodeId id(node.id);
  const Node* known = process_->ledger.view().find(id);
  if (known && !known->status.hardware.at.is_set()) {
    (void)process_->ledger.perform(*record_hardware(id, {}), "agent:" + node.name, "seen");
  }
  if (node.spool.empty()) {
    if (process_->ledger.has_pending()) process_->manager->pump();
    return;
  }
  std::vector<Witness> told(node.spool.begin(), node.spool.end());
  const auto stored = process_->ledger.perform(*record_witnesses(id, told, *options_.catalogue),
                                               "agent:" + node.name, "kernel log");
  if (!stored) return;
  const std::size_t count = told.size();
  const bool ack_lost = random_.chance(options_.trouble.lost_answer * 3);
  process_->ledger.after_flush([&node, count, ack_lost](const Result<>& durable) {
    if (!durable || ack_lost) return;  // told again later: must be recognised
    node.spool.erase(node.spool.begin(), node.spool.begin() + static_cast<std::ptrdiff_t>(count));
  });
  process_->manager->pump();
}

void Simulation::sync_agents() {
  for (auto& [name, node] : world_.nodes) {
    const Instant first = scheduler_.now() + random_.between(milliseconds(1), sync_interval);
    const auto loop = std::make_shared<std::function<void()>>();
    *loop = [this, &node = node, loop] {
      scheduler_.at(scheduler_.now() + sync_interval, *loop);
      sync(node);
    };
    scheduler_.at(first, *loop);
  }
}

void Simulation::inject_fault() {
  const int index = 1 + static_cast<int>(random_.below(static_cast<std::uint64_t>(options_.nodes)));
  const std::string name = "n" + std::string(index < 10 ? "0" : "") + std::to_string(index);
  SimNode& node = *world_.find(name);
  if (!node.powered) return;
  const int gpu = static_cast<int>(random_.below(static_cast<std::uint64_t>(options_.gpus)));
  const bool sticky = random_.chance(options_.sticky_per_mille);
  world_.fail_gpu(node, gpu, random_.chance(500) ? 79 : 95, sticky);
  sync(node);
}

void Simulation::plan_troubles() {
  const Instant now = scheduler_.now();
  for (int i = 0; i < options_.faults; ++i) {
    scheduler_.at(now + random_.between({}, options_.length), [this] { inject_fault(); });
  }
  for (int i = 0; i < options_.decoys; ++i) {
    scheduler_.at(now + random_.between({}, options_.length), [this] {
      static constexpr int codes[] = {13, 31, 43, 45};
      SimNode& node = *world_.find("n01");
      world_.write_kernel_line(
          node,
          "NVRM: Xid (PCI:0000:01:00): " + std::to_string(codes[random_.below(4)]) +
              ", pid=9, name=b: 79, x, Ch 1",
          Provenance::kernel);
    });
  }
  for (int i = 0; i < options_.crashes; ++i) crash_events_.insert(1 + random_.below(600));
  if (options_.cut_agents) {
    scheduler_.at(now + minutes(20), [this] {
      for (auto& [name, node] : world_.nodes) node.oob_cut = true;
    });
    scheduler_.at(now + minutes(30), [this] {
      for (auto& [name, node] : world_.nodes) node.oob_cut = false;
    });
  }
}

void Simulation::check_now() {
  if (!process_ || !report_.broken.empty()) return;
  auto broken = check_always(process_->ledger.view(), world_);
  if (broken.empty()) broken = check_permits(permits_, calls_);
  for (auto& fault : broken) {
    report_.broken.push_back(render_utc(scheduler_.now()) + " " + std::move(fault));
  }
}

void Simulation::run_until(Instant limit) {
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
    if (report_.events % 16 == 0) check_now();
  }
}

std::string Simulation::describe_end() const {
  std::string out;
  if (!process_) return "tundishd is down";
  const Registry& view = process_->ledger.view();
  for (const auto& [id, node] : view.all<Node>()) {
    out += node.meta.name + ":" +
           std::string(enum_names(NodePhase{})[static_cast<std::size_t>(node.status.phase)]) + "/" +
           std::to_string(view.claims_on(id).size()) + " ";
  }
  for (const auto& [id, allocation] : view.all<Allocation>()) {
    out += allocation.meta.name + ":" + std::to_string(count_role(allocation, MemberRole::member)) +
           "+" + std::to_string(count_role(allocation, MemberRole::spare)) + " ";
  }
  for (const auto& [id, incident] : view.all<Incident>()) {
    if (!options_.tell) break;
    out += "\n  " + id.str() + " " + incident.node.str() + " " + incident.fault;
    for (const auto& entry : incident.timeline) {
      out += "\n    " + render_utc(entry.at) + " " + entry.what + " [" +
             std::string(enum_names(entry.outcome)[static_cast<std::size_t>(entry.outcome)]) +
             "] " + entry.detail;
    }
  }
  for (const auto& [name, engine] : world_.engines) {
    for (const auto& job : engine.jobs) {
      out += "job" + job.id + ":" + job.state + "/" + std::to_string(job.restarts) + " ";
    }
  }
  return out;
}

SimReport Simulation::run() {
  build();
  building_ = false;
  const Instant begin = scheduler_.now();
  plan_troubles();
  run_until(begin + options_.length);
  run_until(begin + options_.length + options_.settle);
  check_now();
  if (report_.broken.empty() && process_) {
    report_.broken = check_settled(process_->ledger.view(), world_);
    for (const auto& [id, incident] : process_->ledger.view().all<Incident>()) {
      ++report_.incidents;
      if (incident.state == IncidentState::resolved) ++report_.resolved;
      if (incident.state == IncidentState::rma) ++report_.rma;
    }
  }
  const auto verified = store_.verify_history();
  if (!verified || !verified->intact) report_.broken.push_back("history chain is broken");
  report_.simulated = scheduler_.now() - start_of_time;
  report_.end_state = describe_end();
  report_.digest = std::to_string(digest_);
  return report_;
}

}  // namespace

SimReport run_simulation(const SimOptions& options) { return Simulation(options).run(); }

}  // namespace tundish::sim
