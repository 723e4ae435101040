#pragma once
// What travels over the lab's control socket.
#include <string>
#include <vector>

#include "base/describe.hpp"

namespace tundish::lab {

struct LabNodeStatus {
  std::string name;
  std::string role;
  std::string phase;  ///< off, post, booting, running, stopping, failed
  std::string boot_id;
  int boots = 0;
  int host_pid = 0;          ///< of node-init, in the machine's pid namespace; 0 when off
  std::string network_path;  ///< /proc/<host_pid>/ns/net
  std::string oob_address;
  std::string bmc_address;
  std::string failure;
  std::vector<std::string> cgroups;
  std::vector<std::string> problems;

  void fields(Fields& f);
};

struct LabSwitchStatus {
  std::string name;
  std::string role;   ///< leaf, spine, manager or storage
  std::string phase;  ///< off, booting, running, slow, frozen, failed
  int starts = 0;
  int host_pid = 0;          ///< its process 1, in the machine's pid namespace; 0 when off
  std::string network_path;  ///< of its underlay: /proc/<host_pid>/ns/net
  std::string management_address;
  std::string loopback;
  std::string failure;
  std::vector<std::string> cut;  ///< ports whose cable is cut

  void fields(Fields& f);
};

/// An InfiniBand port of a node, as it was last seen in the simulated fabric.
struct LabHcaStatus {
  std::string node;
  std::string name;     ///< mlx5_0
  std::string guid;     ///< of the port
  std::string plugged;  ///< ibleaf1/3
  std::string link;     ///< down, init, armed or active
  int lid = 0;
  std::vector<std::string> pkeys;  ///< without empty entries
  bool cut = false;                ///< its cable

  void fields(Fields& f);
};

struct LabStatus {
  std::string name;
  std::string state;       ///< starting, ready, stopped, failed: REASON
  int supervisor_pid = 0;  ///< in the machine's pid namespace; 0 when it does not run
  int daemon_starts = 0;
  bool daemon_running = false;
  std::string daemon_failure;  ///< why it does not stay up; empty: it does
  std::vector<LabNodeStatus> nodes;
  std::vector<LabSwitchStatus> switches;
  std::vector<LabHcaStatus> hcas;

  void fields(Fields& f);
};

enum class FaultKind {
  none,
  lost,
  ecc_uncorrected,
  gsp,
  row_remap_failure,
  row_remap_pending,
  nvlink_down,
  throttle,
  fabric_lost,
  driver_hang,
  memory_error  ///< of the node's own memory: its controller counts it
};
std::span<const std::string_view> enum_names(FaultKind);
enum class LogFacility { kernel, user };
std::span<const std::string_view> enum_names(LogFacility);

struct FaultRequest {
  std::string node;
  int gpu = 0;
  FaultKind kind = FaultKind::none;
  bool sticky = false;
  std::string line;  ///< text of kernel log records, one per line; empty: none
  int level = 4;
  LogFacility facility = LogFacility::kernel;

  void fields(Fields& f);
};

enum class PowerVerb { on, off, graceful_shutdown, restart, graceful_restart, cycle };
std::span<const std::string_view> enum_names(PowerVerb);
struct PowerRequest {
  std::string node;
  PowerVerb action = PowerVerb::on;

  void fields(Fields& f);
};

enum class ProcessVerb { start, stop, kill };
std::span<const std::string_view> enum_names(ProcessVerb);
struct AgentRequest {
  std::string node;
  ProcessVerb action = ProcessVerb::start;

  void fields(Fields& f);
};
struct DaemonRequest {
  ProcessVerb action = ProcessVerb::start;

  void fields(Fields& f);
};

enum class CableVerb { down, up };
std::span<const std::string_view> enum_names(CableVerb);
struct NetworkRequest {
  std::string node;
  CableVerb oob = CableVerb::up;

  void fields(Fields& f);
};

enum class BmcVerb { normal, ignore, late };
std::span<const std::string_view> enum_names(BmcVerb);
struct BmcRequest {
  std::string node;
  BmcVerb mode = BmcVerb::normal;
  int delay_ms = 3000;

  void fields(Fields& f);
};

enum class LeakLevel { dry, warning, critical, unavailable };
std::span<const std::string_view> enum_names(LeakLevel);
/// What a detector of leaks at the node's BMC shows.
struct LeakRequest {
  std::string node;
  std::string detector = "ColdPlate";
  LeakLevel level = LeakLevel::critical;

  void fields(Fields& f);
};

enum class SwitchVerb { on, off, freeze, thaw };
std::span<const std::string_view> enum_names(SwitchVerb);
struct SwitchRequest {
  std::string name;
  SwitchVerb action = SwitchVerb::on;

  void fields(Fields& f);
};

enum class StorageVerb { slow, hang, mend };
std::span<const std::string_view> enum_names(StorageVerb);
/// The storage server of an frr lab, as its clients see it.
struct StorageRequest {
  StorageVerb action = StorageVerb::hang;
  int delay_ms = 500;  ///< of slow: between moments in which it answers a little. Unit: ms

  void fields(Fields& f);
};

enum class CableFault { cut, mend, flap };
std::span<const std::string_view> enum_names(CableFault);
struct CableRequest {
  std::string port;  ///< leaf1/swp3, leaf1/up2, n01/eth0, n01/mlx5_0, ibleaf1/3
  CableFault action = CableFault::cut;

  void fields(Fields& f);
};

/// The cables of two ports of leaves change places.
struct SwapRequest {
  std::string port;
  std::string other;

  void fields(Fields& f);
};

struct RunRequest {
  std::string node;  ///< or a switch
  std::vector<std::string> argv;
  int limit_s = 30;

  void fields(Fields& f);
};
struct RunResponse {
  int exit_code = -1;
  bool timed_out = false;
  std::string out;
  std::string err;

  void fields(Fields& f);
};

}  // namespace tundish::lab
