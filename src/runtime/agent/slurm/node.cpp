// Slurm on a node and on a login node.
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <vector>

#include "base/text.hpp"
#include "runtime/agent/slurm/place.hpp"

namespace tundish::agent {
namespace fs = std::filesystem;
using namespace slurm;
namespace {

const std::string default_munge_socket = "/run/munge/munge.socket.2";

struct NodePlace {
  std::string etc;
  std::string spool;
  std::string pid_file;
  std::string log_file;
  std::string conf() const { return etc + "/slurm.conf"; }
};

NodePlace place_of_node(const AgentPaths& paths) {
  return {paths.etc + "/slurm", paths.state + "/slurmd", paths.run + "/slurmd.pid",
          paths.log + "/slurmd.log"};
}

std::string local_lines(const AgentPaths& paths) {
  const NodePlace place = place_of_node(paths);
  std::string out = "SlurmdSpoolDir=" + place.spool + "\nSlurmdPidFile=" + place.pid_file +
                    "\nSlurmdLogFile=" + place.log_file + "\n";
  const std::string socket = node_munge(paths).socket();
  if (socket != default_munge_socket) out += "AuthInfo=socket=" + socket + "\n";
  return out;
}

/// What slurmd reads: membership of a partition is the controller's business, so a change of it
/// is no reason to restart.
std::string without_partitions(const std::string& conf) {
  std::string out;
  for (const auto& line : split(conf, '\n')) {
    if (!line.starts_with("PartitionName=")) out += line + "\n";
  }
  return out;
}

/// True when slurmd must start anew to see it.
Result<bool> write_conf(const SetupNode& setup, const AgentPaths& paths) {
  TRY_VOID(check_files(setup.files));
  const NodePlace place = place_of_node(paths);
  if (find_file(setup.files, "slurm.conf") == nullptr) {
    return make_error(Code::invalid, "setup of " + setup.node_name + " brings no slurm.conf");
  }
  TRY_VOID(make_folder(place.etc, {"root", 0755}));
  bool changed = false;
  for (const auto& file : setup.files) {
    if (file.name == "slurmdbd.conf") continue;  // the controller's alone
    const std::string path = place.etc + "/" + file.name;
    const bool is_conf = file.name == "slurm.conf";
    const std::string content = is_conf ? file.content + local_lines(paths) : file.content;
    const std::string old = process::read_file(path).value_or("");
    TRY(write_if_changed(path, content, {"root", 0644}));
    changed = changed || (is_conf ? without_partitions(old) != without_partitions(content)
                                  : old != content);
  }
  return changed;
}

Result<> start_slurmd(const SetupNode& setup, const AgentPaths& paths) {
  const NodePlace place = place_of_node(paths);
  TRY_VOID(make_folder(place.spool, {"root", 0755}));
  TRY_VOID(make_folder(paths.log, {"root", 0755}));
  process::Command command;
  // -N: the name in the engine need not be the machine's own.
  command.argv = {"slurmd", "-N", setup.node_name, "-f", place.conf()};
  command.env = {"SLURM_CONF=" + place.conf()};
  TRY_VOID(run_checked(command));
  const bool up = wait_until(
      [&] { return process::read_live_pid(place.pid_file, "slurmd") > 0; }, seconds(10));
  if (up) return {};
  return make_error(Code::unavailable, "slurmd did not start: " + log_tail(place.log_file));
}

struct ProcessFacts {
  int parent = 0;
  bool is_step = false;
};

/// Network namespace of a process: steps of another slurmd on the same kernel are not ours.
std::string net_of(const std::string& pid) {
  std::error_code ignored;
  return fs::read_symlink("/proc/" + pid + "/ns/net", ignored).string();
}

std::map<int, ProcessFacts> processes_here() {
  std::map<int, ProcessFacts> found;
  const std::string here = net_of("self");
  std::error_code failed;
  for (fs::directory_iterator it("/proc", failed), end; !failed && it != end;
       it.increment(failed)) {
    const std::string name = it->path().filename().string();
    const auto pid = parse_integer(name);
    const auto stat = pid ? process::read_file("/proc/" + name + "/stat") : Result<std::string>();
    if (!pid || !stat || net_of(name) != here) continue;
    const auto open = stat->find('(');
    const auto close = stat->rfind(')');
    if (open == std::string::npos || close == std::string::npos) continue;
    const auto rest = split(trim(std::string_view(*stat).substr(close + 1)), ' ');
    const auto parent = rest.size() > 1 ? parse_integer(rest[1]) : std::nullopt;
    const bool is_step = stat->substr(open + 1, close - open - 1).starts_with("slurmstepd");
    found[static_cast<int>(*pid)] = {static_cast<int>(parent.value_or(0)), is_step};
  }
  return found;
}

bool is_below_step(const std::map<int, ProcessFacts>& all, int pid) {
  for (std::size_t depth = 0; depth < all.size() + 1; ++depth) {
    const auto found = all.find(pid);
    if (found == all.end()) return false;
    if (found->second.is_step) return true;
    pid = found->second.parent;
  }
  return false;
}

std::vector<int> job_processes() {
  const auto all = processes_here();
  std::vector<int> pids;
  for (const auto& [pid, facts] : all) {
    if (is_below_step(all, pid) && process::is_alive(pid)) pids.push_back(pid);
  }
  return pids;
}

}  // namespace

Result<std::string> start_slurm_node(const SetupNode& setup, const AgentPaths& paths) {
  TRY_VOID(check_name(setup.node_name, "node"));
  const bool changed = TRY(write_conf(setup, paths));
  TRY_VOID(start_munge(node_munge(paths), setup.munge_key));
  const NodePlace place = place_of_node(paths);
  const int pid = process::read_live_pid(place.pid_file, "slurmd");
  if (pid > 0 && !changed) return std::string("slurmd runs already");
  if (pid > 0) process::stop_process(pid, seconds(5));
  TRY_VOID(start_slurmd(setup, paths));
  return std::string(pid > 0 ? "slurmd restarted" : "slurmd started");
}

Result<std::string> start_slurm_login(const SetupNode& setup, const AgentPaths& paths) {
  TRY(write_conf(setup, paths));
  TRY_VOID(start_munge(node_munge(paths), setup.munge_key));
  return std::string("munge and client configuration in place");
}

Result<> stop_slurm_node(const AgentPaths& paths) {
  const NodePlace place = place_of_node(paths);
  const int pid = process::read_live_pid(place.pid_file, "slurmd");
  if (pid > 0) process::stop_process(pid, seconds(5));
  const bool clean = wait_until(
      [&] {
        const auto left = job_processes();
        for (const int job : left) ::kill(job, SIGKILL);
        return left.empty();
      },
      seconds(5));
  const MungePlace munge = node_munge(paths);
  stop_munge(munge);
  std::error_code ignored;
  for (const std::string name : {"slurm.conf", "gres.conf", "cgroup.conf", "topology.conf"}) {
    fs::remove(place.etc + "/" + name, ignored);
  }
  fs::remove(munge.key_file(), ignored);
  fs::remove(munge.seed_file(), ignored);
  fs::remove(place.pid_file, ignored);
  fs::remove_all(place.spool, ignored);  // scripts and environments of the tenant's jobs
  if (clean) return {};
  return make_error(Code::conflict, "processes of jobs survived SIGKILL")
      .with_remedy("restart the node");
}

}  // namespace tundish::agent
