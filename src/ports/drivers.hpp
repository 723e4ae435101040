#pragma once
// Drivers of the outside world. Only the runner calls them, with a permit (tests/tidy sees to it).
// Every call is idempotent under its key and ends with exactly one `done` on the loop thread.
#include <functional>
#include <string>
#include <vector>

#include "model/engine.hpp"
#include "model/fabric_state.hpp"
#include "model/node_readings.hpp"
#include "model/notice.hpp"
#include "model/storage_state.hpp"
#include "model/switch_state.hpp"
#include "model/verbs.hpp"

namespace tundish {

/// Verbs on agents, pulled by them over their outbound stream.
class Agents {
 public:
  virtual ~Agents() = default;
  using Done = std::function<void(Result<VerbResult>)>;
  virtual void start(const NodeId& node, VerbCall call, Duration limit, Done done) = 0;
  /// The call is wanted no more: its lease is given up, and its `done` told `unavailable` at once.
  virtual void stop(const NodeId& node, const std::string& key) = 0;
};

enum class PowerVerb { on, off, cycle, restart };

/// One look at what a BMC watches.
struct BmcReading {
  std::vector<LeakDetector> leaks;  ///< empty: it has none
};

class Bmc {
 public:
  virtual ~Bmc() = default;
  using Done = std::function<void(Result<>)>;
  using ReadDone = std::function<void(Result<BmcReading>)>;
  virtual void start(const std::string& bmc_address, PowerVerb verb, Duration limit, Done done) = 0;
  /// Changes nothing. `limit` is that of each question; a look may need several.
  virtual void read(const std::string& bmc_address, Duration /*limit*/, ReadDone done) {
    done(make_error(Code::unsupported, "the BMC " + bmc_address + " tells of no sensor"));
  }
};

struct PortRef {
  std::string switch_name;
  std::string management_url;
  std::string port;
  std::string driver = "flat";
};

struct PortObserved {
  std::string switch_name;
  std::string port;
  std::string segment;  ///< observed; empty: quarantine
  bool link_up = false;
  Instant at;
};

/// What one order wants of one switch, in one transaction.
struct PortIntent {
  std::string segment;  ///< of the port; empty: quarantine
  SwitchPatch patch;    ///< the port, and everything its network needs on this switch
  std::vector<std::string> keep_vrfs;  ///< stay with what is in them (storage, other networks)
  SwitchOwnership ownership;
};

/// The far end of a cable as LLDP shows it.
struct PortNeighbour {
  std::string port;
  std::string device;
  std::string device_port;
  std::string device_mac;  ///< of that end, where the device says it: aa:bb:cc:dd:ee:ff
};

/// One look at one switch. What is not in it was not seen.
struct SwitchReading {
  SwitchSeen seen;
  std::vector<PortObserved> ports;
  std::vector<PortNeighbour> neighbours;
  bool has_config = false;  ///< `seen` holds the switch's configuration; flat switches have none
};

class SwitchDriver {
 public:
  virtual ~SwitchDriver() = default;
  using Done = std::function<void(Result<>)>;
  using ReadDone = std::function<void(Result<SwitchReading>)>;
  /// Puts the port where the intent says; it leaves every other segment first. Done only when the
  /// switch itself shows it; else what was changed is undone.
  virtual void attach(const PortRef& port, const PortIntent& intent, Duration limit,
                      Done done) = 0;
  virtual void read(const PortRef& any_port_of_switch, const SwitchOwnership& ownership,
                    Duration limit, ReadDone done) = 0;
};

/// Where a fabric's manager is: ssh://user@address of the node that runs opensm, or UFM's base URL.
struct FabricRef {
  std::string name;
  std::string management_url;
  FabricOwnership ownership;
};

struct PkeyObserved {
  int pkey = 0;  ///< low 15 bits
  IbMembership membership = IbMembership::limited;
  bool operator==(const PkeyObserved&) const = default;
};

/// The PKey table that a port itself carries, whatever its manager believes.
struct FabricPort {
  std::string guid;
  bool is_manager = false;  ///< the subnet manager's own port, a full member of the default
  bool has_table = false;   ///< it answered; else its table is unknown
  std::vector<PkeyObserved> pkeys;
};

/// Both ends as "port GUID/port number"; a switch's ports share the switch's GUID.
struct FabricCable {
  std::string a, b;
  bool operator==(const FabricCable&) const = default;
};

/// One look at one fabric. What is not in it was not seen.
struct FabricReading {
  FabricSeen seen;                 ///< what the manager's file or API says
  bool has_tables = false;         ///< `ports` was read; UFM shows no tables
  std::vector<FabricPort> ports;   ///< sorted by GUID
  std::vector<FabricCable> cables;
  Instant at;
};

/// What the subnet manager answers to who asks for a path between two ports.
struct FabricPath {
  std::string from, to;    ///< port GUIDs
  bool answered = false;   ///< else nothing is known of it
  std::vector<int> pkeys;  ///< of the records, low 15 bits; none: there is no path
};

class FabricManager {
 public:
  virtual ~FabricManager() = default;
  using Done = std::function<void(Result<>)>;
  using ReadDone = std::function<void(Result<FabricReading>)>;
  using PathsDone = std::function<void(Result<std::vector<FabricPath>>)>;
  /// Makes the fabric's own partitions what `desired` says, who leaves first. Done when the
  /// manager has it and no port that answers contradicts it; ports that are down are not waited
  /// for: read() tells what each one carries.
  virtual void apply(const FabricRef& ref, const FabricState& desired, Duration limit,
                     Done done) = 0;
  virtual void read(const FabricRef& ref, Duration limit, ReadDone done) = 0;
  /// Asks the subnet manager for each path of `asked`; changes nothing.
  virtual void find_paths(const FabricRef& ref, std::vector<FabricPath> /*asked*/,
                          Duration /*limit*/, PathsDone done) {
    done(make_error(Code::unsupported, "the manager of fabric " + ref.name + " tells no paths"));
  }
};

/// Where a fabric's storage makes its exports.
struct StorageRef {
  std::string fabric;
  std::string management_url;
};

/// What one order wants of one export.
struct StorageChange {
  std::string export_name;
  std::string public_key;           ///< makes the export when it is not there; empty: it must be
  std::vector<std::string> revoke;  ///< addresses, first; done only when no session is left
  std::vector<std::string> grant;   ///< addresses
};

class StorageDriver {
 public:
  virtual ~StorageDriver() = default;
  using Done = std::function<void(Result<>)>;
  using ReadDone = std::function<void(Result<StorageSeen>)>;
  /// Done when the storage itself shows it.
  virtual void apply(const StorageRef& ref, const StorageChange& change, Duration limit,
                     Done done) = 0;
  virtual void read(const StorageRef& ref, Duration limit, ReadDone done) = 0;
};

/// An engine through its driver; `plan` is pure.
class Engine {
 public:
  virtual ~Engine() = default;
  using Done = std::function<void(Result<>)>;
  using ObserveDone = std::function<void(Result<EngineObserved>)>;
  /// Commands that bring observed to desired, in the order to run them; empty: in step.
  virtual std::vector<EngineCommand> plan(const DesiredEngine& desired,
                                          const EngineObserved& observed) const = 0;
  /// Files of the whole configuration, for a controller, and for a node.
  virtual std::vector<EngineFile> render(const DesiredEngine& desired) const = 0;
  virtual void apply(const std::string& key, const NodeId& controller, const std::string& cluster,
                     std::vector<EngineCommand> commands, Duration limit, Done done) = 0;
  virtual void observe(const NodeId& controller, const std::string& cluster, Duration limit,
                       ObserveDone done) = 0;
};

/// Injects a fault for a drill: in the lab the hardware really fails.
struct Injection {
  std::string node_name;
  int gpu = 0;
  std::string effect;  ///< lost, ecc_uncorrected, gsp, row_remap_failure or none
  bool sticky = false;
  std::string line;    ///< kernel text
  bool userspace = false;  ///< written by a user's process, as raters do; no hardware fails
  int copies = 1;          ///< of the line: a storm
  std::string part = {};   ///< HCA or storage server that the effect is about; empty: none
  int for_s = 0;           ///< how long it lasts; 0: until it is mended
};

class FaultInjector {
 public:
  virtual ~FaultInjector() = default;
  using Done = std::function<void(Result<>)>;
  virtual void start(const Injection& injection, Done done) = 0;
};

/// Tells people: webhook. The same key is the same message.
class Notifier {
 public:
  virtual ~Notifier() = default;
  using Done = std::function<void(Result<>)>;
  virtual void start(const NoticeMessage& message, Done done) = 0;
};

}  // namespace tundish
