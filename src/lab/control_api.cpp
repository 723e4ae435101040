#include "lab/control_api.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <memory>

#include "base/text.hpp"
#include "codec/json.hpp"
#include "lab/enter.hpp"
#include "lab/gpu_state.hpp"
#include "lab/kmsg/kernel_log_ring.hpp"
#include "lab/memory_files.hpp"
#include "lab/namespaces.hpp"
#include "lab/reply.hpp"
#include "runtime/process/process.hpp"

namespace tundish::lab {
namespace {

const std::string nodes_prefix = "/nodes/";
const std::string switches_prefix = "/switches/";

int read_number(const std::string& file) {
  const auto text = process::read_file(file);
  return text ? static_cast<int>(parse_integer(trim(*text)).value_or(0)) : 0;
}

/// The number N of "NVRM: Xid (PCI:...): N, ..."; 0 when the line is none.
int xid_of(std::string_view line) {
  const auto start = line.find("NVRM: Xid (");
  if (start == std::string_view::npos) return 0;
  const auto close = line.find("): ", start);
  if (close == std::string_view::npos) return 0;
  const auto end = line.find(',', close);
  const auto number = line.substr(close + 3, end == std::string_view::npos ? end : end - close - 3);
  return static_cast<int>(parse_integer(trim(number)).value_or(0));
}

std::optional<GpuFault> gpu_fault(FaultKind kind) {
  switch (kind) {
    case FaultKind::none:
    case FaultKind::memory_error: return std::nullopt;
    case FaultKind::lost: return GpuFault::lost;
    case FaultKind::ecc_uncorrected: return GpuFault::ecc_uncorrected;
    case FaultKind::gsp: return GpuFault::gsp;
    case FaultKind::row_remap_failure: return GpuFault::row_remap_failure;
    case FaultKind::row_remap_pending: return GpuFault::row_remap_pending;
    case FaultKind::nvlink_down: return GpuFault::nvlink_down;
    case FaultKind::throttle: return GpuFault::throttle;
    case FaultKind::fabric_lost: return GpuFault::fabric_lost;
    case FaultKind::driver_hang: return GpuFault::driver_hang;
  }
  return std::nullopt;
}

PowerAction power_action(PowerVerb verb) {
  switch (verb) {
    case PowerVerb::on: return PowerAction::on;
    case PowerVerb::off: return PowerAction::force_off;
    case PowerVerb::graceful_shutdown: return PowerAction::graceful_shutdown;
    case PowerVerb::restart: return PowerAction::force_restart;
    case PowerVerb::graceful_restart: return PowerAction::graceful_restart;
    case PowerVerb::cycle: return PowerAction::cycle;
  }
  return PowerAction::on;
}

BmcMode bmc_mode(BmcVerb verb) {
  switch (verb) {
    case BmcVerb::normal: return BmcMode::normal;
    case BmcVerb::ignore: return BmcMode::ignore;
    case BmcVerb::late: return BmcMode::late;
  }
  return BmcMode::normal;
}

/// As a process of the node would: the kernel log then shows a user's facility.
Result<> write_as_user(const std::string& file, int level, const std::string& line) {
  const int fd = ::open(file.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return system_error("cannot open " + file);
  const std::string text = "<" + std::to_string(level) + ">" + line + "\n";
  const bool ok = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const Error failed = ok ? Error{} : system_error("cannot write " + file);
  ::close(fd);
  if (!ok) return failed;
  return {};
}

}  // namespace

Result<> ControlApi::listen() {
  net::ListenOptions options;
  options.url = "unix:" + paths_.socket_file();
  server_ = TRY(net::HttpServer::listen(
      parts_.loop, options, [this](const net::ServerRequest& request, const net::Reply& reply) {
        answer(request, reply);
      }));
  return {};
}

void ControlApi::answer(const net::ServerRequest& request, const net::Reply& reply) {
  if (request.method == "GET") return get(request, reply);
  if (request.method != "POST") return send_not_found(reply, request);
  if (request.path == "/run") return run(request.body, reply);
  if (request.path == "/daemon") return set_daemon(request.body, reply);
  const auto done = post(request.path, request.body);
  if (!done) return send_error(reply, done.error());
  reply.send(200, "{}");
}

void ControlApi::get(const net::ServerRequest& request, const net::Reply& reply) {
  if (request.path == "/status") return reply.send(200, render_json(status()));
  if (request.path.rfind(switches_prefix, 0) == 0) {
    return get_switch(request.path.substr(switches_prefix.size()), request, reply);
  }
  if (request.path.rfind(nodes_prefix, 0) != 0) return send_not_found(reply, request);
  const NodeState* node = parts_.power.find(request.path.substr(nodes_prefix.size()));
  if (node == nullptr) return send_not_found(reply, request);
  reply.send(200, render_json(status_of_node(*node)));
}

void ControlApi::get_switch(const std::string& name, const net::ServerRequest& request,
                            const net::Reply& reply) {
  for (const auto& one : parts_.fabric.status()) {
    if (one.name == name) return reply.send(200, render_json(one));
  }
  send_not_found(reply, request);
}

Result<> ControlApi::post_fabric(const std::string& path, const std::string& body) {
  if (path == "/switch") {
    SwitchRequest request;
    TRY_VOID(parse_json(body, request));
    return parts_.fabric.set_switch(request);
  }
  if (path == "/cable") {
    CableRequest request;
    TRY_VOID(parse_json(body, request));
    return parts_.fabric.set_cable(request);
  }
  if (path == "/storage") {
    StorageRequest request;
    TRY_VOID(parse_json(body, request));
    return parts_.fabric.set_storage(request);
  }
  if (path == "/swap") {
    SwapRequest request;
    TRY_VOID(parse_json(body, request));
    return parts_.fabric.swap_cables(request);
  }
  return make_error(Code::not_found, "POST " + path + " is not part of this interface");
}

Result<> ControlApi::post(const std::string& path, const std::string& body) {
  if (path == "/fault") {
    FaultRequest request;
    TRY_VOID(parse_json(body, request));
    return inject(request);
  }
  if (path == "/power") {
    PowerRequest request;
    TRY_VOID(parse_json(body, request));
    return parts_.power.apply(request.node, power_action(request.action));
  }
  if (path == "/agent") {
    AgentRequest request;
    TRY_VOID(parse_json(body, request));
    return set_agent(request);
  }
  if (path == "/network") {
    NetworkRequest request;
    TRY_VOID(parse_json(body, request));
    return parts_.power.set_oob(request.node,
                                request.oob == CableVerb::up ? LinkState::up : LinkState::down);
  }
  if (path == "/bmc") {
    BmcRequest request;
    TRY_VOID(parse_json(body, request));
    if (parts_.power.find(request.node) == nullptr) {
      return make_error(Code::not_found, "the lab has no node " + request.node);
    }
    parts_.bmc.set_mode(request.node, bmc_mode(request.mode), milliseconds(request.delay_ms));
    return {};
  }
  if (path == "/leak") {
    LeakRequest request;
    TRY_VOID(parse_json(body, request));
    NodeState* node = parts_.power.find(request.node);
    const auto detector =
        node == nullptr ? std::map<std::string, std::string>::iterator{}
                        : node->leak_detectors.find(request.detector);
    if (node == nullptr || detector == node->leak_detectors.end()) {
      return make_error(Code::not_found, "no BMC of node " + request.node + " has a detector " +
                                             request.detector);
    }
    static constexpr const char* states[] = {"OK", "Warning", "Critical", "Unavailable"};
    detector->second = states[static_cast<std::size_t>(request.level)];
    return {};
  }
  return post_fabric(path, body);
}

Result<> ControlApi::inject(const FaultRequest& request) {
  const NodeState* node = parts_.power.find(request.node);
  if (node == nullptr) return make_error(Code::not_found, "the lab has no node " + request.node);
  if (request.level < 0 || request.level > 7) {
    return make_error(Code::invalid, "level must be 0 to 7");
  }
  for (const auto& line : split(request.line, '\n')) {
    if (line.size() <= KernelLogRing::write_limit) continue;
    const std::string most = std::to_string(KernelLogRing::write_limit);
    return make_error(Code::invalid, "a record of the kernel has at most " + most +
                                         " bytes, not " + std::to_string(line.size()));
  }
  const std::string state = paths_.node(request.node) + "/hw/nvml.state";
  if (const auto fault = gpu_fault(request.kind)) {
    if (request.gpu < 0 || request.gpu >= node->hardware.gpus) {
      return make_error(Code::not_found,
                        "node " + request.node + " has no GPU " + std::to_string(request.gpu));
    }
    const Sticky sticky = request.sticky ? Sticky::yes : Sticky::no;
    TRY_VOID(apply_fault(state, request.gpu, *fault, sticky));
  }
  if (request.kind == FaultKind::memory_error) {
    TRY_VOID(count_memory_error(paths_.node(request.node) + "/syssystem",
                                request.sticky ? Sticky::yes : Sticky::no));
  }
  TRY_VOID(write_lines(request));
  if (request.kind == FaultKind::none || request.facility == LogFacility::user) return {};
  for (const auto& line : split(request.line, '\n')) {
    // The driver tells NVML's listeners of the same event that it prints.
    if (const int xid = xid_of(line)) TRY_VOID(append_xid_event(state, request.gpu, xid));
  }
  return {};
}

Result<> ControlApi::write_lines(const FaultRequest& request) {
  for (const auto& line : split(request.line, '\n')) {
    if (line.empty()) continue;
    if (request.facility == LogFacility::kernel) {
      TRY_VOID(parts_.kernel_log.append(request.node, static_cast<unsigned>(request.level), line));
    } else {
      TRY_VOID(write_as_user(paths_.kmsg() + "/" + request.node, request.level, line));
    }
  }
  return {};
}

Result<> ControlApi::set_agent(const AgentRequest& request) {
  switch (request.action) {
    case ProcessVerb::start: return parts_.power.signal(request.node, SIGUSR2);
    case ProcessVerb::stop: return parts_.power.signal(request.node, SIGUSR1);
    case ProcessVerb::kill: return parts_.power.signal(request.node, SIGRTMIN);
  }
  return {};
}

void ControlApi::set_daemon(const std::string& body, const net::Reply& reply) {
  DaemonRequest request;
  Result<> done = parse_json(body, request);
  if (done && request.action == ProcessVerb::stop) {
    return parts_.daemon.stop([reply] { reply.send(200, "{}"); });
  }
  if (done) {
    done = request.action == ProcessVerb::start ? parts_.daemon.start() : parts_.daemon.kill_now();
  }
  if (!done) return send_error(reply, done.error());
  reply.send(200, "{}");
}

int ControlApi::pid_of(const std::string& name) const {
  const NodeState* node = parts_.power.find(name);
  if (node != nullptr) return node->phase == NodePhase::running ? node->pid : 0;
  return parts_.fabric.pid_of(name);
}

void ControlApi::run(const std::string& body, const net::Reply& reply) {
  RunRequest request;
  const auto parsed = parse_json(body, request);
  if (!parsed) return send_error(reply, parsed.error());
  const int pid = pid_of(request.node);
  if (pid == 0 || request.argv.empty()) {
    return send_error(
        reply, make_error(Code::conflict, "needs argv and a node that runs: " + request.node));
  }
  process::Command command;
  command.argv = enter_argv(parts_.spec, {request.node, pid, 0, request.argv});
  command.limit = seconds(request.limit_s);
  auto result = std::make_shared<Result<process::Output>>();
  parts_.loop.offload(
      [command, result] { *result = process::run(command); },
      [reply, result] {
        if (!*result) return send_error(reply, result->error());
        const auto& output = **result;
        const RunResponse response{output.exit_code, output.timed_out, output.out, output.err};
        reply.send(200, render_json(response));
      });
}

LabNodeStatus ControlApi::status_of_node(const NodeState& node) const {
  LabNodeStatus out;
  out.name = node.hardware.name;
  out.role = node.hardware.role;
  out.phase = std::string(phase_name(node.phase));
  out.boot_id = node.boot_id;
  out.boots = node.boots;
  if (node.pid != 0) out.host_pid = read_number(paths_.node(out.name) + "/host_pid");
  if (out.host_pid != 0) out.network_path = "/proc/" + std::to_string(out.host_pid) + "/ns/net";
  out.oob_address = node.hardware.oob_address;
  out.bmc_address = node.hardware.bmc_address;
  out.failure = node.failure;
  out.cgroups = node.cgroups;
  out.problems = node.problems;
  return out;
}

LabStatus ControlApi::status() const {
  LabStatus out;
  out.name = parts_.spec.name;
  const auto state = process::read_file(paths_.state_file());
  out.state = state ? std::string(trim(*state)) : "";
  out.supervisor_pid = read_number(paths_.pid_file());
  out.daemon_starts = parts_.daemon.starts();
  out.daemon_running = parts_.daemon.pid() != 0;
  out.daemon_failure = parts_.daemon.failure();
  for (const auto& [name, node] : parts_.power.nodes()) out.nodes.push_back(status_of_node(node));
  out.switches = parts_.fabric.status();
  out.hcas = parts_.fabric.hcas();
  return out;
}

}  // namespace tundish::lab
