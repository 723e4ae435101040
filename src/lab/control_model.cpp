#include "lab/control_model.hpp"

namespace tundish::lab {

std::span<const std::string_view> enum_names(FaultKind) {
  static constexpr std::string_view names[] = {
      "none",        "lost",     "ecc_uncorrected", "gsp", "row_remap_failure", "row_remap_pending",
      "nvlink_down", "throttle", "fabric_lost", "driver_hang",
      "memory_error"};
  return names;
}

std::span<const std::string_view> enum_names(LogFacility) {
  static constexpr std::string_view names[] = {"kernel", "user"};
  return names;
}

std::span<const std::string_view> enum_names(PowerVerb) {
  static constexpr std::string_view names[] = {
      "on", "off", "graceful_shutdown", "restart", "graceful_restart", "cycle"};
  return names;
}

std::span<const std::string_view> enum_names(ProcessVerb) {
  static constexpr std::string_view names[] = {"start", "stop", "kill"};
  return names;
}

std::span<const std::string_view> enum_names(CableVerb) {
  static constexpr std::string_view names[] = {"down", "up"};
  return names;
}

std::span<const std::string_view> enum_names(BmcVerb) {
  static constexpr std::string_view names[] = {"normal", "ignore", "late"};
  return names;
}

std::span<const std::string_view> enum_names(SwitchVerb) {
  static constexpr std::string_view names[] = {"on", "off", "freeze", "thaw"};
  return names;
}

std::span<const std::string_view> enum_names(StorageVerb) {
  static constexpr std::string_view names[] = {"slow", "hang", "mend"};
  return names;
}

std::span<const std::string_view> enum_names(CableFault) {
  static constexpr std::string_view names[] = {"cut", "mend", "flap"};
  return names;
}

void LabNodeStatus::fields(Fields& f) {
  f(1, "name", name, "Name of the node.");
  f(2, "role", role, "gpu, service or login.");
  f(3, "phase", phase, "off, post, booting, running, stopping or failed.");
  f(4, "boot_id", boot_id, "Boot id of the newest boot.");
  f(5, "boots", boots, "Number of boots in this lab.");
  f(6, "host_pid", host_pid, "Process 1 of the node as the machine counts it.");
  f(7, "network_path", network_path, "File of its network namespace.");
  f(8, "oob_address", oob_address, "Address on the out-of-band network.");
  f(9, "bmc_address", bmc_address, "Address of its BMC.");
  f(10, "failure", failure, "Why the last boot failed.");
  f(11, "cgroups", cgroups, "Control groups that it is in.");
  f(12, "problems", problems, "What this machine did not let the lab set.");
}

void LabStatus::fields(Fields& f) {
  f(1, "name", name, "Name of the lab.");
  f(2, "state", state, "starting, ready, stopped or failed.");
  f(3, "supervisor_pid", supervisor_pid, "Process 1 of the lab as the machine counts it.");
  f(4, "daemon_starts", daemon_starts, "How often tundishd was started.");
  f(5, "daemon_running", daemon_running, "Whether tundishd runs.");
  f(6, "nodes", nodes, "Nodes.");
  f(7, "switches", switches, "Switches of an frr fabric, its manager and its storage.");
  f(8, "hcas", hcas, "InfiniBand ports of its nodes.");
  f(9, "daemon_failure", daemon_failure,
    "Last line of tundishd when it does not stay up; empty: it stays.");
}

void LabSwitchStatus::fields(Fields& f) {
  f(1, "name", name, "Name of the switch.");
  f(2, "role", role, "leaf, spine, manager or storage.");
  f(3, "phase", phase, "off, booting, running, slow, frozen or failed.");
  f(4, "starts", starts, "Number of starts in this lab.");
  f(5, "host_pid", host_pid, "Process 1 of the switch as the machine counts it.");
  f(6, "network_path", network_path, "File of the network namespace of its underlay.");
  f(7, "management_address", management_address, "Address of its sshd.");
  f(8, "loopback", loopback, "Router id; of a leaf also the tunnel end.");
  f(9, "failure", failure, "Why the last start failed.");
  f(10, "cut", cut, "Ports whose cable is cut.");
}

void LabHcaStatus::fields(Fields& f) {
  f(1, "node", node, "Node.");
  f(2, "name", name, "Name inside the node.");
  f(3, "guid", guid, "GUID of the port.");
  f(4, "plugged", plugged, "Port of a switch that it is plugged into.");
  f(5, "link", link, "down, init, armed or active.");
  f(6, "lid", lid, "Local identifier; 0: none yet.");
  f(7, "pkeys", pkeys, "PKey table without empty entries.");
  f(8, "cut", cut, "Whether its cable is cut.");
}

void SwitchRequest::fields(Fields& f) {
  f(1, "name", name, "Switch.");
  f(2, "action", action, "What happens to it.");
}

void StorageRequest::fields(Fields& f) {
  f(1, "action", action, "What happens to the storage server.");
  f(2, "delay_ms", delay_ms, "Of a slow server: between moments in which it answers. Unit: ms.");
}

void CableRequest::fields(Fields& f) {
  f(1, "port", port, "SWITCH/PORT or NODE/INTERFACE at an end of the cable.");
  f(2, "action", action, "What happens to the cable.");
}

void SwapRequest::fields(Fields& f) {
  f(1, "port", port, "LEAF/PORT or NODE/INTERFACE of one cable.");
  f(2, "other", other, "The same of the other cable.");
}

void FaultRequest::fields(Fields& f) {
  f(1, "node", node, "Node.");
  f(2, "gpu", gpu, "Index of the GPU.");
  f(3, "kind", kind, "What happens to the GPU.");
  f(4, "sticky", sticky, "Whether no reset or boot cures it.");
  f(5, "line", line, "Kernel log records, one per line.");
  f(6, "level", level, "Level of the records, 0 to 7.");
  f(7, "facility", facility, "Who writes the records.");
}

void PowerRequest::fields(Fields& f) {
  f(1, "node", node, "Node.");
  f(2, "action", action, "What to do.");
}

void AgentRequest::fields(Fields& f) {
  f(1, "node", node, "Node.");
  f(2, "action", action, "What to do with its agent.");
}

void DaemonRequest::fields(Fields& f) { f(1, "action", action, "What to do with tundishd."); }

void NetworkRequest::fields(Fields& f) {
  f(1, "node", node, "Node.");
  f(2, "oob", oob, "Whether its out-of-band cable is plugged.");
}

void BmcRequest::fields(Fields& f) {
  f(1, "node", node, "Node.");
  f(2, "mode", mode, "How its BMC answers a reset.");
  f(3, "delay_ms", delay_ms, "Delay of a late answer. Unit: ms.");
}

std::span<const std::string_view> enum_names(LeakLevel) {
  static constexpr std::string_view names[] = {"dry", "warning", "critical", "unavailable"};
  return names;
}

void LeakRequest::fields(Fields& f) {
  f(1, "node", node, "Node.");
  f(2, "detector", detector, "Detector of leaks: ColdPlate or Manifold.");
  f(3, "level", level, "What it shows: dry, warning, critical or unavailable.");
}

void RunRequest::fields(Fields& f) {
  f(1, "node", node, "Node.");
  f(2, "argv", argv, "Program and arguments.");
  f(3, "limit_s", limit_s, "Deadline. Unit: s.");
}

void RunResponse::fields(Fields& f) {
  f(1, "exit_code", exit_code, "Exit status; -1 when a signal ended it.");
  f(2, "timed_out", timed_out, "Whether the deadline ended it.");
  f(3, "out", out, "Standard output.");
  f(4, "err", err, "Standard error.");
}

}  // namespace tundish::lab
