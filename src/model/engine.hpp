#pragma once
// What is wanted of an engine, what it shows, and the closed list of commands between the two.
#include <string>
#include <vector>

#include "base/describe.hpp"

namespace tundish {

/// A file of an engine's configuration: a bare name, written below the cluster's own folder.
struct EngineFile {
  std::string name;
  std::string content;
  void fields(Fields& f) {
    f(1, "name", name, "file name without folder, for example slurm.conf");
    f(2, "content", content, "whole content");
  }
};

struct AccountUser {
  std::string name;
  int uid = 0;
  std::vector<std::string> ssh_keys;
  void fields(Fields& f) {
    f(1, "name", name, "login name");
    f(2, "uid", uid, "numeric id, also the group id");
    f(3, "ssh_keys", ssh_keys, "authorized_keys lines");
  }
};

enum class EngineVerb {
  update_nodes,     ///< nodes, state (drain, down, resume, undrain), reason
  set_partition,    ///< the full node list; an incremental edit empties the partition (22.05)
  requeue_job,
  start_job_now,    ///< clears the BeginTime that Slurm sets at a requeue
  write_files,      ///< configuration first, then the daemon is told
  reconfigure,
  restart_controller,
  add_users
};
inline std::span<const std::string_view> enum_names(EngineVerb) {
  static constexpr std::string_view names[] = {
      "update_nodes", "set_partition", "requeue_job",        "start_job_now",
      "write_files",  "reconfigure",   "restart_controller", "add_users"};
  return names;
}

struct EngineCommand {
  EngineVerb verb = EngineVerb::reconfigure;
  std::vector<std::string> nodes;
  std::string state;
  std::string reason;
  std::string partition;
  std::string job;
  std::vector<EngineFile> files;
  std::vector<AccountUser> users;
  void fields(Fields& f) {
    f(1, "verb", verb, "what to do");
    f(2, "nodes", nodes, "engine names of nodes, sorted");
    f(3, "state", state, "for update_nodes: drain, down, resume or undrain");
    f(4, "reason", reason, "for update_nodes: starts with tundish:");
    f(5, "partition", partition, "for set_partition");
    f(6, "job", job, "for requeue_job and start_job_now");
    f(7, "files", files, "for write_files");
    f(8, "users", users, "for add_users");
  }
};

enum class EngineRole { member, spare, headroom };
inline std::span<const std::string_view> enum_names(EngineRole) {
  static constexpr std::string_view names[] = {"member", "spare", "headroom"};
  return names;
}

/// A node as we want the engine to treat it.
struct DesiredEngineNode {
  std::string name;
  std::string address;
  std::string leaf;
  EngineRole role = EngineRole::headroom;
  bool drained = false;       ///< a claim is on it, or it is not bound
  bool device_lost = false;   ///< jobs on it cannot go on: requeue them at once
  Instant spares_after = {};  ///< of those: what began later lost nothing; unset: it spares none
  bool gone = false;          ///< known to be off or off the network: set down
  bool may_requeue = true;    ///< consent of the allocation
  std::string reason;         ///< ours; starts with "tundish:"
  std::string group;          ///< incident behind it, for permits
};

/// Active checks inside a cluster are work of its engine under this name: queue, account and job.
inline constexpr std::string_view check_work_name = "tundish-check";

struct DesiredEngine {
  std::string cluster;
  int index = 0;
  std::string controller_address;
  std::string partition = "main";
  int cpus = 1, sockets = 1, gpus = 0;
  std::int64_t memory_mib = 1000;
  std::string gres_type;
  std::vector<DesiredEngineNode> nodes;
  std::vector<AccountUser> users;
  std::string tenant;
  Instant checks_since;  ///< the tenant consents: a queue for them below all others; unset: none
};

/// A job as the engine shows it. Total: words that we do not know are kept in `state`.
struct EngineJob {
  std::string id;
  std::string user;
  std::string name;
  std::string state;                 ///< upper case, for example RUNNING, PENDING
  std::vector<std::string> nodes;    ///< expanded
  int restarts = 0;
  bool requeueable = false;
  std::int64_t begin_time_s = 0;     ///< earliest start that the engine set; 0: none
  Instant started_at = {};           ///< of this run, as the engine says; unset: unknown
};

struct EngineNode {
  std::string name;
  std::vector<std::string> states;   ///< IDLE, DRAIN, DOWN ...; unknown words are kept
  std::string reason;
  int allocated_cpus = 0;
  bool registered = false;           ///< the engine's daemon on it answers
};

/// What the engine showed. `reachable` false: nothing else is known, and no node is at fault.
struct EngineObserved {
  bool reachable = false;
  std::string fault;                 ///< why it did not answer
  Instant at;
  std::vector<EngineNode> nodes;
  std::vector<EngineJob> jobs;
  std::vector<std::string> partition_nodes;
  std::vector<std::string> check_nodes;  ///< of the queue of active checks; empty: it has none
  bool can_preempt = false;              ///< what is in that queue gives way to all other work
  Instant started_at;                ///< of the controller daemon, when it tells
};

}  // namespace tundish
