#include "lab/node_power.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "base/log.hpp"
#include "base/text.hpp"
#include "lab/cgroups.hpp"
#include "lab/namespaces.hpp"
#include "lab/node_disk.hpp"
#include "runtime/process/process.hpp"

namespace tundish::lab {
namespace {

constexpr Duration graceful_limit = seconds(5);  // then the power goes, as on a real BMC

std::string last_line(const std::string& file) {
  const auto text = process::read_file(file);
  if (!text) return "";
  const auto lines = split(trim(*text), '\n');
  return lines.empty() ? "" : lines.back();
}

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

}  // namespace

std::string_view phase_name(NodePhase phase) {
  switch (phase) {
    case NodePhase::off: return "off";
    case NodePhase::post: return "post";
    case NodePhase::booting: return "booting";
    case NodePhase::running: return "running";
    case NodePhase::stopping: return "stopping";
    case NodePhase::failed: return "failed";
  }
  return "";
}

NodePower::NodePower(net::Loop& loop, LabSpec spec, KernelLogServer& kernel_log, Fabric& fabric)
    : loop_(loop),
      spec_(std::move(spec)),
      paths_(paths_of(spec_)),
      kernel_log_(kernel_log),
      fabric_(fabric) {
  for (auto& hardware : hardware_of(spec_)) {
    const std::string name = hardware.name;
    if (hardware.gpus > 0) nodes_[name].leak_detectors = {{"ColdPlate", "OK"}, {"Manifold", "OK"}};
    nodes_[name].hardware = std::move(hardware);
  }
}

NodeState* NodePower::find(const std::string& name) {
  const auto it = nodes_.find(name);
  return it == nodes_.end() ? nullptr : &it->second;
}

NodeState* NodePower::find_by_bmc(const std::string& address) {
  for (auto& [name, node] : nodes_) {
    if (node.hardware.bmc_address == address) return &node;
  }
  return nullptr;
}

Result<> NodePower::apply(const std::string& name, PowerAction action) {
  NodeState* node = find(name);
  if (node == nullptr) return make_error(Code::not_found, "the lab has no node " + name);
  log(LogLevel::info, "lab_power", {{"node", name}, {"action", static_cast<int>(action)}});
  switch (action) {
    case PowerAction::on: power_on(*node); break;
    case PowerAction::force_off: power_off(*node, SIGKILL, Next::stay_off); break;
    case PowerAction::graceful_shutdown: power_off(*node, SIGTERM, Next::stay_off); break;
    case PowerAction::force_restart:
    case PowerAction::cycle: power_off(*node, SIGKILL, Next::power_on); break;
    case PowerAction::graceful_restart: power_off(*node, SIGTERM, Next::power_on); break;
  }
  return {};
}

void NodePower::power_on(NodeState& node) {
  if (node.phase == NodePhase::stopping) {
    next_[node.hardware.name] = Next::power_on;
    return;
  }
  if (node.powered) return;
  node.powered = true;
  node.phase = NodePhase::post;
  const int generation = ++node.generation;
  loop_.at(loop_.now() + milliseconds(spec_.post_delay_ms), [this, &node, generation] {
    if (node.generation == generation) start(node);
  });
}

void NodePower::power_off(NodeState& node, int signal, Next next) {
  const int generation = ++node.generation;
  if (node.pid == 0) {
    node.powered = false;
    node.phase = NodePhase::off;
    if (next == Next::power_on) power_on(node);
    return;
  }
  next_[node.hardware.name] = next;
  node.phase = NodePhase::stopping;
  ::kill(node.pid, signal);
  if (signal == SIGKILL) {
    node.powered = false;
    return;
  }
  loop_.at(loop_.now() + graceful_limit, [&node, generation] {
    if (node.generation == generation && node.pid != 0) ::kill(node.pid, SIGKILL);
  });
}

void NodePower::start(NodeState& node) {
  node.failure.clear();
  node.phase = NodePhase::booting;
  const auto started = try_start(node);
  if (started) return;
  node.failure = started.error().message();
  log(LogLevel::error, "lab_node_start", {{"node", node.hardware.name}, {"error", node.failure}});
  node.phase = NodePhase::failed;
  if (node.pid != 0) ::kill(node.pid, SIGKILL);
}

Result<> NodePower::try_start(NodeState& node) {
  const std::string& name = node.hardware.name;
  TRY_VOID(prepare_node(spec_, node.hardware));
  node.boot_id = TRY(prepare_boot(spec_, node.hardware));
  TRY_VOID(kernel_log_.boot(name));
  int sync[2];
  if (::pipe2(sync, O_CLOEXEC) != 0) return system_error("cannot make a pipe");
  NodeProcess process;
  process.argv = {spec_.bin_dir + "/tundish", "lab",    "node-init", "--spec",
                  paths_.spec_file(),         "--node", name};
  process.log_file = paths_.log() + "/node-" + name + ".log";
  process.sync_fd = sync[0];
  const auto pid = clone_node(process);
  ::close(sync[0]);
  Result<> plugged;
  if (pid) {
    node.pid = *pid;
    ++node.boots;
    auto report = place_node(spec_, name, node.pid);
    node.cgroups = std::move(report.folders);
    node.problems = std::move(report.problems);
    plugged = plug_oob(node.hardware, node.pid);
    if (plugged && node.oob == LinkState::down) plugged = set_link(oob_peer(name), node.oob);
    if (plugged) plugged = fabric_.plug(node.hardware, node.pid);
    if (plugged && ::write(sync[1], "g", 1) != 1) plugged = system_error("node-init went away");
  }
  ::close(sync[1]);
  if (!pid) return pid.error();
  return plugged;
}

Result<> NodePower::signal(const std::string& name, int number) {
  NodeState* node = find(name);
  if (node == nullptr) return make_error(Code::not_found, "the lab has no node " + name);
  if (node->phase != NodePhase::running) {
    return make_error(Code::conflict, "node " + name + " is " +
                                          std::string(phase_name(node->phase)) + ", not running");
  }
  if (::kill(node->pid, number) != 0) return system_error("cannot signal node " + name);
  return {};
}

Result<> NodePower::set_oob(const std::string& name, LinkState state) {
  NodeState* node = find(name);
  if (node == nullptr) return make_error(Code::not_found, "the lab has no node " + name);
  node->oob = state;
  if (node->pid == 0) return {};
  return set_link(oob_peer(name), state);
}

void NodePower::poll() {
  for (auto& [name, node] : nodes_) {
    if (node.pid == 0) continue;
    int status = 0;
    if (::waitpid(node.pid, &status, WNOHANG) == node.pid) {
      ended(node, status);
    } else if (node.phase == NodePhase::booting && exists(paths_.node(name) + "/booted")) {
      node.phase = NodePhase::running;
      log(LogLevel::info, "lab_node_booted", {{"node", name}, {"boot_id", node.boot_id}});
    }
  }
}

void NodePower::ended(NodeState& node, int status) {
  const std::string& name = node.hardware.name;
  node.pid = 0;
  ++node.generation;
  unplug_oob(paths_, node.hardware);
  fabric_.unplug(node.hardware);
  if (node.phase == NodePhase::failed) return;  // start() gave up on it and told why
  node.powered = false;
  const bool stopping = node.phase == NodePhase::stopping;
  // reboot(2) inside a pid namespace ends its process 1 with SIGHUP, a halt with SIGINT.
  const bool rebooted = WIFSIGNALED(status) && WTERMSIG(status) == SIGHUP;
  if (!stopping && WIFEXITED(status) && WEXITSTATUS(status) != 0) {
    node.phase = NodePhase::failed;
    node.powered = true;  // a machine that does not boot still has power
    node.failure = last_line(paths_.log() + "/node-" + name + ".log");
    log(LogLevel::error, "lab_node_failed", {{"node", name}, {"error", node.failure}});
    return;
  }
  node.phase = NodePhase::off;
  const bool again = stopping ? next_[name] == Next::power_on : rebooted;
  log(LogLevel::info, "lab_node_off", {{"node", name}, {"again", again ? "yes" : "no"}});
  if (again) power_on(node);
}

void NodePower::stop_all() {
  for (auto& [name, node] : nodes_) {
    ++node.generation;
    next_[name] = Next::stay_off;
    if (node.pid != 0) ::kill(node.pid, SIGKILL);
  }
  for (auto& [name, node] : nodes_) {
    if (node.pid != 0) ::waitpid(node.pid, nullptr, 0);
    node.pid = 0;
    node.powered = false;
    node.phase = NodePhase::off;
  }
}

}  // namespace tundish::lab
