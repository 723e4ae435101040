#pragma once
// A simulated site: the world, tundishd on it when it is up, and the people who use both.
#include <memory>

#include "sim/checker.hpp"
#include "sim/process.hpp"
#include "sim/simulation.hpp"

namespace tundish::sim {

class Site {
 public:
  explicit Site(const SimOptions& options);

  /// Inventory and tenants, before anything goes wrong.
  void build();
  void run_until(Instant limit);
  /// Crashes from here on.
  void let_crash();
  SimReport finish();
  /// tundishd ends and comes back with so low a limit that the brake is always on.
  void restart_with_brake();

  /// nullptr while tundishd is down.
  const Registry* view() const { return process_ ? &process_->ledger.view() : nullptr; }
  Process* process() { return process_.get(); }
  World& world() { return world_; }
  Checker& checker() { return checker_; }
  MemoryStore& store() { return store_; }
  SimRandom& random() { return random_; }
  const SimOptions& options() const { return options_; }
  Instant now() const { return scheduler_.now(); }

  void after(Duration delay, std::function<void()> task) {
    scheduler_.at(scheduler_.now() + delay, std::move(task));
  }
  /// What a person wants: asked for again, every `pause`, until it is seen done.
  void want(std::function<bool()> done, std::function<void()> ask, Duration pause = seconds(5));
  /// One call of a person; false when tundishd is away or refuses.
  bool perform(const OperationPtr& operation);
  void order(const std::string& tenant, const std::string& name, ClusterSpec spec);
  void remove(const std::string& cluster);
  /// Submits the cluster's job once it is active.
  void start_job(const std::string& cluster, int nodes);
  /// The agent of a node tells what it has.
  void sync(SimNode& node);
  SimNode& node(int index);
  SimNode& random_node();
  /// Told of every history entry once it is durable.
  void on_operation(std::function<void(const HistoryEntry&, const Batch&)> listener) {
    listeners_.push_back(std::move(listener));
  }

 private:
  struct Wish {
    std::function<bool()> done;
    std::function<void()> ask;
    Duration pause;
  };
  void pursue(const std::shared_ptr<Wish>& wish);
  void admit(const std::string& name, NodeRole role, int ports, int gpus, int index);
  void start_process();
  void crash();
  void on_hook(const std::string& hook);
  void on_commit(const Batch& batch);
  void heartbeat();
  void tell_witnesses(SimNode& node);
  void tell_health(SimNode& node);
  void mix(std::string_view text);
  void note(std::vector<std::string> broken);
  void check_fleet();
  std::string describe_end() const;

  const SimOptions& options_;

  RemediationPolicy policy_;  ///< as options_ has it; the fixed story is shorter than a day
  SimRandom random_;
  SimScheduler scheduler_;
  World world_;
  Checker checker_;
  MemoryStore store_;
  std::unique_ptr<Process> process_;
  SimReport report_;
  std::uint64_t digest_ = 14695981039346656037ull;
  std::set<int> crash_hooks_;
  int hooks_passed_ = 0;
  int still_ = 0;  ///< events since time last moved
  Instant last_event_;
  bool may_crash_ = false;
  bool brake_ = false;
  std::vector<std::function<void(const HistoryEntry&, const Batch&)>> listeners_;
};

/// Everything that goes wrong, by the options' stories.
void plan_troubles(Site& site);
/// The fixed story that visits every hook of the controllers.
void plan_script(Site& site);
void plant_bug(Site& site, Bug bug);

}  // namespace tundish::sim
