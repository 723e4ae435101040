// The closed list of engine commands, by scontrol.
#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "base/text.hpp"
#include "runtime/agent/slurm/controller_parts.hpp"

namespace tundish::agent {
using namespace slurm;
namespace {

constexpr std::string_view our_prefix = "tundish:";
constexpr std::size_t reason_limit = 200;
constexpr std::string_view prompt = "scontrol: ";

bool is_job_id(std::string_view text) {
  return !text.empty() && text.size() <= 12 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

Result<> check_reason(std::string_view reason) {
  const bool plain = std::all_of(reason.begin(), reason.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view(" _.,:;/()+@%-").find(c) != std::string_view::npos;
  });
  if (plain && reason.starts_with(our_prefix) && reason.size() <= reason_limit) return {};
  return make_error(Code::invalid, "a reason starts with tundish: and has plain characters");
}

bool takes_away(const EngineCommand& command) {
  return command.state == "drain" || command.state == "down";
}

Result<> check_update(const EngineCommand& command) {
  if (command.nodes.empty()) return make_error(Code::invalid, "update_nodes without nodes");
  if (takes_away(command)) return check_reason(command.reason);
  if (command.state == "resume" || command.state == "undrain") return {};
  return make_error(Code::invalid, "no state for nodes: \"" + command.state + "\"");
}

Result<> check_command(const EngineCommand& command) {
  for (const auto& node : command.nodes) TRY_VOID(check_name(node, "node"));
  switch (command.verb) {
    case EngineVerb::update_nodes: return check_update(command);
    case EngineVerb::set_partition: return check_name(command.partition, "partition");
    case EngineVerb::requeue_job:
    case EngineVerb::start_job_now:
      if (is_job_id(command.job)) return {};
      return make_error(Code::invalid, "no job: \"" + command.job.substr(0, 40) + "\"");
    case EngineVerb::write_files: return check_files(command.files);
    case EngineVerb::add_users:
    case EngineVerb::reconfigure:
    case EngineVerb::restart_controller: return {};
  }
  return make_error(Code::invalid, "unknown engine command");
}

/// Only after check_command: nothing in it can end the line or a word of it.
std::string scontrol_line(const EngineCommand& command) {
  const std::string nodes = join(command.nodes, ",");
  switch (command.verb) {
    case EngineVerb::update_nodes:
      return "update nodename=" + nodes + " state=" + command.state +
             (takes_away(command) ? " reason=\"" + command.reason + "\"" : "");
    case EngineVerb::set_partition:
      return "update partitionname=" + command.partition + " nodes=" + nodes;
    // A job that ended, or that its user cancelled, since it was seen stays what it is: without the
    // word Slurm starts it again (22.05).
    case EngineVerb::requeue_job: return "requeue incomplete " + command.job;
    case EngineVerb::start_job_now: return "update jobid=" + command.job + " starttime=now";
    case EngineVerb::reconfigure: return "reconfigure";
    case EngineVerb::write_files:
    case EngineVerb::restart_controller:
    case EngineVerb::add_users: break;
  }
  return "";
}

/// One scontrol for all lines: a process for each would cost 30 ms each. Both streams come as one,
/// so that an error stands behind the echo of its line.
Result<std::string> feed_scontrol(const ClusterPlace& place, const std::string& lines) {
  process::Command command;
  command.argv = in_network(place, {"/bin/sh", "-c", "exec scontrol -o 2>&1"});
  command.env = cluster_env(place);
  command.input = lines;
  auto output = TRY(process::run(command));
  if (output.timed_out) return make_error(Code::timeout, "scontrol: " + output.summary());
  if (output.exit_code == 127) return make_error(Code::unsupported, "scontrol is not installed");
  return std::move(output.out);
}

/// An error of each line, in the transcript that scontrol leaves.
Result<> find_errors(const std::string& transcript) {
  std::string echo;
  std::vector<std::string> errors;
  bool unreachable = false;
  for (const auto& line : split(transcript, '\n')) {
    const std::string_view text = trim(line);
    if (line.starts_with(prompt)) {
      echo = line.substr(prompt.size());
    } else if (text.find("rror") != std::string_view::npos ||
               text.find("nvalid") != std::string_view::npos) {
      errors.push_back(echo.substr(0, 120) + ": " + std::string(text));
      unreachable = unreachable || text.find("Unable to contact") != std::string_view::npos;
    }
  }
  if (errors.empty()) return {};
  Error error = make_error(unreachable ? Code::unavailable : Code::invalid, errors.front());
  error.context.assign(errors.begin() + 1, errors.end());
  return error;
}

struct SeenNode {
  bool out = false;        ///< drained or down
  bool by_person = false;  ///< with a reason that is neither ours nor Slurm's own
  int lines = 0;
};

bool is_slurm_reason(std::string_view reason) {
  if (reason.find(" [slurm@") != std::string_view::npos) return true;
  for (const std::string_view words : {"Not responding", "Node unexpectedly rebooted",
                                       "Kill task failed", "Prolog error", "Epilog error"}) {
    if (reason.starts_with(words)) return true;
  }
  return false;
}

std::string_view word_after(std::string_view line, std::string_view key) {
  const auto at = line.find(key);
  if (at == std::string_view::npos) return {};
  const auto rest = line.substr(at + key.size());
  return rest.substr(0, rest.find(' '));
}

std::map<std::string, SeenNode> parse_nodes(const std::string& text) {
  std::map<std::string, SeenNode> seen;
  for (const auto& line : split(text, '\n')) {
    if (!line.starts_with("NodeName=")) continue;
    SeenNode& node = seen[std::string(word_after(line, "NodeName="))];
    const std::string_view state = word_after(line, " State=");
    const auto at = line.find(" Reason=");
    const std::string reason = at == std::string::npos ? "" : line.substr(at + 8);
    const bool drained = state.find("DRAIN") != std::string_view::npos;
    node.lines += 1;
    node.out = node.out || drained || state.starts_with("DOWN");
    node.by_person = node.by_person || (node.out && !reason.starts_with(our_prefix) &&
                                        !is_slurm_reason(reason) && (drained || !reason.empty()));
  }
  return seen;
}

/// A person may have drained a node since the plan was made. Takes such nodes out of the commands
/// and returns their names. One look at all of them: each line costs the controller a walk.
Result<std::set<std::string>> spare_held_nodes(const ClusterPlace& place,
                                               std::vector<EngineCommand>& commands) {
  std::set<std::string> named;
  for (const auto& command : commands) {
    if (command.verb != EngineVerb::update_nodes) continue;
    named.insert(command.nodes.begin(), command.nodes.end());
  }
  std::set<std::string> held;
  if (named.empty()) return held;
  const std::string look =
      "show node " + join(std::vector<std::string>(named.begin(), named.end()), ",") + "\n";
  for (const auto& [name, node] : parse_nodes(TRY(feed_scontrol(place, look)))) {
    if (node.by_person) held.insert(name);
  }
  for (auto& command : commands) {
    if (command.verb != EngineVerb::update_nodes) continue;
    std::erase_if(command.nodes, [&](const std::string& node) { return held.contains(node); });
  }
  std::erase_if(commands, [](const EngineCommand& command) {
    return command.verb == EngineVerb::update_nodes && command.nodes.empty();
  });
  return held;
}

Result<> run_own(const ClusterPlace& place, const EngineCommand& command) {
  if (command.verb == EngineVerb::write_files) {
    TRY(write_cluster_files(place, command.files));
    return {};
  }
  if (command.verb == EngineVerb::add_users) return add_accounts(place, command.users);
  stop_ctld(place);
  return start_ctld(place);
}

bool is_own(EngineVerb verb) {
  return verb == EngineVerb::write_files || verb == EngineVerb::add_users ||
         verb == EngineVerb::restart_controller;
}

/// Neighbours of one verb share a process; the first group with an error is the last one run.
Result<> run_all(const ClusterPlace& place, const std::vector<EngineCommand>& commands) {
  for (std::size_t i = 0; i < commands.size();) {
    if (is_own(commands[i].verb)) {
      TRY_VOID(run_own(place, commands[i++]));
      continue;
    }
    std::string lines;
    const EngineVerb verb = commands[i].verb;
    for (; i < commands.size() && commands[i].verb == verb; ++i) {
      lines += scontrol_line(commands[i]) + "\n";
    }
    const std::string transcript = TRY(feed_scontrol(place, lines));
    TRY_VOID(find_errors(transcript));
  }
  return {};
}

}  // namespace

Result<std::string> run_engine_commands(const std::string& cluster,
                                        const std::vector<EngineCommand>& commands,
                                        const AgentPaths& paths) {
  const ClusterPlace place = TRY(place_of(cluster, paths));
  for (const auto& command : commands) TRY_VOID(check_command(command));
  if (!process::read_file(place.conf())) {
    return make_error(Code::not_found, "no controller of " + cluster + " on this machine");
  }
  std::vector<EngineCommand> rest = commands;
  const auto held = TRY(spare_held_nodes(place, rest));
  TRY_VOID(run_all(place, rest));
  if (held.empty()) return std::to_string(rest.size()) + " commands done";
  return "left alone, held by a person: " +
         join(std::vector<std::string>(held.begin(), held.end()), ",");
}

}  // namespace tundish::agent
