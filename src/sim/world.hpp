#pragma once
// The outside world of the simulator: nodes with GPUs and agents, BMCs, a leaf, engines with jobs.
// It lives on when tundishd dies.
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/engine.hpp"
#include "model/verbs.hpp"
#include "ports/drivers.hpp"
#include "sim/bug.hpp"
#include "sim/sim_scheduler.hpp"

namespace tundish::sim {

struct SimGpu {
  bool lost = false;
  bool ecc = false;
  bool sticky = false;
};

struct SimNode {
  std::string name;
  std::string id;
  bool powered = true;
  bool agent_up = true;
  bool oob_cut = false;
  int boots = 0;
  std::string boot;  ///< id of the boot that runs
  int power_acts = 0;
  int resets = 0;
  std::vector<SimGpu> gpus;
  std::string cluster;           ///< engine daemon runs for it
  std::string storage_address;   ///< under which it has a session with the storage; empty: none
  std::string residue;           ///< tenant whose data is on the disks; empty: wiped
  std::int64_t fault_lines = 0;  ///< kernel lines that name a fault, whoever wrote them
  bool silent_fault = false;     ///< broken without a line: only a check can know
  std::int64_t seq = 0;
  bool storage_hangs = false;  ///< as its own check sees it
  bool link_down = false;      ///< as its own check sees it
  bool nic_errors = false;     ///< as its own check sees it
  bool imex_down = false;      ///< as its own check sees it
  std::string leak;            ///< DetectorState at its BMC; empty: the BMC has no detector
  bool slow = false;           ///< its GPUs are held at half their clock until a reset
  std::int64_t health_seq = 0;
  std::string active_run;     ///< key of the active checks that it works on; empty: none
  std::weak_ptr<int> run_holder;  ///< the lease of that run; expired: it was taken back or ran out
  bool run_in_cluster = false;    ///< it runs inside the engine of whoever has the node
  std::string health_told;    ///< what was last stored of its checks, with the boot
  std::deque<Witness> spool;  ///< not acknowledged
  std::map<std::string, VerbResult> journal;
  const std::string& boot_id() const { return boot; }
  void begin_boot() { boot = name + "-boot-" + std::to_string(++boots); }
  bool reachable() const { return powered && agent_up && !oob_cut; }
  bool healthy() const;
};

struct SimJob {
  std::string id;
  int nodes_wanted = 0;
  std::string state = "PENDING";
  std::vector<std::string> nodes;
  int restarts = 0;
  Instant started;  ///< of this run
  int hits = 0;  ///< faults that its nodes had while it ran on them: as many restarts are right
  std::int64_t begin_time_s = 0;
};

struct SimEngineNode {
  bool drained = false;
  bool down = false;
  std::string reason;
};

struct SimEngine {
  bool up = false;
  std::map<std::string, SimEngineNode> nodes;
  std::vector<std::string> partition;
  std::vector<SimJob> jobs;
};

/// Clusters of the simulator have names of their own: the engine's number is left out.
std::string plain_cluster(const std::string& engine_cluster);

class World {
 public:
  World(SimScheduler& scheduler, SimRandom& random) : scheduler_(scheduler), random_(random) {}

  SimNode& add_node(const std::string& name, int gpus);
  SimNode* find(const std::string& name);
  SimNode* find_id(const std::string& id);

  /// A GPU fails and the kernel says so.
  void fail_gpu(SimNode& node, int gpu, int xid, bool sticky);
  /// A tray leaks: its BMC shows it, and nothing on it says so.
  void wet(SimNode& node);
  /// A GPU fails and nothing says so.
  void fail_silently(SimNode& node, int gpu);
  /// The line of a lost GPU, written by a program: nothing fails.
  void write_forged_line(SimNode& node, int gpu);
  void write_kernel_line(SimNode& node, const std::string& text, Provenance provenance);
  void power(SimNode& node, PowerVerb verb);
  void attach(const std::string& port, const std::string& segment);
  /// As `storage-export`: a session ends with its grant; an address is let into one export.
  Result<> change_export(const StorageChange& change);
  StorageSeen show_exports() const;
  /// A person at the engine's own tools.
  void drain_by_person(const std::string& cluster, const std::string& node);
  void resume_by_person(const std::string& cluster, const std::string& node);

  VerbResult run_verb(SimNode& node, const VerbCall& call);
  /// Active checks begin; whatever ran before is over. They end when the lease is not extended.
  void begin_run(SimNode& node, const VerbCall& call, std::weak_ptr<int> holder);
  EngineObserved observe_engine(const std::string& cluster);
  Result<> apply_engine(const std::string& cluster, const std::vector<EngineCommand>& commands);
  /// Starts what can start.
  void schedule_jobs(SimEngine& engine);
  SimJob& submit_job(const std::string& cluster, int nodes);
  /// Whoever owns them takes them back.
  void cancel_jobs(const std::string& cluster);

  SimScheduler& scheduler() { return scheduler_; }
  SimRandom& random() { return random_; }

  std::map<std::string, SimNode> nodes;
  std::map<std::string, SimEngine> engines;
  std::map<std::string, std::string> ports;              ///< NODE/INDEX -> segment
  std::map<std::string, std::set<std::string>> exports;  ///< of the storage: addresses let in
  std::vector<std::string> faults;  ///< broken rules that the world itself noticed
  std::set<std::string> resumed_by_person;
  // What changed since the checker looked.
  std::set<std::string> touched_nodes;
  std::set<std::string> touched_ports;
  bool touched_jobs = false;
  bool touched_exports = false;
  Instant outage_until;  ///< of what nodes share: until then no node is broken for it
  Bug bug = Bug::none;
  std::function<void(SimNode&)> on_boot;
  /// A story that is replayed says how acts end; nullopt: the world does.
  std::function<std::optional<Result<VerbResult>>(SimNode&, const VerbCall&)> verb_instead;
  std::function<std::optional<Result<>>(SimNode&)> power_instead;

 private:
  std::vector<Verdict> run_checks(const SimNode& node, const VerbCall& call);
  void watch_lease(const std::string& id, const std::string& key, Duration lease);
  void preempt(SimNode& node);
  void mount_export(SimNode& node, const SetupNode& setup, VerbResult& out);
  void setup_controller(const SetupController& setup);
  VerbResult do_verb(SimNode& node, const VerbCall& call);
  void reset_gpus(SimNode& node, VerbResult& out);
  void hit_jobs(const SimNode& node);
  void write_fault_line(SimNode& node, int gpu, int xid, Provenance provenance);
  void apply_to_job(SimJob& job, const EngineCommand& command);
  void apply_to_nodes(SimEngine& engine, const EngineCommand& command);
  void let_jobs_end(const SimEngine& engine, const std::string& node);
  void end_jobs(const std::string& node);

  SimScheduler& scheduler_;
  SimRandom& random_;
  int jobs_ = 0;
};

}  // namespace tundish::sim
