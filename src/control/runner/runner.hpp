#pragma once
// The only caller of drivers. Every act passes permit(); what is in flight is not started twice.
#include <functional>
#include <map>
#include <set>
#include <string>

#include "control/ledger.hpp"
#include "control/node/active.hpp"
#include "control/permit/permit.hpp"

namespace tundish::control {

struct Drivers {
  Agents& agents;
  Bmc& bmc;
  SwitchDriver& switches;
  FabricManager& fabrics;
  Engine& engine;
  FaultInjector* injector = nullptr;  ///< nullptr: no drills here
  StorageDriver* storage = nullptr;   ///< nullptr: nobody drives a storage here
};

/// What the runner tells its owner.
class RunnerListener {
 public:
  virtual ~RunnerListener() = default;
  /// `asked`: when the look began. Ports written meanwhile are left out of `reading.ports`.
  virtual void on_switch(const std::string& name, SwitchReading reading, Instant asked) = 0;
  virtual void on_switch_silent(const std::string& name, const Error& why) = 0;
  virtual void on_fabric(const std::string& name, FabricReading reading, Instant asked) = 0;
  virtual void on_fabric_silent(const std::string& name, const Error& why) = 0;
  virtual void on_storage(const std::string& fabric, Result<StorageSeen> seen, Instant asked) = 0;
  virtual void on_engine(const ClusterId& cluster, EngineObserved observed) = 0;
  /// A write to the port is on its way: what was seen of it no longer counts.
  virtual void on_port_unknown(const PortRef& port) = 0;
  /// A change of the export is on its way: who is not in it may be in a moment.
  virtual void on_export_unknown(const std::string&, const StorageChange&) {}
  /// Something may have changed for the object of the action.
  virtual void on_finished(const Action& action) = 0;
  /// An act ended; `fault`: why it was not done, empty: it was.
  virtual void on_outcome(const Action&, const std::string& /*fault*/) {}
  /// A named point at which a crash must be harmless: act:NAME:start, act:NAME:end.
  virtual void on_hook(const std::string& hook) = 0;
  /// What a node answered to read_load; nullopt: nothing.
  virtual void on_load(const NodeId&, const std::optional<NodeLoad>&) {}
  /// What a node's BMC shows, or why it shows nothing.
  virtual void on_bmc(const NodeId&, const Result<BmcReading>&) {}
  /// Every permit that was granted or refused, for checkers and for `explain`.
  virtual void on_permit(const Action& action, const Permit& permit) = 0;
};

class Runner {
 public:
  Runner(Ledger& ledger, Scheduler& scheduler, Drivers drivers, RunnerListener& listener)
      : ledger_(ledger), scheduler_(scheduler), drivers_(drivers), listener_(listener) {}

  bool is_running(const std::string& key) const { return running_.contains(key); }
  /// Starts the act, or proposes it, or leaves it. Call it again while the act is wanted.
  void submit(Action action, const View& view);
  /// A person's order: once, now or not at all. `done` is called exactly once.
  void order(Action action, const View& view, std::function<void(const Result<VerbResult>&)> done);
  /// Takes back the lease of every run that may not go on: whoever wants the node waits for none.
  void end_leases(const View& view);
  /// Ends one run; not_found when none has the key.
  Result<> end_lease(const std::string& key, const std::string& why);
  /// Active checks that run now.
  std::vector<ActiveRun> active_runs() const;
  bool has_injector() const { return drivers_.injector != nullptr; }
  void observe_engine(const ClusterId& cluster, const std::string& name, const NodeId& controller);
  void read_switch(const PortRef& port, const SwitchOwnership& ownership);
  void read_fabric(const FabricRef& ref);
  void read_storage(const StorageRef& ref);
  void read_bmc(const NodeId& node, const std::string& address);
  void find_paths(const FabricRef& ref, std::vector<FabricPath> asked,
                  FabricManager::PathsDone done) {
    drivers_.fabrics.find_paths(ref, std::move(asked), seconds(20), std::move(done));
  }

  /// Why an act of this object waits; empty when none does.
  std::string waiting_reason(const std::string& key) const;
  std::size_t in_flight() const { return running_.size(); }
  /// Drops everything in memory: results that still arrive are ignored.
  void forget();

 private:
  struct Retry {
    int failures = 0;
    Instant not_before;
  };
  /// Last write to a thing outside: looks that began before its end do not count for it.
  struct LastWrite {
    bool in_flight = false;
    Instant ended;
    bool looked = false;  ///< a look that began after its end came back
    bool is_before(Instant look) const { return !in_flight && ended < look; }
  };
  /// What runs, as far as other acts must wait for it.
  struct Running {
    Instant since;
    std::string name;
    NodeId node;
    ClusterId cluster;
  };
  using Finish = std::function<void(Result<VerbResult>)>;
  bool is_outdated(const Action& action) const;
  bool is_overtaking(const Action& action) const;
  void propose(const Action& action, const Permit& permit, const View& view);
  Result<> perform(const Operation& operation, const Action& action, const std::string& reason);
  void refuse(const Action& action, const Permit& permit);
  void execute(Action action);
  void start_verb(const Action& action, VerbCall call);
  void start_engine(const Action& action, const EngineAct& act);
  void start_storage(const Action& action, const StorageAct& act, Finish finish);
  void start_injection(const InjectAct& act, const Finish& finish, const std::string& key);
  void complete_order(const Action& action, const Result<VerbResult>& result);
  void close_approval(const Action& action);
  void complete(const Action& action, const Result<VerbResult>& result);
  void record(const Action& action, const Result<VerbResult>& result, Duration acting);
  void record_answer(const Action& action, const Result<VerbResult>& result);
  InFlight count_disruptive(const View& view, const Action& action) const;
  void complete_leased(const Action& action, Result<VerbResult>& result);
  void record_active(const Action& action, const Result<VerbResult>& result);
  void record_proof(const Action& action, const VerbResult& result);

  Ledger& ledger_;
  Scheduler& scheduler_;
  Drivers drivers_;
  RunnerListener& listener_;
  std::map<std::string, Running> running_;
  std::map<std::string, std::function<void(const Result<VerbResult>&)>> ordered_;
  std::map<std::string, Retry> retries_;
  struct Leased {
    ActiveRun run;
    Action action;
  };
  std::map<std::string, Leased> leased_;
  std::map<std::string, std::string> ended_leases_;  ///< key -> why
  std::map<std::string, std::string> waiting_;
  std::set<ClusterId> looking_;
  std::set<std::string> reading_;
  std::set<std::string> reading_fabrics_;
  std::set<std::string> reading_storage_;
  std::set<NodeId> reading_bmcs_;
  std::map<std::string, LastWrite> fabrics_;
  std::map<std::string, LastWrite> storage_;  ///< by export, of every fabric
  std::map<ClusterId, LastWrite> engines_;
  std::map<std::pair<std::string, std::string>, LastWrite> ports_;  ///< (switch, port)
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
  std::shared_ptr<int> looks_ = std::make_shared<int>(0);  ///< until the runner itself ends
};

}  // namespace tundish::control
