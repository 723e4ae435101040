// 750 nodes fail at once: burst_bench CATALOG FOLDER [NODES]. The shipped controllers over a
// simulated world; CPU is real, waiting is simulated, so the sum is what a user would wait.
// Writes FOLDER/burst_commands.txt: lines for scontrol, for a real slurmctld.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/check.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "bench/figures.hpp"
#include "control/cluster/setup.hpp"
#include "model/ops/allocation_ops.hpp"
#include "model/ops/governance_ops.hpp"
#include "model/ops/incident_ops.hpp"
#include "model/ops/node_ops.hpp"
#include "model/ops/tenancy_ops.hpp"
#include "runtime/store_sqlite/sqlite_store.hpp"
#include "sim/catalogues.hpp"
#include "sim/process.hpp"

namespace {

using namespace tundish;
using namespace tundish::bench;

void quiet(LogLevel, std::string_view, const std::vector<LogField>&) {}

std::string node_name(int number) {
  const std::string text = std::to_string(number);
  return "n" + std::string(4 - text.size(), '0') + text;
}

/// The fake engine, and what it was told.
class RecordingEngine final : public Engine {
 public:
  explicit RecordingEngine(Engine& engine) : engine_(engine) {}
  std::vector<EngineCommand> plan(const DesiredEngine& desired,
                                  const EngineObserved& observed) const override {
    return engine_.plan(desired, observed);
  }
  std::vector<EngineFile> render(const DesiredEngine& desired) const override {
    return engine_.render(desired);
  }
  void apply(const std::string& key, const NodeId& controller, const std::string& cluster,
             std::vector<EngineCommand> commands, Duration limit, Done done) override {
    for (const auto& command : commands) told.push_back(command);
    ++applied;
    engine_.apply(key, controller, cluster, std::move(commands), limit, std::move(done));
  }
  void observe(const NodeId& controller, const std::string& cluster, Duration limit,
               ObserveDone done) override {
    engine_.observe(controller, cluster, limit, std::move(done));
  }
  std::vector<EngineCommand> told;
  int applied = 0;

 private:
  Engine& engine_;
};

class Burst {
 public:
  Burst(Store& store, const XidCatalogue& xids, const RemediationPolicy& policy, int nodes)
      : random_(1),
        scheduler_({1'700'000'000'000'000}, random_),
        world_(scheduler_, random_),
        checker_(world_),
        ledger_(store, scheduler_),
        agents_(world_, trouble_, alive_, checker_),
        bmc_(world_, trouble_, alive_, checker_),
        switches_(world_, trouble_, alive_, checker_),
        fake_engine_(world_, trouble_, alive_, checker_, *engines::find_engine("slurm")),
        engine_(fake_engine_),
        xids_(xids),
        nodes_(nodes) {
    check(ledger_.load().has_value(), "the store of the bench must load");
    manager_ = std::make_unique<control::Manager>(
        control::ManagerParts{ledger_,
                              scheduler_,
                              {agents_, bmc_, switches_, fabrics_, engine_},
                              secrets_,
                              xids_,
                              policy,
                              {},
                              {},
                              {},
                              {}});
    manager_->start();
  }

  /// Active clusters of all nodes: a cluster's /24 holds 240.
  void prepare() {
    perform(put_site("site"));
    perform(set_authority("site:site", "*", AuthorityLevel::act));
    perform(put_sku("gpu", {"GPU", "h100", 8, 0, 8, 1, 2000}));
    perform(put_sku("plain", {"", "", 0, 0, 4, 1, 1000}));
    perform(put_switch("leaf1", {"site", "r01", "leaf", "flat", "sim://leaf1", ""}));
    perform(create_tenant("acme", {8 * nodes_}));
    for (int i = 1; i <= nodes_; ++i) admit(node_name(i), NodeRole::gpu, 8, i);
    for (int i = 1; i <= clusters(); ++i) {
      admit("svc0" + std::to_string(i), NodeRole::service, 0, nodes_ + i);
    }
    heartbeat();
    wait("nodes are ready", [this] {
      for (const auto& [id, node] : ledger_.view().all<Node>()) {
        if (node.status.phase != NodePhase::ready) return false;
      }
      return true;
    });
    for (int i = 1; i <= clusters(); ++i) order(i);
    wait("the clusters are active", [this] {
      for (const auto& [id, cluster] : ledger_.view().all<Cluster>()) {
        if (cluster.status.phase != ClusterPhase::active) return false;
      }
      return true;
    });
    const Instant rest = scheduler_.now() + seconds(5);
    while (scheduler_.step(rest)) {
    }
  }

  struct Figures {
    double intake_cpu_s = 0;  ///< 750 reports: witnesses, incidents, claims, commits
    double total_cpu_s = 0;   ///< until the engine refuses work on every node
    double total_wall_s = 0;
    double waited_s = 0;  ///< simulated: drivers, beats
    int commands = 0;     ///< update_nodes
    int calls = 0;        ///< of the engine
  };

  Figures fail_all() {
    engine_.told.clear();
    engine_.applied = 0;
    const Instant begin = scheduler_.now();
    const double cpu = cpu_s();
    const double wall = wall_s();
    for (auto& [name, node] : world_.nodes) {
      if (!node.gpus.empty()) world_.fail_gpu(node, 0, 79, false);
    }
    Figures out;
    // All in one instant: as in tundishd, what arrives while it decides waits for the next turn.
    for (auto& [name, node] : world_.nodes) {
      scheduler_.at(begin, [this, &node = node] { report(node); });
    }
    const double intake = cpu_s();
    wait("every report is taken", [this] {
      return ledger_.view().all<Incident>().size() >= static_cast<std::size_t>(nodes_);
    });
    out.intake_cpu_s = cpu_s() - intake;
    wait("every node is drained", [this] {
      int drained = 0;
      for (const auto& [cluster, engine] : world_.engines) {
        for (const auto& [name, node] : engine.nodes) drained += node.drained ? 1 : 0;
      }
      return drained >= nodes_;
    });
    out.total_cpu_s = cpu_s() - cpu;
    out.total_wall_s = wall_s() - wall;
    out.waited_s = static_cast<double>((scheduler_.now() - begin).us) / 1e6;
    out.calls = engine_.applied;
    for (const auto& command : engine_.told) {
      out.commands += command.verb == EngineVerb::update_nodes ? 1 : 0;
    }
    return out;
  }

  void write_commands(const std::string& file) const {
    std::ofstream out(file);
    for (const auto& command : engine_.told) {
      if (command.verb != EngineVerb::update_nodes) continue;
      out << "update nodename=" << join(command.nodes, ",") << " state=" << command.state;
      if (!command.reason.empty()) out << " reason=\"" << command.reason << "\"";
      out << "\n";
    }
  }

 private:
  void perform(const OperationPtr& operation) {
    const auto done = ledger_.perform(*operation, "user:bench", "bench");
    if (!done) std::fprintf(stderr, "burst_bench: %s\n", done.error().message().c_str());
    check(done.has_value(), "an operation of the bench must succeed");
  }

  void admit(const std::string& name, NodeRole role, int gpus, int number) {
    NodeSpec spec;
    spec.role = role;
    spec.site = "site";
    spec.rack = spec.leaf_group = "r" + std::to_string(number / 30);
    spec.sku = gpus > 0 ? "gpu" : "plain";
    spec.bmc_mac =
        "02:00:00:00:" + std::to_string(10 + number / 90) + ":" + std::to_string(10 + number % 90);
    spec.bmc_address = name;
    const std::string port = name + "/0";
    spec.ports.push_back({"eth0", PortRole::access, "", "leaf1", port, -1});
    world_.ports[port] = "";
    perform(admit_node(name, spec));
    sim::SimNode& node = world_.add_node(name, gpus);
    const NodeId id = ledger_.view().find_named<Node>(name)->id;
    node.id = id.str();
    perform(mark_enrolled(id));
    perform(record_hardware(id, {}));
  }

  static constexpr int most_of_cluster = 200;
  int clusters() const { return (nodes_ + most_of_cluster - 1) / most_of_cluster; }

  /// The `number`th cluster, with its share of the nodes.
  void order(int number) {
    ClusterOrder order;
    order.tenant = ledger_.view().find_named<Tenant>("acme")->id;
    order.name = "big" + std::to_string(number);
    order.spec.sku = "gpu";
    order.spec.headroom = 0;
    const int first = (number - 1) * most_of_cluster + 1;
    for (int i = first; i <= std::min(nodes_, first + most_of_cluster - 1); ++i) {
      order.members.push_back(ledger_.view().find_named<Node>(node_name(i))->id);
    }
    order.spec.nodes = static_cast<int>(order.members.size());
    order.controller = ledger_.view().find_named<Node>("svc0" + std::to_string(number))->id;
    const std::string name = order.name;
    perform(create_cluster(std::move(order)));
    join_all(name);
  }

  /// Joining them one by one is another story (and takes minutes): they have joined.
  void join_all(const std::string& cluster) {
    const Allocation held = *ledger_.view().find_named<Allocation>(cluster);
    const std::string hash = control::setup_hash(
        control::desired_engine(manager_->view(), *ledger_.view().find(held.cluster)));
    for (const auto& member : held.status.nodes) {
      if (member.role != MemberRole::member) continue;
      sim::SimNode& node = *world_.find_id(member.node.str());
      world_.attach(node.name + "/0", held.status.segment);
      node.cluster = node.residue = cluster;
      perform(mark_attached(held.id, member.node, true));
      perform(mark_joined(held.id, member.node, true, hash));
    }
  }

  void heartbeat() {
    scheduler_.at(scheduler_.now() + seconds(5), [this] { heartbeat(); });
    for (auto& [name, node] : world_.nodes) {
      if (node.reachable()) manager_->heard(NodeId(node.id), node.boot_id(), false);
    }
    if (ledger_.has_pending()) manager_->pump();
  }

  /// As edge/api/agent_hub.cpp takes one report of an agent.
  void report(sim::SimNode& node) {
    if (node.spool.empty()) return;
    const std::vector<Witness> told(node.spool.begin(), node.spool.end());
    perform(record_witnesses(NodeId(node.id), told, xids_));
    node.spool.clear();
    manager_->pump_soon();
  }

  void wait(const char* what, const std::function<bool()>& done) {
    const Instant limit = scheduler_.now() + minutes(30);
    const double stop = cpu_s() + 60;
    int steps = 0;
    do {
      if (cpu_s() > stop || !scheduler_.step(limit)) {
        std::fprintf(stderr, "burst_bench: not reached: %s\n", what);
        std::exit(1);
      }
    } while (++steps % 8 != 0 || !done());
  }

  sim::SimRandom random_;
  sim::SimScheduler scheduler_;
  sim::World world_;
  sim::Checker checker_;
  sim::Trouble trouble_ = {0, 0, 0, milliseconds(90)};  // a scontrol call: 70-90 ms
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
  control::Ledger ledger_;
  sim::FakeAgents agents_;
  sim::FakeBmc bmc_;
  sim::FakeSwitch switches_;
  sim::NoFabrics fabrics_;
  sim::FakeEngine fake_engine_;
  RecordingEngine engine_;
  sim::FixedSecrets secrets_;
  const XidCatalogue& xids_;
  int nodes_;
  std::unique_ptr<control::Manager> manager_;
};

void print(const std::string& prefix, const Burst::Figures& figures) {
  print_figure((prefix + "_intake_cpu_s").c_str(), figures.intake_cpu_s);
  print_figure((prefix + "_cpu_s").c_str(), figures.total_cpu_s);
  print_figure((prefix + "_wall_s").c_str(), figures.total_wall_s);
  print_figure((prefix + "_waited_s").c_str(), figures.waited_s);
  print_figure((prefix + "_update_nodes").c_str(), figures.commands);
  print_figure((prefix + "_engine_calls").c_str(), figures.calls);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return 2;
  set_log_sink(quiet);
  const std::string folder = arguments[2];
  const int nodes = count > 3 ? std::atoi(arguments[3]) : 750;
  const auto xids = sim::load_xids(arguments[1]);
  const auto policy = sim::load_policy(arguments[1]);
  check(xids.has_value() && policy.has_value(), "the catalogue of the bench must load");
  {
    sim::MemoryStore memory;
    Burst burst(memory, *xids, *policy, nodes);
    const double begin = cpu_s();
    burst.prepare();
    print_figure("burst_prepare_cpu_s", cpu_s() - begin);
    print("burst_memory", burst.fail_all());
    burst.write_commands(folder + "/burst_commands.txt");
  }
  const std::string file = folder + "/burst-store.sqlite";
  std::filesystem::remove(file);
  {
    auto store = SqliteStore::open(file);
    check(store.has_value(), "the store of the bench must open");
    Burst burst(**store, *xids, *policy, nodes);
    burst.prepare();
    print("burst_sqlite", burst.fail_all());
  }
  for (const char* part : {"", "-wal", "-shm", ".lock"}) std::filesystem::remove(file + part);
  return 0;
}
