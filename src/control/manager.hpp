#pragma once
// The loop: observe, decide, permit, act, observe. Owns what is due, not what is decided.
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "control/cluster/reconcile_cluster.hpp"
#include "control/ledger.hpp"
#include "control/runner/runner.hpp"

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
};

class Manager final : public RunnerListener {
 public:
  explicit Manager(ManagerParts parts);

  /// Looks at everything once; call after Ledger::load().
  void start();
  /// Decides everything that is due, commits, then acts. Runs by itself when something changes;
  /// callers that performed operations call it to have them durable now.
  void pump();
  void touch_all();

  // Observations that come in from outside.
  void heard(const NodeId& node, const std::string& boot_id, bool on_hold);
  void set_hold_file(bool present);

  View view() const;
  const Observations& seen() const { return seen_; }
  const Runner& runner() const { return runner_; }
  const Limits& limits() const { return parts_.limits; }
  const XidCatalogue& catalogue() const { return parts_.catalogue; }
  /// Last reason that a controller gave for waiting; empty: none.
  std::string reason_of(const std::string& object) const;

  void on_ports(const std::vector<PortObserved>& ports) override;
  void on_engine(const ClusterId& cluster, EngineObserved observed) override;
  void on_finished(const Action& action) override;
  void on_hook(const std::string& hook) override;
  void on_permit(const Action& action, const Permit& permit) override;

 private:
  enum class Kind { incident, allocation, cluster, node };  // in order of urgency
  using Key = std::pair<Kind, std::string>;

  void touch(Kind kind, const std::string& id);
  void touch_node(const NodeId& id);
  void touch_change(const Change& change);
  void schedule_pump();
  Outcome reconcile(const Key& key) const;
  void decide(std::vector<Action>& actions);
  void tick();

  ManagerParts parts_;
  Observations seen_;
  Runner runner_;
  std::set<Key> due_;
  std::map<Key, Instant> wakes_;
  std::map<std::string, std::string> reasons_;
  std::set<std::string> changed_incidents_;
  std::map<ClusterId, Instant> engine_looked_;
  std::map<std::string, Instant> switch_read_;
  bool pump_scheduled_ = false;
  bool pumping_ = false;
};

}  // namespace tundish::control
