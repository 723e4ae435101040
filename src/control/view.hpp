#pragma once
// What controllers decide on: the registry, what was last observed, and now.
#include <map>
#include <optional>
#include <set>
#include <string>

#include "model/engine.hpp"
#include "model/policy.hpp"
#include "model/registry.hpp"
#include "model/xid_catalogue.hpp"
#include "ports/drivers.hpp"

namespace tundish::control {

/// When an agent was last heard, in memory only: heartbeats are not written.
struct Presence {
  Instant last_heard;
  std::string boot_id;
  bool on_hold = false;  ///< a hold file on the node is in force
  Instant heard_since = {};  ///< without a silence in between; unset: for ever
};

/// One switch as it was last read.
struct SwitchObserved {
  SwitchReading reading;
  Instant at;         ///< when the look began; unset: never read
  std::string fault;  ///< why the last look failed; empty: it did not
  Instant fault_since;
};

/// One InfiniBand or NVLink fabric as its manager last showed it.
struct FabricObserved {
  FabricSeen seen;
  bool has_tables = false;        ///< `ports` was read; else there is only the manager's word
  std::vector<FabricPort> ports;  ///< their own tables
  Instant at;
  std::string fault;
  Instant fault_since;
};

/// What a node did when it was last asked.
struct LoadSeen {
  std::optional<NodeLoad> load;  ///< nullopt: it gave no answer
  Instant at;
};

/// A job as it was last seen to run. Kept for a while after it ended: storms are judged by it.
struct JobSeen {
  std::vector<NodeId> nodes;
  Instant last;
};

/// The storage of one fabric as its server last showed it.
struct StorageObserved {
  StorageSeen seen;
  Instant at;  ///< when the look began; unset: never read
  std::string fault;
  Instant fault_since;
  std::set<std::string> written = {};  ///< exports that a change of ours is on its way to, since
};

/// An act that a driver refused or that failed, as long as it is tried again.
struct ActFault {
  std::string what;  ///< "attach_port failed: ...": one short line
  NodeId node;
  AllocationId allocation;
  Instant at;
};
/// Nobody tries it any more: the longest pause between two tries is much shorter.
constexpr Duration act_fault_life = minutes(5);

/// Not durable: rebuilt by looking again.
struct Observations {
  std::map<NodeId, Presence> presence;
  std::map<ClusterId, EngineObserved> engines;
  std::map<ClusterId, Instant> engine_answered;  ///< of its last look that showed something
  std::map<std::pair<std::string, std::string>, PortObserved> ports;  ///< (switch, port)
  /// When last seen in another segment, or an act of ours began; by network id: drifted there.
  std::map<std::pair<std::string, std::string>, Instant> port_changed;
  std::map<std::string, SwitchObserved> switches;                     ///< by name
  std::map<std::string, FabricObserved> fabrics;                      ///< by name
  std::map<NodeId, LoadSeen> loads;
  std::map<ClusterId, std::map<std::string, JobSeen>> jobs;
  std::map<std::string, StorageObserved> storage;                     ///< by name of the fabric
  std::map<TenantId, std::string> storage_keys;  ///< public keys that open the tenants' exports
  std::map<std::string, ActFault> faults;        ///< by key of the act
  bool hold_file = false;                                             ///< the file beside tundishd
  Instant started_at;  ///< of this process: who was not heard since may still be there
};

struct Limits {
  Duration silent_after = seconds(15);    ///< then presence is unknown, which is no fault
  Duration engine_interval = seconds(2);  ///< between looks at an engine
  Duration engine_stale = seconds(15);    ///< older observations are unknown
  Duration port_interval = seconds(10);
  Duration bmc_interval = seconds(30);  ///< between looks at a BMC that watches something
  Duration bmc_idle_interval = hours(24);  ///< and at one that watches nothing
  Duration proposal_life = hours(24);
  Duration retry_pause = seconds(2);                  ///< after a failed act of set-up
  Duration engine_interval_busy = milliseconds(700);  ///< while an incident moves
  std::string export_type = "bind";  ///< how shared storage is mounted: bind or nfs
  std::string export_source = "/run/tundish-hw/storage/";  ///< the tenant's name is appended
  Duration maintenance_lead = hours(24);  ///< before a window its nodes are handed out no more
  int disruptive_floor = 2;    ///< resets and power acts in flight, at least
  int disruptive_percent = 2;  ///< of the site, at most
};

class FleetCache;

struct View {
  const Registry& reg;
  const Observations& seen;
  const RemediationPolicy& policy;
  const Limits& limits;
  Instant now;
  FleetCache* fleet = nullptr;  ///< placement's index of this very view; nullptr: made when needed
};

/// Heard within `silent_after`. False means unknown, never broken.
bool is_present(const View& view, const NodeId& node);
/// The engine's last answer when it is fresh and the controller answered; else nullptr.
const EngineObserved* fresh_engine(const View& view, const ClusterId& cluster);
/// An engine that was set up and does not answer: unknown, which is no fault of any node.
struct EngineSilence {
  Instant since;      ///< its last answer, or the start of this process
  std::string fault;  ///< of the last look; empty: none is known
};
/// nullopt: it answers, is not set up yet, or had no time to answer since the process began.
std::optional<EngineSilence> engine_silence(const View& view, const Cluster& cluster);
/// The port of a node that carries a tenant's network, with its switch; switch_name empty: none.
PortRef port_of(const View& view, const Node& node, const std::string& interface);
/// Ranges that Tundish owns on the switch, and the ports: those that nodes are cabled to.
SwitchOwnership ownership_of(const View& view, const Switch& device);
/// Segment the port was last seen in; nullopt when unknown.
std::optional<std::string> seen_segment(const View& view, const PortRef& port);

/// Whether placement may hand the node out, and why not.
struct Placeable {
  bool yes = false;
  std::string reason;
};
Placeable placeable(const View& view, const Node& node);

}  // namespace tundish::control
