#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "families/engines/slurm_parts/names.hpp"
#include "families/engines/slurm_parts/parts.hpp"

namespace tundish::slurm_parts {
namespace {

/// Slurm lets a requeued job wait this long. Unit: seconds. Source: facts/lab.md section 1 (22.05);
/// checked 2026-11. A later start was asked for by the user.
constexpr std::int64_t requeue_wait_s = 125;
/// What slurmctld adds at a requeue, and how much of it must pass. A job that was started again in
/// the second of its requeue failed with exit code 168 instead of running; that its credential was
/// revoked for that second is our reading, not confirmed. Source: seen once in the lab with Slurm
/// 22.05.8, tests/lab/people.sh, and not since with this pause; checked 2026-11.
constexpr std::int64_t requeue_delay_s = 121;
constexpr std::int64_t settle_s = 2;

using NodeMap = std::map<std::string, const EngineNode*>;

bool wants_drain(const DesiredEngineNode& node) {
  return node.role != EngineRole::member || node.drained || node.device_lost || node.gone;
}

std::string reason_for(const DesiredEngineNode& node) {
  if (!node.reason.empty()) return clean_reason(node.reason);
  if (node.gone) return "tundish: gone";
  if (node.device_lost) return "tundish: device lost";
  if (node.role == EngineRole::spare) return "tundish: spare";
  if (node.role == EngineRole::headroom) return "tundish: headroom";
  return "tundish: drained";
}

/// A person took the node out of service; neither state nor reason is ours to change. What Slurm
/// itself found is different: a claim of ours takes it over, and then our return clears it.
bool is_held_by_person(const EngineNode& node) {
  if (is_our_reason(node.reason) || is_slurm_reason(node.reason)) return false;
  return is_drained(node) || (is_down(node) && !node.reason.empty());
}

/// One command for all nodes that get the same state for the same reason: a scontrol call for 750
/// nodes costs as much as for one.
class StateCommands {
 public:
  void add(const std::string& state, const std::string& reason, const std::string& node) {
    groups_[{state, reason}].insert(node);
  }
  std::vector<EngineCommand> take() const {
    std::vector<EngineCommand> commands;
    for (const auto& [key, nodes] : groups_) {
      EngineCommand command;
      command.verb = EngineVerb::update_nodes;
      command.state = key.first;
      command.reason = key.second;
      command.nodes.assign(nodes.begin(), nodes.end());
      commands.push_back(std::move(command));
    }
    return commands;
  }

 private:
  std::map<std::pair<std::string, std::string>, std::set<std::string>> groups_;
};

/// Down comes with a drain of the same reason: a node that answers again stays out of service.
void plan_removal(const DesiredEngineNode& want, const EngineNode& seen, StateCommands& out) {
  const std::string reason = reason_for(want);
  if (!is_drained(seen) || seen.reason != reason) out.add("drain", reason, want.name);
  if (want.gone && !is_down(seen)) out.add("down", reason, want.name);
}

/// Slurm took it out by itself, and whoever decides says by the same reason that its cause is over.
bool is_over(const DesiredEngineNode& want, const EngineNode& seen) {
  return is_slurm_reason(seen.reason) && clean_reason(want.reason) == clean_reason(seen.reason);
}

void plan_return(const DesiredEngineNode& want, const EngineNode& seen, StateCommands& out) {
  const bool ours = is_our_reason(seen.reason) || is_reboot_reason(seen.reason);
  // One that only fell silent comes back by itself (ReturnToService=1).
  if (!ours && !is_over(want, seen)) return;
  // Until it has registered once, slurmctld refuses, and the commands behind would not run.
  if (has_state(seen, "UNKNOWN")) return;
  if (is_down(seen)) {
    out.add("resume", "", seen.name);
  } else if (is_drained(seen)) {
    out.add("undrain", "", seen.name);
  }
}

std::vector<std::string> members_of(const DesiredEngine& desired, const NodeMap& declared) {
  std::vector<std::string> names;
  for (const auto& node : desired.nodes) {
    if (node.role == EngineRole::member && declared.contains(node.name)) {
      names.push_back(node.name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool is_same(std::vector<std::string> seen, const std::vector<std::string>& wanted) {
  std::sort(seen.begin(), seen.end());
  return seen == wanted;
}

EngineCommand files_command(const DesiredEngine& desired) {
  EngineCommand files;
  files.verb = EngineVerb::write_files;
  files.files = render_files(desired);
  return files;
}

void plan_partition(const DesiredEngine& desired, const EngineObserved& observed,
                    const NodeMap& declared, std::vector<EngineCommand>& out) {
  const auto members = members_of(desired, declared);
  const bool checks = desired.checks_since.is_set() && !observed.check_nodes.empty();
  const bool same = is_same(observed.partition_nodes, members);
  const bool same_checks = !checks || is_same(observed.check_nodes, members);
  if (same && same_checks) return;
  // The file first: a restarted controller goes back to what it says.
  out.push_back(files_command(desired));
  const auto set = [&](std::string_view name) {
    EngineCommand partition;
    partition.verb = EngineVerb::set_partition;
    partition.partition = name;
    partition.nodes = members;
    out.push_back(std::move(partition));
  };
  if (!same) set(desired.partition);
  if (!same_checks) set(check_work_name);
}

/// A partition that goes under a job costs the node some ten seconds of completing (22.05).
bool has_check_job(const EngineObserved& observed) {
  return std::any_of(observed.jobs.begin(), observed.jobs.end(), [](const EngineJob& job) {
    return job.name == check_work_name && job.user == "root";
  });
}

/// The partition of active checks comes with the tenant's consent and goes with it.
void plan_checks(const DesiredEngine& desired, const EngineObserved& observed,
                 const NodeMap& declared, std::vector<EngineCommand>& out) {
  const bool wanted =
      desired.checks_since.is_set() && !members_of(desired, declared).empty();
  const bool there = !observed.check_nodes.empty();
  // A controller of before learns to preempt by a restart, and is not restarted for it again.
  const bool old = wanted && !observed.can_preempt && observed.started_at.is_set() &&
                   observed.started_at < desired.checks_since;
  if (!old && wanted == there) return;
  if (!wanted && has_check_job(observed)) return;  // its lease has ended; the next look decides
  if (desired.checks_since.is_set() != there || old) out.push_back(files_command(desired));
  EngineCommand next;
  if (wanted) {
    next.verb = EngineVerb::add_users;
    next.users = desired.users;
    out.push_back(std::move(next));
  }
  next = {};
  next.verb = old ? EngineVerb::restart_controller : EngineVerb::reconfigure;
  out.push_back(std::move(next));
}

/// slurmctld 22.05 learns of new nodes by a restart alone; jobs and node states survive it.
std::vector<EngineCommand> plan_declaration(const DesiredEngine& desired) {
  std::vector<EngineCommand> commands(2);
  commands[0] = files_command(desired);
  commands[1].verb = EngineVerb::restart_controller;
  return commands;
}

bool holds_nodes(const EngineJob& job) {
  return job.state == "RUNNING" || job.state == "SUSPENDED" || job.state == "CONFIGURING" ||
         job.state == "STOPPED" || job.state == "RESIZING" || job.state == "SIGNALING" ||
         job.state == "STAGE_OUT";
}

EngineCommand job_command(EngineVerb verb, const std::string& id) {
  EngineCommand command;
  command.verb = verb;
  command.job = id;
  return command;
}

/// Whether it ran there when the device went; one whose start is not known may have.
bool lost_its_device(const EngineJob& job, const DesiredEngineNode& node) {
  if (!node.spares_after.is_set() || !job.started_at.is_set()) return true;
  return job.started_at <= node.spares_after;
}

void plan_jobs(const DesiredEngine& desired, const EngineObserved& observed,
               std::vector<EngineCommand>& out) {
  std::map<std::string, const DesiredEngineNode*> lost;
  bool may_requeue = false;
  bool can_run = false;
  for (const auto& node : desired.nodes) {
    // A node that is gone is set down, and that requeues its jobs by itself.
    if (node.device_lost && !node.gone && node.may_requeue) lost[node.name] = &node;
    may_requeue = may_requeue || node.may_requeue;
    can_run = can_run || !wants_drain(node);
  }
  for (const auto& job : observed.jobs) {
    const bool hit =
        std::any_of(job.nodes.begin(), job.nodes.end(), [&](const std::string& name) {
          const auto node = lost.find(name);
          return node != lost.end() && lost_its_device(job, *node->second);
        });
    if (hit && job.requeueable && holds_nodes(job)) {
      out.push_back(job_command(EngineVerb::requeue_job, job.id));
    }
  }
  const std::int64_t now_s = observed.at.us / 1000000;
  for (const auto& job : observed.jobs) {
    const bool waits = job.state == "PENDING" && job.restarts > 0 && job.begin_time_s > now_s &&
                       job.begin_time_s <= now_s + requeue_wait_s;
    const bool settled = now_s >= job.begin_time_s - requeue_delay_s + settle_s;
    if (waits && settled && may_requeue && can_run) {
      out.push_back(job_command(EngineVerb::start_job_now, job.id));
    }
  }
}

void append(std::vector<EngineCommand>& out, std::vector<EngineCommand> more) {
  std::move(more.begin(), more.end(), std::back_inserter(out));
}

}  // namespace

std::vector<EngineCommand> plan_commands(const DesiredEngine& desired,
                                         const EngineObserved& observed) {
  if (!observed.reachable) return {};
  NodeMap declared;
  for (const auto& node : observed.nodes) declared[node.name] = &node;
  StateCommands removals;
  StateCommands returns;
  std::set<std::string> wanted;
  bool undeclared = false;
  for (const auto& node : desired.nodes) {
    wanted.insert(node.name);
    const auto found = declared.find(node.name);
    if (found == declared.end()) {
      undeclared = true;
    } else if (is_held_by_person(*found->second)) {
      continue;
    } else if (wants_drain(node)) {
      plan_removal(node, *found->second, removals);
    } else {
      plan_return(node, *found->second, returns);
    }
  }
  for (const auto& node : observed.nodes) {
    // It left the cluster, but the running controller still knows it.
    if (!wanted.contains(node.name) && !is_drained(node)) {
      removals.add("drain", "tundish: left the cluster", node.name);
    }
  }
  // What takes capacity away goes first: new jobs must not land on a broken node.
  std::vector<EngineCommand> out = removals.take();
  if (undeclared) {
    append(out, plan_declaration(desired));
  } else {
    plan_partition(desired, observed, declared, out);
    plan_checks(desired, observed, declared, out);
  }
  append(out, returns.take());
  plan_jobs(desired, observed, out);
  return out;
}

}  // namespace tundish::slurm_parts
