#pragma once
// The rules of facts/cloud.md 2.1 and design 5 that apply here. They judge the registry against the
// simulated world, never against what a controller says of itself.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "control/manager.hpp"
#include "sim/world.hpp"

namespace tundish::sim {

enum class Driver { power, verb, port, engine, storage };

/// One call of a driver that changes something; looking is not one.
struct DriverCall {
  Driver driver = Driver::verb;
  std::string target;  ///< BMC address, node id, port, cluster
  std::string what;    ///< verb, segment, key of the act
  auto operator<=>(const DriverCall&) const = default;
};

std::string power_name(PowerVerb verb);
std::string words_of(const StorageChange& change);

class Checker {
 public:
  explicit Checker(World& world) : world_(world) {}

  /// The process whose registry is judged; nullptr while tundishd is down.
  void attach(const Registry* view) { view_ = view; }

  void on_permit(const control::Action& action, const control::Permit& permit);
  void on_call(const DriverCall& call);
  /// In memory: what the next after_event() looks at.
  void on_change(const Change& change);
  /// Durable: transitions are judged here, since what was only in memory may be lost by a crash.
  void on_commit(const Batch& batch, Instant now);
  /// A permit that only a planted bug believes in.
  void forge_permit(const DriverCall& call) { ++permitted_[call]; }

  /// Rules on the objects touched since the last call; broken ones in words.
  std::vector<std::string> after_event();
  /// Every rule on everything.
  std::vector<std::string> sweep();
  /// After everything settled: nothing open, lost or doubled.
  std::vector<std::string> settled();

  std::int64_t calls() const { return calls_; }

 private:
  void check_ownership(const Allocation& allocation);
  void check_owner(const Node& node);
  void check_port(const std::string& port);
  void check_quota();
  void check_pools();
  void check_exports();
  void check_node(const Node& node);
  bool cause_stands(const Incident& incident) const;
  void check_lease(const NodeId& node);
  void check_witnesses(const NodeId& node);
  void check_jobs();
  void check_repair_call(const DriverCall& call);
  void commit_incident(const std::string& id, const Incident* incident);
  void commit_claim(const Claim& claim, Instant now);
  void commit_pool(const std::string& id, const PoolEntry* entry, Instant now);
  void commit_allocation(const std::string& id, const Allocation* allocation);
  void settled_incidents();
  void settled_clusters();
  void settled_nodes();
  void settled_people();
  std::vector<std::string> take_broken();

  World& world_;
  const Registry* view_ = nullptr;
  std::map<DriverCall, int> permitted_;
  std::int64_t calls_ = 0;
  std::set<NodeId> nodes_;
  std::set<AllocationId> allocations_;
  bool pools_ = false;
  std::map<std::string, IncidentState> incident_states_;  ///< durable
  std::map<std::string, PoolEntry> pool_entries_;         ///< durable
  std::set<std::string> allocations_known_;               ///< durable
  std::set<std::string> claims_known_;                    ///< durable
  std::set<std::string> witnessed_;                       ///< durable: by hardware, at some time
  std::set<NodeId> given_;                                ///< durable: of an allocation
  std::vector<std::string> broken_;
};

}  // namespace tundish::sim
