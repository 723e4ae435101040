#include "lab/ib_fabric.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "base/log.hpp"
#include "lab/manager_box.hpp"
#include "lab/namespaces.hpp"
#include "lab/switch_plan.hpp"
#include "runtime/process/process.hpp"

namespace tundish::lab {
namespace {

constexpr Duration look_interval = seconds(10);      // without a reason
constexpr Duration settle_time = milliseconds(800);  // a sweep goes on after its first line
constexpr Duration settle_interval = milliseconds(100);
constexpr int dump_tries = 100;  // of 5 ms
constexpr long printed_limit = 1 << 20;
constexpr std::size_t parallel_reads = 4;

long size_of(const std::string& file) {
  struct stat at {};
  return ::stat(file.c_str(), &at) == 0 ? static_cast<long>(at.st_size) : -1;
}

std::string printed_since(const std::string& file, long offset) {
  const auto text = process::read_file(file);
  if (!text || static_cast<long>(text->size()) <= offset) return "";
  return text->substr(static_cast<std::size_t>(offset));
}

HcaLink link_of(const IbPortDump& port) {
  if (port.state == "Init") return HcaLink::init;
  if (port.state == "Armed") return HcaLink::armed;
  if (port.state == "Active") return HcaLink::active;
  return HcaLink::down;
}

/// By the manager's own tools: two simulated HCAs of one process id would meet in ibsim.
std::vector<IbKeys> read_keys(int manager_pid, const std::vector<IbPortDump>& ports) {
  process::Command command;
  command.argv = {"nsenter",
                  "-t",
                  std::to_string(manager_pid),
                  "-p",
                  "-m",
                  "-n",
                  "xargs",
                  "-r",
                  "-P",
                  std::to_string(parallel_reads),
                  "-n",
                  "1",
                  "sh",
                  "-c",
                  "t=$(timeout 5 /usr/local/sbin/smpquery pkeys \"$1\" 1 2>/dev/null) && "
                  "printf 'lid %s\\n%s\\n' \"$1\" \"$t\"; exit 0",
                  "one"};
  command.limit = seconds(20);
  for (const auto& port : ports) {
    if (port.lid > 0 && port.state == "Active") command.input += std::to_string(port.lid) + "\n";
  }
  if (command.input.empty()) return {};
  const auto output = process::run(command);
  return output && output->ok() ? parse_ib_keys(output->out) : std::vector<IbKeys>{};
}

}  // namespace

IbFabric::IbFabric(net::Loop& loop, const LabSpec& spec)
    : loop_(loop), paths_(paths_of(spec)), plan_(ib_plan_of(spec)) {
  for (const auto& port : plan_.ports) {
    if (port.machine == manager_name) continue;
    hcas_.push_back({port.machine, port.hca, LinkState::down, LinkState::up, {}});
  }
  for (const auto& trunk : plan_.trunks) {
    for (const auto& one : plan_.switches) {
      if (one.name == trunk.leaf) {
        trunks_.push_back({trunk, "S-" + one.guid.substr(2), LinkState::up});
      }
    }
  }
}

IbFabric::~IbFabric() {
  stop();
  for (const int fd : {console_, commands_}) {
    if (fd >= 0) ::close(fd);
  }
}

Result<> IbFabric::start(int network_fd) {
  network_fd_ = network_fd;
  TRY_VOID(write_text(paths_.ib_net(), render_ib_net(plan_)));
  int console[2];
  if (::pipe2(console, O_CLOEXEC | O_NONBLOCK) != 0) return system_error("cannot make a pipe");
  commands_ = console[0];
  console_ = console[1];
  ::fcntl(commands_, F_SETFL, 0);  // ibsim waits for commands
  return launch();
}

Result<> IbFabric::launch() {
  NodeProcess process;
  process.argv = {"/bin/sh", "-c", "exec /usr/bin/ibsim -s " + paths_.ib_net() + " <&3"};
  process.log_file = paths_.ib_printed();
  process.sync_fd = commands_;
  process.network_fd = network_fd_;
  pid_ = TRY(clone_node(process));
  for (const auto& hca : hcas_) {
    if (hca.power == LinkState::down || hca.cable == LinkState::down) connect(hca);
  }
  for (const auto& trunk : trunks_) {
    if (trunk.cable == LinkState::down) connect(trunk);
  }
  return {};
}

/// ibsim gives up when a client dies while it is greeted, as one in a killed box does. To the nodes
/// it is a blink of the whole fabric; the manager's programs must find the new simulator.
void IbFabric::relaunch(int manager_pid) {
  log(LogLevel::warn, "lab_ib_relaunch", {{"see", paths_.ib_printed()}});
  pid_ = 0;
  const auto done = launch();
  if (!done) {
    log(LogLevel::error, "lab_ib_gone", {{"error", done.error().message()}});
    for (auto& hca : hcas_) show(hca, {});
    return;
  }
  look_soon();
  if (manager_pid == 0) return;
  process::Command command;
  command.argv = {"nsenter", "-t",    std::to_string(manager_pid), "-p", "-m", "pkill", "-KILL",
                  "-x",      "opensm"};
  (void)process::run(command);
}

void IbFabric::stop() {
  if (pid_ == 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = 0;
}

void IbFabric::say(const std::string& line) {
  const std::string text = line + "\n";
  if (pid_ != 0 && ::write(console_, text.data(), text.size()) == static_cast<ssize_t>(text.size()))
    return;
  log(LogLevel::error, "lab_ib_console", {{"line", line}});
}

/// A machine without power loses what its port was told; one with a cut cable does not.
void IbFabric::connect(const Hca& hca) {
  const std::string port = "\"" + ib_node_id(hca.hardware) + "\"[1]";
  if (hca.power == LinkState::down) return say("Clear " + port);
  say((hca.cable == LinkState::up ? "ReLink " : "Unlink ") + port);
}

void IbFabric::connect(const Trunk& trunk) {
  say((trunk.cable == LinkState::up ? "ReLink \"" : "Unlink \"") + trunk.leaf_id + "\"[" +
      std::to_string(trunk.plan.leaf_port) + "]");
}

void IbFabric::set_power(const std::string& node, LinkState power) {
  for (auto& hca : hcas_) {
    if (hca.node != node || hca.power == power) continue;
    hca.power = power;
    show(hca, {});
    connect(hca);
    look_soon();
  }
}

bool IbFabric::has_end(const std::string& end) const {
  for (const auto& hca : hcas_) {
    if (end == hca.node + "/" + hca.hardware.name) return true;
    if (end == hca.hardware.ib_switch + "/" + std::to_string(hca.hardware.port)) return true;
  }
  for (const auto& trunk : trunks_) {
    if (end == trunk.plan.leaf + "/" + std::to_string(trunk.plan.leaf_port)) return true;
    if (end == trunk.plan.spine + "/" + std::to_string(trunk.plan.spine_port)) return true;
  }
  return false;
}

Result<> IbFabric::set_link(const std::string& end, LinkState state) {
  if (pid_ == 0) return make_error(Code::unavailable, "ibsim does not run");
  for (auto& hca : hcas_) {
    if (end != hca.node + "/" + hca.hardware.name &&
        end != hca.hardware.ib_switch + "/" + std::to_string(hca.hardware.port)) {
      continue;
    }
    if (hca.cable == state) return {};
    hca.cable = state;
    if (hca.power == LinkState::up) connect(hca);
  }
  for (auto& trunk : trunks_) {
    if (end != trunk.plan.leaf + "/" + std::to_string(trunk.plan.leaf_port) &&
        end != trunk.plan.spine + "/" + std::to_string(trunk.plan.spine_port)) {
      continue;
    }
    if (trunk.cable == state) return {};
    trunk.cable = state;
    connect(trunk);
  }
  look_soon();
  return {};
}

void IbFabric::look_soon() {
  look_at_ = loop_.now();
  settled_at_ = loop_.now() + settle_time;
}

/// opensm writes a line for every sweep in which it told a port something.
void IbFabric::poll(int manager_pid) {
  if (pid_ == 0) return;
  if (::waitpid(pid_, nullptr, WNOHANG) == pid_) return relaunch(manager_pid);
  const long size = size_of(opensm_log_of(paths_));
  if (size != log_size_) look_soon();
  log_size_ = size;
  if (!reading_ && loop_.now() >= look_at_) look(manager_pid);
}

void IbFabric::look(int manager_pid) {
  reading_ = true;
  auto reading = std::make_shared<Reading>();
  loop_.offload([reading, console = console_, file = paths_.ib_printed(),
                 manager_pid] { *reading = read(console, file, manager_pid); },
                [this, reading] {
                  reading_ = false;
                  const Instant now = loop_.now();
                  look_at_ = now + (now < settled_at_ ? settle_interval : look_interval);
                  take(*reading);
                });
}

IbFabric::Reading IbFabric::read(int console, const std::string& printed_file, int manager_pid) {
  Reading reading;
  if (size_of(printed_file) > printed_limit && ::truncate(printed_file.c_str(), 0) != 0) return {};
  const long before = std::max(size_of(printed_file), 0L);
  if (::write(console, "Dump\n", 5) != 5) return reading;
  for (int tries = 0; tries < dump_tries && reading.ports.empty(); ++tries) {
    ::usleep(5000);
    reading.ports = parse_ib_dump(printed_since(printed_file, before));
  }
  if (manager_pid != 0) reading.keys = read_keys(manager_pid, reading.ports);
  return reading;
}

/// A table that could not be read stays as it was: it is in the port, not in the manager.
void IbFabric::take(const Reading& reading) {
  if (pid_ == 0) return;
  for (auto& hca : hcas_) {
    if (hca.power == LinkState::down) continue;
    for (const auto& port : reading.ports) {
      if (port.node_id != ib_node_id(hca.hardware)) continue;
      HcaState state = hca.shown;
      state.link = link_of(port);
      state.lid = port.lid;
      for (const auto& keys : reading.keys) {
        if (keys.lid == port.lid && port.lid != 0) state.pkeys = keys.table;
      }
      if (hca.shown != state) show(hca, state);
    }
  }
}

void IbFabric::show(Hca& hca, const HcaState& state) {
  const auto done = write_hca_state(paths_.node(hca.node) + "/sysclass", hca.hardware, state);
  if (!done) return log(LogLevel::warn, "lab_hca", {{"error", done.error().message()}});
  hca.shown = state;
}

std::vector<LabHcaStatus> IbFabric::status() const {
  std::vector<LabHcaStatus> all;
  for (const auto& hca : hcas_) {
    LabHcaStatus out;
    out.node = hca.node;
    out.name = hca.hardware.name;
    out.guid = hca.hardware.guid;
    out.plugged = hca.hardware.ib_switch + "/" + std::to_string(hca.hardware.port);
    out.link = std::string(link_name(hca.shown.link));
    out.lid = hca.shown.lid;
    for (const auto& key : hca.shown.pkeys) {
      if (key != "0x0000") out.pkeys.push_back(key);
    }
    out.cut = hca.cable == LinkState::down;
    all.push_back(std::move(out));
  }
  return all;
}

}  // namespace tundish::lab
