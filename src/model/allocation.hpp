#pragma once
// Nodes of one tenant and the cluster that an engine makes of them.
#include <string>
#include <vector>

#include "model/node.hpp"
#include "model/tenancy.hpp"

namespace tundish {

struct Cluster;
struct Network;
using ClusterId = Id<Cluster>;
using NetworkId = Id<Network>;

enum class MemberRole { member, spare, leaving, login, controller };
inline std::span<const std::string_view> enum_names(MemberRole) {
  static constexpr std::string_view names[] = {"member", "spare", "leaving", "login", "controller"};
  return names;
}

enum class Consent { automatic, ask, never };
inline std::span<const std::string_view> enum_names(Consent) {
  static constexpr std::string_view names[] = {"auto", "ask", "never"};
  return names;
}

struct AllocationNode {
  NodeId node;
  MemberRole role = MemberRole::member;
  std::string interface;
  std::string address;
  bool attached = false;
  bool joined = false;
  Instant since;
  std::string cause;
  std::string setup_hash;
  int setups = 0;
  bool begun = false;
  void fields(Fields& f) {
    f(1, "node", node, "node id");
    f(2, "role", role, "member, spare, leaving, login or controller");
    f(3, "interface", interface, "port that carries the tenant's network");
    f(4, "address", address, "address in the allocation's segment");
    f(5, "attached", attached, "observed in the segment; a spare stays outside until bound");
    f(6, "joined", joined, "its engine services were set up");
    f(7, "since", since, "when it took this role");
    f(8, "cause", cause, "incident that made it take the role; empty: the order itself");
    f(9, "setup_hash", setup_hash, "accounts and names that it was last set up with");
    f(10, "setups", setups, "times that it was set up: a return to earlier accounts is a new act");
    f(11, "begun", begun, "its set-up was begun, so what it left behind is cleaned up");
  }
};

enum class AllocationPhase {
  requested,
  network_pending,
  provisioning,
  verifying,
  active,
  degraded,
  releasing,
  released,
  failed
};
inline std::span<const std::string_view> enum_names(AllocationPhase) {
  static constexpr std::string_view names[] = {"requested", "network_pending", "provisioning",
                                               "verifying", "active",          "degraded",
                                               "releasing", "released",        "failed"};
  return names;
}

struct AllocationSpec {
  std::string sku;
  int nodes = 0;
  int spares = 0;
  Consent requeue = Consent::automatic;
  Consent replace = Consent::automatic;
  bool local_disks_may_be_lost = true;
  void fields(Fields& f) {
    f(1, "sku", sku, "kind of node");
    f(2, "nodes", nodes, "members wanted");
    f(3, "spares", spares, "hot spares wanted; outside quota and bill");
    f(4, "requeue", requeue, "may a job that lost its GPU be requeued: auto, ask or never");
    f(5, "replace", replace, "may a broken member be replaced by a spare: auto, ask or never");
    f(6, "local_disks_may_be_lost", local_disks_may_be_lost, "consent to wiping a broken node");
  }
};

struct AllocationStatus {
  AllocationPhase phase = AllocationPhase::requested;
  Instant phase_since;
  std::string reason;
  std::vector<AllocationNode> nodes;
  std::string segment;
  std::string prefix;
  Instant short_since;
  NetworkId network;
  void fields(Fields& f) {
    f(1, "phase", phase, "where it is");
    f(2, "phase_since", phase_since, "when it entered the phase");
    f(3, "reason", reason, "why it is not active; empty when it is");
    f(4, "nodes", nodes, "nodes it holds, with role");
    f(5, "segment", segment, "network segment, from the fabric's pool");
    f(6, "prefix", prefix, "IPv4 prefix of the segment");
    f(7, "short_since", short_since, "since when it has fewer serving members than wanted");
    f(8, "network", network, "its network");
  }
};

struct Allocation {
  static constexpr std::string_view kind = "allocation";
  AllocationId id;
  ClusterId cluster;
  AllocationSpec spec;
  AllocationStatus status;
  Meta meta;
  void fields(Fields& f) {
    f(1, "id", id, "ours");
    f(2, "cluster", cluster, "cluster that uses it");
    f(3, "spec", spec, "wanted");
    f(4, "status", status, "observed");
    f(5, "meta", meta, "name, tenant, revision");
  }
};

enum class ClusterPhase { pending, configuring, joining, verifying, active, degraded, deleting };
inline std::span<const std::string_view> enum_names(ClusterPhase) {
  static constexpr std::string_view names[] = {"pending", "configuring", "joining", "verifying",
                                               "active",  "degraded",    "deleting"};
  return names;
}

/// A node as the engine's configuration declares it: members, spares and headroom alike.
struct DeclaredNode {
  NodeId node;
  std::string name;
  std::string address;
  void fields(Fields& f) {
    f(1, "node", node, "node id");
    f(2, "name", name, "name in the engine");
    f(3, "address", address, "address it will have in the segment");
  }
};

struct ClusterSpec {
  std::string engine = "slurm";
  std::string sku;
  int nodes = 0;
  int spares = 0;
  int headroom = 8;
  Consent requeue = Consent::automatic;
  Consent replace = Consent::automatic;
  std::vector<std::string> firewall, access;
  bool allow_checks = false;
  void fields(Fields& f) {
    f(1, "engine", engine, "slurm");
    f(2, "sku", sku, "kind of node; empty: the only GPU kind of the site");
    f(3, "nodes", nodes, "members");
    f(4, "spares", spares, "hot spares");
    f(5, "headroom", headroom,
      "further nodes declared to the engine, so that a swap needs no restart");
    f(6, "requeue", requeue, "consent to requeue a job that lost its GPU");
    f(7, "replace", replace, "consent to replace a broken member");
    f(8, "firewall", firewall, "what its nodes may send out of their network, in order");
    f(9, "access", access, "who may come in by the gateway, to the login node");
    f(10, "allow_checks", allow_checks,
      "consent to active checks on idle members, as work of the engine that gives way at once");
  }
};

struct ClusterStatus {
  ClusterPhase phase = ClusterPhase::pending;
  Instant phase_since;
  std::string reason;
  AllocationId allocation;
  int index = 0;
  std::vector<DeclaredNode> declared;
  std::string config_applied;
  std::string login_address;
  std::vector<std::string> users_applied;
  std::vector<std::string> drained;
  bool controller_ready = false;
  int setups = 0;
  std::string prefix;
  std::string access_address;
  std::string checks_by;
  Instant checks_at;
  void fields(Fields& f) {
    f(1, "phase", phase, "where it is");
    f(2, "phase_since", phase_since, "when it entered the phase");
    f(3, "reason", reason, "why it is not active");
    f(4, "allocation", allocation, "its nodes");
    f(5, "index", index, "small number from which ports of its daemons follow");
    f(6, "declared", declared, "nodes in the engine's configuration");
    // 7 was config_hash: the wanted one is computed, see setup_hash.
    f(8, "config_applied", config_applied, "hash of the configuration last applied");
    f(9, "login_address", login_address, "address of the login node in the tenant's network");
    f(10, "users_applied", users_applied, "users with accounts in the engine");
    f(11, "drained", drained,
      "engine names seen drained under our reason: a later resume is a person's");
    f(12, "controller_ready", controller_ready, "the engine's controller was set up");
    f(13, "setups", setups, "times that the controller was set up");
    f(14, "prefix", prefix, "IPv4 prefix of its network");
    f(15, "access_address", access_address, "IPv4 of its gateway, where users log in; empty: none");
    f(16, "checks_by", checks_by, "who gave or withdrew allow_checks last; empty: nobody ever did");
    f(17, "checks_at", checks_at, "when that was");
  }
};

struct Cluster {
  static constexpr std::string_view kind = "cluster";
  ClusterId id;
  ClusterSpec spec;
  ClusterStatus status;
  Meta meta;
  void fields(Fields& f) {
    f(1, "id", id, "ours");
    f(2, "spec", spec, "wanted");
    f(3, "status", status, "observed");
    f(4, "meta", meta, "name, tenant, revision");
  }
};

}  // namespace tundish
