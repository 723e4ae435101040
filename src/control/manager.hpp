#pragma once
// The loop: observe, decide, permit, act, observe. Owns what is due, not what is decided.
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "control/allocation/fleet_cache.hpp"
#include "control/cluster/reconcile_cluster.hpp"
#include "control/ledger.hpp"
#include "control/network/reconcile_switch.hpp"
#include "control/runner/runner.hpp"
#include "model/check_sample.hpp"

namespace tundish::control {

struct ManagerParts {
  Ledger& ledger;
  Scheduler& scheduler;
  Drivers drivers;
  SecretSource& secrets;
  const XidCatalogue& catalogue;
  RemediationPolicy policy;
  Limits limits;
  /// Called at every point where a crash must be harmless: commit:OPERATION, act:NAME:start|end.
  std::function<void(const std::string&)> hook;
  /// Sees every permit; the simulator's checker lives here.
  std::function<void(const Action&, const Permit&)> on_permit;
  /// Told of incident changes once they are durable (webhook).
  std::function<void(const Incident&)> on_incident;
  /// The checks that judge what a BMC shows; unset: no BMC is read.
  std::function<std::vector<Verdict>(const CheckSample&)> judge_bmc = {};
};

class Manager final : public RunnerListener {
 public:
  explicit Manager(ManagerParts parts);

  /// Looks at everything once; call after Ledger::load().
  void start();
  /// Decides everything that is due, commits, then acts. Runs by itself when something changes;
  /// callers that performed operations call it to have them durable now.
  void pump();
  /// As pump(), once in the next turn of the loop: what came in meanwhile shares one commit.
  void pump_soon() { schedule_pump(); }
  void touch_all();
  /// A proved policy takes the place of the loaded one; open incidents go on under it.
  void set_policy(RemediationPolicy policy);

  /// A person's order, permitted and done now or refused; `done` is called exactly once.
  void order(Action action, std::function<void(const Result<VerbResult>&)> done) {
    runner_.order(std::move(action), view(), std::move(done));
  }

  /// A person, or the other end of a pair, wants an active run no more.
  Result<> end_run(const std::string& key, const std::string& why) {
    return runner_.end_lease(key, why);
  }

  /// A look that changes nothing; `done` is called exactly once.
  void find_paths(const FabricRef& ref, std::vector<FabricPath> asked,
                  FabricManager::PathsDone done) {
    runner_.find_paths(ref, std::move(asked), std::move(done));
  }

  // Observations that come in from outside.
  void heard(const NodeId& node, const std::string& boot_id, bool on_hold);
  void set_hold_file(bool present);

  View view() const;
  const Observations& seen() const { return seen_; }
  const Runner& runner() const { return runner_; }
  const Limits& limits() const { return parts_.limits; }
  const XidCatalogue& catalogue() const { return parts_.catalogue; }
  /// Acts by name: permits that were granted, and driver calls that were made.
  struct ActCount {
    std::int64_t permitted = 0;
    std::int64_t started = 0;
  };
  const std::map<std::string, ActCount>& act_counts() const { return acts_; }
  /// Last reason that a controller gave for waiting; empty: none.
  std::string reason_of(const std::string& object) const;

  void on_switch(const std::string& name, SwitchReading reading, Instant asked) override;
  void on_switch_silent(const std::string& name, const Error& why) override;
  void on_fabric(const std::string& name, FabricReading reading, Instant asked) override;
  void on_fabric_silent(const std::string& name, const Error& why) override;
  void on_storage(const std::string& fabric, Result<StorageSeen> seen, Instant asked) override;
  void on_port_unknown(const PortRef& port) override;
  void on_export_unknown(const std::string& fabric, const StorageChange& change) override;
  void on_bmc(const NodeId& node, const Result<BmcReading>& reading) override;
  void on_load(const NodeId& node, const std::optional<NodeLoad>& load) override;
  void on_engine(const ClusterId& cluster, EngineObserved observed) override;
  void on_finished(const Action& action) override;
  void on_outcome(const Action& action, const std::string& fault) override;
  void on_hook(const std::string& hook) override;
  void on_permit(const Action& action, const Permit& permit) override;

 private:
  /// In order of urgency. There is one of health, for the whole site: it comes after what it reads.
  enum class Kind { incident, allocation, cluster, node, maintenance, report, health, active };
  using Key = std::pair<Kind, std::string>;

  void touch(Kind kind, const std::string& id);
  void touch_node(const NodeId& id);
  void touch_change(const Change& change);
  void touch_windows(const NodeId& node);
  void touch_short_incidents(const Allocation& allocation);
  void touch_maintenance(const std::string& id, const Maintenance* maintenance);
  void touch_allocations();
  void touch_health(const NodeId& node);
  void touch_health();
  void list_unwell();
  void note_jobs(const ClusterId& id, const Cluster& cluster, const EngineObserved& observed);
  void schedule_pump();
  Outcome reconcile(const Key& key) const;
  void decide(std::vector<Action>& actions);
  void note(const Key& key, const Outcome& outcome);
  void note_groups(const Key& key, const std::vector<Action>& actions);
  void close_moot_proposals();
  bool is_wanted(const Proposal& proposal) const;
  bool is_unsettled(const Key& key) const;
  bool is_quiet(const Cluster& cluster) const;

  // The beat: what time alone makes due. It is armed for the earliest such instant, so that a
  // fleet at rest costs nothing.
  void arm();
  Instant next_beat() const;
  void beat();
  void touch_restless();
  void look_at_engines(Instant now);
  void look_anew(const ClusterId& cluster);
  void read_switches(Instant now);
  void read_fabrics(Instant now);
  void read_storage(Instant now);
  void want_bmc(const NodeId& node);
  void list_bmcs();
  void read_bmcs(Instant now);
  void look_at_network(const std::string& fabric);
  void note_foreign(const std::string& fabric);
  void learn_storage_keys(const std::string& fabric);
  void restore_switch(const network::Restore& restore);
  void restore_fabric(const network::FabricRestore& restore);
  void free_tombstones();
  void look_when_stale(const std::string& name, Instant at);
  Instant next_look(const ClusterId& id, const Cluster& cluster) const;

  ManagerParts parts_;
  Observations seen_;
  mutable FleetCache fleet_;  ///< a memo: asking brings it up to date
  Runner runner_;
  std::set<Key> due_;
  std::map<Key, Instant> wakes_;
  std::set<std::pair<Instant, Key>> wake_order_;  ///< wakes_ by time
  std::set<Key> restless_;                        ///< wants an act: looked at again every busy beat
  std::set<Key> moving_;  ///< under way: its engine is looked at at the busy interval
  Instant busy_at_;       ///< last busy beat
  Instant beat_at_;       ///< beat that is armed; unset: none
  std::set<NodeId> unwell_;  ///< a memo: nodes for which health::is_unwell() holds
  std::map<std::string, std::string> reasons_;
  std::map<Key, std::set<std::string>> wanted_groups_;  ///< of the acts that it wants
  std::map<std::string, std::set<std::string>> wanted_restores_;  ///< by EVPN fabric: their keys
  std::set<std::string> changed_incidents_;
  std::map<std::string, ActCount> acts_;
  std::map<ClusterId, Instant> engine_looked_;
  std::map<std::string, Instant> switch_read_;
  std::map<std::string, Instant> fabric_read_;
  std::map<std::string, Instant> storage_read_;
  std::set<std::pair<Instant, NodeId>> bmc_due_;
  std::map<NodeId, int> bmc_failures_;  ///< looks in a row that failed; of nodes that are listed
  Instant refused_at_;  ///< the last commit; unset: it was taken
  bool pump_scheduled_ = false;
  bool pumping_ = false;
};

}  // namespace tundish::control
