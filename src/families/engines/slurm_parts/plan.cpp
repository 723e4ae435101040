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

void plan_return(const EngineNode& seen, StateCommands& out) {
  const bool ours = is_our_reason(seen.reason) || is_reboot_reason(seen.reason);
  if (!ours) return;  // one that only fell silent comes back by itself (ReturnToService=1)
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

void plan_partition(const DesiredEngine& desired, const EngineObserved& observed,
                    const NodeMap& declared, std::vector<EngineCommand>& out) {
  const auto members = members_of(desired, declared);
  auto seen = observed.partition_nodes;
  std::sort(seen.begin(), seen.end());
  if (seen == members) return;
  // The file first: a restarted controller goes back to what it says.
  EngineCommand files;
  files.verb = EngineVerb::write_files;
  files.files = render_files(desired);
  out.push_back(std::move(files));
  EngineCommand partition;
  partition.verb = EngineVerb::set_partition;
  partition.partition = desired.partition;
  partition.nodes = members;
  out.push_back(std::move(partition));
}

/// slurmctld 22.05 learns of new nodes by a restart alone; jobs and node states survive it.
std::vector<EngineCommand> plan_declaration(const DesiredEngine& desired) {
  std::vector<EngineCommand> commands(2);
  commands[0].verb = EngineVerb::write_files;
  commands[0].files = render_files(desired);
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

void plan_jobs(const DesiredEngine& desired, const EngineObserved& observed,
               std::vector<EngineCommand>& out) {
  std::set<std::string> lost;
  bool may_requeue = false;
  bool can_run = false;
  for (const auto& node : desired.nodes) {
    // A node that is gone is set down, and that requeues its jobs by itself.
    if (node.device_lost && !node.gone && node.may_requeue) lost.insert(node.name);
    may_requeue = may_requeue || node.may_requeue;
    can_run = can_run || !wants_drain(node);
  }
  for (const auto& job : observed.jobs) {
    const bool hit = std::any_of(job.nodes.begin(), job.nodes.end(),
                                 [&](const std::string& name) { return lost.contains(name); });
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
      plan_return(*found->second, returns);
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
  }
  append(out, returns.take());
  plan_jobs(desired, observed, out);
  return out;
}

}  // namespace tundish::slurm_parts
