#pragma once
// The closed list of what an agent does. No command text crosses the wire: a verb names compiled-in
// behaviour, its arguments are data.
#include <optional>
#include <string>
#include <vector>

#include "model/engine.hpp"
#include "model/expectation.hpp"
#include "model/gpu_snapshot.hpp"
#include "model/net_probe.hpp"
#include "model/node.hpp"
#include "model/pressure.hpp"
#include "model/run_checks.hpp"
#include "model/storage_state.hpp"
#include "model/verdict.hpp"
#include "model/witness.hpp"

namespace tundish {

enum class Verb {
  setup_node,        ///< join a cluster: network, users, storage, engine daemons
  leave_cluster,     ///< stop and remove all of that
  setup_controller,  ///< engine controller daemons of one cluster on a service node
  stop_controller,
  engine_commands,
  engine_observe,
  run_checks,
  reset_gpus,
  wipe,           ///< nothing of a tenant is left: processes, users, keys, files, mounts
  inject,         ///< a drill: write a line into the kernel log
  probe_network,  ///< send and see marked frames in the tenant's network
  read_load       ///< clocks, power and NIC counters as they are now
};
inline std::span<const std::string_view> enum_names(Verb) {
  static constexpr std::string_view names[] = {
      "setup_node",      "leave_cluster",   "setup_controller",
      "stop_controller", "engine_commands", "engine_observe",
      "run_checks",      "reset_gpus",      "wipe",
      "inject",          "probe_network",   "read_load"};
  return names;
}

struct HostEntry {
  std::string name;
  std::string address;
  void fields(Fields& f) {
    f(1, "name", name, "host name");
    f(2, "address", address, "IPv4 address");
  }
};

struct SetupNode {
  std::string cluster;
  std::string node_name;
  std::string interface;
  std::string address;
  int prefix_length = 24;
  std::vector<HostEntry> hosts;
  std::vector<AccountUser> users;
  std::vector<ExportMount> exports;
  std::string munge_key;
  std::vector<EngineFile> files;
  std::vector<std::string> services;
  std::optional<StorageAccess> storage;
  void fields(Fields& f) {
    f(1, "cluster", cluster, "cluster name");
    f(2, "node_name", node_name, "name of this node in the engine");
    f(3, "interface", interface, "port that carries the tenant's network");
    f(4, "address", address, "IPv4 address on it");
    f(5, "prefix_length", prefix_length, "of the segment");
    f(6, "hosts", hosts, "names of the cluster");
    f(7, "users", users, "accounts to create");
    f(8, "exports", exports, "storage to mount");
    f(9, "munge_key", munge_key, "secret, hexadecimal; never logged");
    f(10, "files", files, "engine configuration for /etc/slurm");
    f(11, "services", services, "of slurmd, sshd");
    f(12, "storage", storage, "the way to exports of type sshfs; absent: none");
  }
};

/// Who may come in by a gateway.
struct GatewayRule {
  std::string protocol = "tcp";
  std::string source;
  int port_from = 0, port_to = 0;
  void fields(Fields& f) {
    f(1, "protocol", protocol, "tcp or udp");
    f(2, "source", source, "IPv4 prefix; empty: anybody");
    f(3, "port_from", port_from, "first port");
    f(4, "port_to", port_to, "last port; 0: as port_from");
  }
};

/// A cluster's door to the people: what is allowed goes to one node of it, all else is dropped.
struct AccessGateway {
  std::string address;
  int prefix_length = 24;
  std::string router;
  std::string target;
  std::vector<GatewayRule> rules;
  void fields(Fields& f) {
    f(1, "address", address, "IPv4 in the access network");
    f(2, "prefix_length", prefix_length, "of the access network");
    f(3, "router", router, "IPv4 that answers go to; empty: callers are in the network themselves");
    f(4, "target", target, "IPv4 of the login node");
    f(5, "rules", rules, "what comes in");
  }
};

struct SetupController {
  std::string cluster;
  std::string tenant;
  std::string interface;
  std::string address;
  int prefix_length = 24;
  int index = 0;
  std::vector<HostEntry> hosts;
  std::vector<AccountUser> users;
  std::string munge_key;
  std::string dbd_password;
  std::vector<EngineFile> files;
  std::optional<AccessGateway> gateway;
  void fields(Fields& f) {
    f(1, "cluster", cluster, "cluster name");
    f(2, "tenant", tenant, "account that the users belong to");
    f(3, "interface", interface, "port that carries the tenant's network");
    f(4, "address", address, "IPv4 address on it");
    f(5, "prefix_length", prefix_length, "of the segment");
    f(6, "index", index, "from which the ports of the daemons follow");
    f(7, "hosts", hosts, "names of the cluster");
    f(8, "users", users, "accounts in the engine");
    f(9, "munge_key", munge_key, "secret, hexadecimal; never logged");
    f(10, "dbd_password", dbd_password, "secret; never logged");
    f(11, "files", files, "slurm.conf, slurmdbd.conf, topology.conf, cgroup.conf ...");
    f(12, "gateway", gateway, "door to the people; absent: none");
  }
};

struct VerbCall {
  std::string key;
  Verb verb = Verb::run_checks;
  std::string cluster;
  std::int64_t limit_ms = 60000;
  std::optional<SetupNode> setup_node;
  std::optional<SetupController> setup_controller;
  std::vector<EngineCommand> commands;
  std::optional<RunChecks> run_checks;
  std::vector<std::string> devices;
  std::string line;
  std::optional<NetProbe> net_probe;
  void fields(Fields& f) {
    f(1, "key", key, "identity of the act; a repeat returns the journalled result");
    f(2, "verb", verb, "what to do");
    f(3, "cluster", cluster, "for verbs about a cluster");
    f(4, "limit_ms", limit_ms, "deadline in milliseconds");
    f(5, "setup_node", setup_node, "arguments of setup_node");
    f(6, "setup_controller", setup_controller, "arguments of setup_controller");
    f(7, "commands", commands, "arguments of engine_commands");
    f(8, "run_checks", run_checks, "arguments of run_checks");
    f(9, "devices", devices, "PCI addresses for reset_gpus");
    f(10, "line", line, "kernel line for inject");
    f(11, "net_probe", net_probe, "arguments of probe_network");
  }
};

/// What a node does at one moment, for a comparison with its peers. -1: it did not say.
struct NodeLoad {
  std::int64_t clock_mhz = -1;
  std::int64_t power_w = -1;
  std::int64_t utilization_percent = -1;
  std::int64_t throttled_gpus = -1;
  std::int64_t nic_bytes_per_s = -1;
  std::int64_t nic_rate_gbps = -1;
  void fields(Fields& f) {
    f(1, "clock_mhz", clock_mhz, "SM clock of its slowest GPU");
    f(2, "power_w", power_w, "watts of all its GPUs");
    f(3, "utilization_percent", utilization_percent, "of its least busy GPU");
    f(4, "throttled_gpus", throttled_gpus, "GPUs that the driver slows down for heat or power");
    f(5, "nic_bytes_per_s", nic_bytes_per_s, "sent by all its HCA ports, measured over a moment");
    f(6, "nic_rate_gbps", nic_rate_gbps, "of its slowest active HCA port");
  }
};

struct VerbResult {
  std::string key;
  bool ok = false;
  std::string code;
  std::string what;
  std::string text;
  std::vector<Verdict> verdicts;
  Duration took;
  std::optional<NodeLoad> load;
  void fields(Fields& f) {
    f(1, "key", key, "as in the call");
    f(2, "ok", ok, "done as asked");
    f(3, "code", code, "error code when not ok");
    f(4, "what", what, "what went wrong, or a short note");
    f(5, "text", text, "raw text of engine_observe, JSON of probe_network");
    f(6, "verdicts", verdicts, "of run_checks");
    f(7, "took", took, "microseconds on the node");
    f(8, "load", load, "of read_load");
  }
};

/// Agent -> tundishd, at once for witnesses and results, else every few seconds.
struct AgentSync {
  std::string boot_id;
  std::string version;
  std::vector<Witness> witnesses;
  std::vector<VerbResult> results;
  std::optional<ObservedHardware> hardware;
  std::optional<GpuSnapshot> gpus;
  std::vector<std::string> running_keys;
  bool on_hold = false;
  std::vector<Verdict> verdicts = {};
  std::int64_t verdicts_seq = 0;
  bool verdicts_complete = false;
  std::optional<Pressure> pressure = {};
  std::string expectation_mark = {};
  void fields(Fields& f) {
    f(1, "boot_id", boot_id, "of the running kernel");
    f(2, "version", version, "of the agent");
    f(3, "witnesses", witnesses, "not yet acknowledged, oldest first");
    f(4, "results", results, "not yet acknowledged");
    f(5, "hardware", hardware, "sent at start and when it changed");
    f(6, "gpus", gpus, "snapshot, when it changed in more than numbers");
    f(7, "running_keys", running_keys, "verbs in progress");
    f(8, "on_hold", on_hold, "a hold file on the node is in force");
    f(9, "verdicts", verdicts, "of the passive checks: those that changed");
    f(10, "verdicts_seq", verdicts_seq, "grows within a boot; older ones than stored are dropped");
    f(11, "verdicts_complete", verdicts_complete, "all that are not ok: what is not told is ok");
    f(12, "pressure", pressure, "when a share crossed 20 percent");
    f(13, "expectation_mark", expectation_mark, "of the expectation that the agent judges by");
  }
};

struct AgentSyncReply {
  std::vector<std::string> stored_witnesses;
  std::vector<std::string> stored_results;
  std::vector<std::string> refused_results;
  std::optional<Expectation> expectation = {};
  std::string expectation_mark = {};
  bool want_verdicts = false;
  void fields(Fields& f) {
    f(1, "stored_witnesses", stored_witnesses, "ids that are durable and need not be sent again");
    f(2, "stored_results", stored_results, "keys that are durable");
    f(3, "refused_results", refused_results, "keys that nobody asked for; need not be sent again");
    f(4, "expectation", expectation, "what the inventory says, when the agent's mark is another");
    f(5, "expectation_mark", expectation_mark, "of that expectation");
    f(6, "want_verdicts", want_verdicts, "tell all verdicts: ours are of another boot, or none");
  }
};

struct AgentVerbs {
  std::vector<VerbCall> verbs;
  std::vector<std::string> leases = {};
  void fields(Fields& f) {
    f(1, "verbs", verbs, "calls to make; repeated until a result is stored");
    f(2, "leases", leases, "keys of leased calls that may go on; the others end");
  }
};

struct EnrolRequest {
  std::string token;
  std::string boot_id;
  std::string serial;
  void fields(Fields& f) {
    f(1, "token", token, "one-time enrolment token");
    f(2, "boot_id", boot_id, "of the running kernel");
    f(3, "serial", serial, "chassis serial from DMI");
  }
};

struct EnrolReply {
  bool admitted = false;
  std::string node;
  std::string secret;
  std::int64_t retry_after_ms = 2000;
  void fields(Fields& f) {
    f(1, "admitted", admitted, "false: not in the inventory yet, ask again");
    f(2, "node", node, "node id");
    f(3, "secret", secret, "bearer token of the agent's own identity, shown once");
    f(4, "retry_after_ms", retry_after_ms, "when to ask again");
  }
};

}  // namespace tundish
