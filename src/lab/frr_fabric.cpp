#include "lab/frr_fabric.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "base/log.hpp"
#include "base/text.hpp"
#include "lab/cgroups.hpp"
#include "lab/namespaces.hpp"
#include "lab/switch_disk.hpp"
#include "runtime/process/process.hpp"

namespace tundish::lab {
namespace {

constexpr Duration restart_after = seconds(1);
// Of 20 ms: interfaces of a dead node go a moment after it, and seconds when the machine is busy.
constexpr int plug_tries = 500;

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

std::string_view FrrFabric::phase_name(Phase phase) {
  switch (phase) {
    case Phase::off: return "off";
    case Phase::booting: return "booting";
    case Phase::running: return "running";
    case Phase::slow: return "slow";
    case Phase::frozen: return "frozen";
    case Phase::failed: return "failed";
  }
  return "";
}

FrrFabric::FrrFabric(net::Loop& loop, const LabSpec& spec)
    : loop_(loop), spec_(spec), paths_(paths_of(spec)) {
  for (auto& plan : boxes_of(spec)) {
    auto box = std::make_unique<Box>();
    box->plan = std::move(plan);
    const std::string name = box->plan.name;
    boxes_[name] = std::move(box);
  }
  for (const auto& node : hardware_of(spec)) {
    for (const auto& port : node.ports) {
      cables_.push_back(
          {node.name, port.interface, port.mac, port.leaf, port.port, LinkState::up, ""});
    }
  }
  if (boxes_.contains(storage_name)) {
    const auto cable = storage_cable_of(spec);
    cables_.push_back(
        {storage_name, cable.interface, cable.mac, cable.leaf, cable.port, LinkState::up, ""});
  }
  if (boxes_.contains(manager_name)) ib_ = std::make_unique<IbFabric>(loop, spec);
}

Result<> FrrFabric::start() {
  for (auto& [name, box] : boxes_) TRY_VOID(box->chassis.make(box->plan.hardware()));
  TRY_VOID(wire());
  if (ib_) TRY_VOID(ib_->start(boxes_.at(manager_name)->chassis.network_fd()));
  for (auto& [name, box] : boxes_) start_box(*box);
  return {};
}

std::string FrrFabric::cable_line(const Cable& cable) const {
  const std::string mtu = " mtu " + std::to_string(fabric_mtu);
  const std::string here = port_peer(cable.node, cable.interface);
  return "link add " + here + " address " + cable.mac + mtu + " type veth peer name " + cable.port +
         mtu + " netns " + boxes_.at(cable.leaf)->chassis.network() + "\nlink set " + here +
         " arp off\n";
}

/// Every cable of the data centre, none of them powered at an end yet.
Result<> FrrFabric::wire() {
  const std::string mtu = " mtu " + std::to_string(fabric_mtu);
  std::string lines;
  for (const auto& [name, box] : boxes_) {
    const std::string network = box->chassis.network();
    const std::string peer = management_peer(name);
    lines += "link add " + peer + " type veth peer name " + management_port + " netns " + network +
             "\nlink set " + peer + " up\nroute add " + box->plan.management + "/32 dev " + peer +
             " src 10.88.0.1\n";
    if (box->plan.role != SwitchRole::leaf) continue;
    for (const auto& link : box->plan.links) {
      // Between two foreign namespaces by way of this one: `ip` names only the peer's.
      lines += "link add cable" + mtu + " type veth peer name " + link.peer_port + mtu + " netns " +
               boxes_.at(link.peer)->chassis.network() + "\nlink set cable netns " + network +
               " name " + link.port + "\n";
    }
  }
  for (const auto& cable : cables_) lines += cable_line(cable);
  return run_ip_batch(lines);
}

void FrrFabric::start_box(Box& box) {
  box.failure.clear();
  box.phase = Phase::booting;
  const auto started = try_start(box);
  if (started) return;
  box.failure = started.error().message();
  log(LogLevel::error, "lab_switch_start", {{"switch", box.plan.name}, {"error", box.failure}});
  box.phase = Phase::failed;
  box.wanted = false;
  if (box.pid != 0) ::kill(box.pid, SIGKILL);
}

Result<> FrrFabric::try_start(Box& box) {
  const std::string& name = box.plan.name;
  TRY_VOID(prepare_switch(spec_, box.plan));
  int sync[2];
  if (::pipe2(sync, O_CLOEXEC) != 0) return system_error("cannot make a pipe");
  NodeProcess process;
  process.argv = {spec_.bin_dir + "/tundish", "lab",      "switch-init", "--spec",
                  paths_.spec_file(),         "--switch", name};
  process.log_file = paths_.log() + "/switch-" + name + ".log";
  process.sync_fd = sync[0];
  process.network_fd = box.chassis.network_fd();
  const auto pid = clone_node(process);
  ::close(sync[0]);
  Result<> done;
  if (pid) {
    box.pid = *pid;
    ++box.starts;
    (void)place_node(spec_, name, box.pid);
    done = plug_box(box);
    if (done && ::write(sync[1], "g", 1) != 1) done = system_error("switch-init went away");
  }
  ::close(sync[1]);
  if (!pid) return pid.error();
  return done;
}

void FrrFabric::poll() {
  for (auto& [name, box] : boxes_) {
    int status = 0;
    if (box->pid == 0) {
      if (box->wanted && box->phase == Phase::off && loop_.now() >= box->start_at) {
        start_box(*box);
      }
    } else if (::waitpid(box->pid, &status, WNOHANG) == box->pid) {
      ended(*box, status);
    } else if (box->phase == Phase::booting && exists(paths_.switch_box(name) + "/booted")) {
      booted(*box);
    } else if (box->phase == Phase::running) {
      box->chassis.follow(box->pid);
    }
  }
  if (!ib_) return;
  const Box& manager = *boxes_.at(manager_name);
  ib_->poll(manager.phase == Phase::running ? manager.pid : 0);
}

void FrrFabric::booted(Box& box) {
  box.phase = Phase::running;
  log(LogLevel::info, "lab_switch_booted", {{"switch", box.plan.name}, {"starts", box.starts}});
  for (const auto& [port, state] : box.links) {
    if (state == LinkState::up) continue;  // its own start has set every port up
    (void)run_ip_batch_in(box.chassis.network(), "link set " + port + " down\n");
  }
}

void FrrFabric::ended(Box& box, int status) {
  const bool broken = box.phase == Phase::booting && WIFEXITED(status) && WEXITSTATUS(status) != 0;
  box.pid = 0;
  pull(box.plan.name);
  box.chassis.reset();
  mend_lost_cables(box);
  if (box.phase == Phase::failed) return;  // start_box() gave up on it and told why
  box.phase = broken ? Phase::failed : Phase::off;
  box.start_at = loop_.now() + restart_after;
  if (broken) box.failure = last_line(paths_.log() + "/switch-" + box.plan.name + ".log");
  log(LogLevel::info, "lab_switch_ended", {{"switch", box.plan.name}, {"failure", box.failure}});
}

/// A namespace that came and went between two looks took its ports with it.
void FrrFabric::mend_lost_cables(const Box& box) {
  for (auto& cable : cables_) {
    if (cable.leaf != box.plan.name || box.chassis.find(cable.port)) continue;
    log(LogLevel::warn, "lab_cable_lost", {{"switch", cable.leaf}, {"port", cable.port}});
    Result<> done = run_ip_batch(cable_line(cable));
    if (done && !cable.network.empty()) done = plug_cable(cable, cable.network);
    if (!done) log(LogLevel::error, "lab_cable_mend", {{"error", done.error().message()}});
  }
}

Result<> FrrFabric::plug_cable(Cable& cable, const std::string& network) {
  const std::string here = port_peer(cable.node, cable.interface);
  std::string lines = "link add link " + here + " name " + cable.interface + " netns " + network +
                      " mtu 1500 type macvlan mode passthru\n";
  if (cable.state == LinkState::up) lines += "link set " + here + " up\n";
  Result<> done;
  for (int tries = 0; tries < plug_tries; ++tries) {
    done = run_ip_batch(lines);
    if (done) break;
    ::usleep(20000);
  }
  if (done) cable.network = network;
  return done;
}

Result<> FrrFabric::plug_box(const Box& box) {
  for (auto& cable : cables_) {
    if (cable.node == box.plan.name) TRY_VOID(plug_cable(cable, box.chassis.network()));
  }
  return {};
}

Result<> FrrFabric::plug(const LabNode& node, int pid) {
  for (auto& cable : cables_) {
    if (cable.node == node.name) TRY_VOID(plug_cable(cable, std::to_string(pid)));
  }
  if (ib_) ib_->set_power(node.name, LinkState::up);
  return {};
}

void FrrFabric::unplug(const LabNode& node) {
  pull(node.name);
  if (ib_) ib_->set_power(node.name, LinkState::down);
}

void FrrFabric::pull(const std::string& node) {
  std::string lines;
  for (auto& cable : cables_) {
    if (cable.node != node || cable.network.empty()) continue;
    cable.network.clear();
    lines += "link set " + port_peer(cable.node, cable.interface) + " down\n";
  }
  if (!lines.empty()) (void)run_ip_batch(lines);
}

bool FrrFabric::is_settled() const {
  for (const auto& [name, box] : boxes_) {
    if (box->phase == Phase::booting || (box->phase == Phase::off && box->wanted)) return false;
  }
  return true;
}

void FrrFabric::stop_all() {
  for (auto& [name, box] : boxes_) {
    box->wanted = false;
    if (box->pid != 0) ::kill(box->pid, SIGKILL);
  }
  for (auto& [name, box] : boxes_) {
    if (box->pid != 0) ::waitpid(box->pid, nullptr, 0);
    box->pid = 0;
    box->phase = Phase::off;
  }
  if (ib_) ib_->stop();
}

std::vector<LabHcaStatus> FrrFabric::hcas() const {
  return ib_ ? ib_->status() : std::vector<LabHcaStatus>{};
}

std::vector<LabSwitchStatus> FrrFabric::status() const {
  std::vector<LabSwitchStatus> all;
  for (const auto& [name, box] : boxes_) {
    LabSwitchStatus out;
    out.name = name;
    out.role = std::string(role_name(box->plan.role));
    out.phase = std::string(phase_name(box->phase));
    out.starts = box->starts;
    const auto pid = process::read_file(paths_.switch_box(name) + "/host_pid");
    if (box->pid != 0 && pid) {
      out.host_pid = static_cast<int>(parse_integer(trim(*pid)).value_or(0));
    }
    if (out.host_pid != 0) out.network_path = "/proc/" + std::to_string(out.host_pid) + "/ns/net";
    out.management_address = box->plan.management;
    out.loopback = box->plan.loopback;
    out.failure = box->failure;
    for (const auto& [port, state] : box->links) {
      if (state == LinkState::down) out.cut.push_back(port);
    }
    for (const auto& cable : cables_) {
      if (cable.leaf == name && cable.state == LinkState::down) out.cut.push_back(cable.port);
    }
    all.push_back(std::move(out));
  }
  return all;
}

int FrrFabric::pid_of(const std::string& switch_name) const {
  const auto it = boxes_.find(switch_name);
  return it == boxes_.end() ? 0 : it->second->pid;
}

/// To everything that runs on the switch but its process 1: the data plane goes on.
Result<> FrrFabric::send(Box& box, const std::string& signal) {
  return tell(box, "kill -" + signal + " -1");
}

Result<> FrrFabric::tell(Box& box, const std::string& script) {
  process::Command command;
  command.argv = {"nsenter", "-t", std::to_string(box.pid), "-p", "-m", "sh", "-c", script};
  const auto output = TRY(process::run(command));
  if (output.ok()) return {};
  return make_error(Code::unavailable, "cannot signal " + box.plan.name + ": " + output.summary());
}

Result<> FrrFabric::set_switch(const SwitchRequest& request) {
  const auto it = boxes_.find(request.name);
  if (it == boxes_.end()) {
    return make_error(Code::not_found, "the lab has no switch " + request.name);
  }
  Box& box = *it->second;
  log(LogLevel::info, "lab_switch",
      {{"switch", request.name}, {"action", static_cast<int>(request.action)}});
  switch (request.action) {
    case SwitchVerb::on:
      if (box.phase == Phase::failed && box.pid == 0) box.phase = Phase::off;
      box.wanted = true;
      box.start_at = loop_.now();
      return {};
    case SwitchVerb::off:
      box.wanted = false;
      if (box.pid != 0) ::kill(box.pid, SIGKILL);
      return {};
    case SwitchVerb::freeze:
    case SwitchVerb::thaw: break;
  }
  ++box.orders;
  const bool freeze = request.action == SwitchVerb::freeze;
  const bool runs = box.phase == Phase::running || box.phase == Phase::slow;
  if (freeze ? !runs : box.phase != Phase::frozen) {
    return make_error(Code::conflict, request.name + " is " + std::string(phase_name(box.phase)));
  }
  TRY_VOID(send(box, freeze ? "STOP" : "CONT"));
  box.phase = freeze ? Phase::frozen : Phase::running;
  return {};
}

}  // namespace tundish::lab
