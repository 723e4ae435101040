#pragma once
// What one line of a kernel log says, before anyone judges it.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/describe.hpp"

namespace tundish {

/// Who could have written it. Only `kernel`, `probe` and `bmc` cannot be forged by a tenant's root
/// through /dev/kmsg, so resets, RMA and credits ask for one of them.
enum class Provenance { kernel, userspace, probe, engine, bmc };
inline std::span<const std::string_view> enum_names(Provenance) {
  static constexpr std::string_view names[] = {"kernel", "userspace", "probe", "engine", "bmc"};
  return names;
}

enum class KernelEventKind {
  xid,
  sxid,            ///< NVSwitch
  fallen_off_bus,  ///< said in words, without an XID
  amd_fault,
  oom,
  hung_task,
  soft_lockup,
  io_error,
  gpu_identity,  ///< not a fault: binds a PCI address to UUID or board serial
  other_gpu,     ///< the driver names a GPU in words we do not know: shown, never dropped
  hard_lockup,
  rcu_stall,
  kernel_oops,
  server_silent,  ///< a storage server does not answer: NFS, Lustre
  server_back,
  client_evicted,  ///< Lustre: the server gave this client up
  memory_error,    ///< EDAC, MCE, CPER
  pcie_error,      ///< AER
  nic_fault,       ///< power, heat or a refused register of a network adapter
  link_down,
  link_up
};
inline std::span<const std::string_view> enum_names(KernelEventKind) {
  static constexpr std::string_view names[] = {
      "xid",          "sxid",          "fallen_off_bus", "amd_fault",
      "oom",          "hung_task",     "soft_lockup",    "io_error",
      "gpu_identity", "other_gpu",     "hard_lockup",    "rcu_stall",
      "kernel_oops",  "server_silent", "server_back",    "client_evicted",
      "memory_error", "pcie_error",    "nic_fault",      "link_down",
      "link_up"};
  return names;
}

/// The word that the line itself carries; for SXid it outranks every table.
enum class SeverityWord { unstated, fatal, non_fatal };
inline std::span<const std::string_view> enum_names(SeverityWord) {
  static constexpr std::string_view names[] = {"unstated", "fatal", "non_fatal"};
  return names;
}

/// "RST: Yes|No" and "D-RST: Yes|No" of XID 94 and 95.
enum class ResetWord { unstated, no, yes };
inline std::span<const std::string_view> enum_names(ResetWord) {
  static constexpr std::string_view names[] = {"unstated", "no", "yes"};
  return names;
}

/// All texts are printable ASCII: other bytes stand as \xNN, as the kernel itself shows them,
/// because process names are bytes that a tenant chose.
struct KernelEvent {
  KernelEventKind kind = KernelEventKind::other_gpu;
  int code = 0;
  std::string device;
  std::string mig;
  int parent_code = 0;
  SeverityWord severity = SeverityWord::unstated;
  ResetWord reset = ResetWord::unstated;
  ResetWord drain_reset = ResetWord::unstated;
  std::optional<int> recovery_action;
  std::optional<int> link;
  std::vector<std::string> registers;
  std::int64_t pid = 0;
  std::string process;
  bool follow_up = false;
  std::string block_device;
  std::string detail;
  std::string text;
  std::string subject = {};
  bool corrected = false;

  void fields(Fields& f) {
    f(1, "kind", kind, "what the line reports");
    f(2, "code", code, "XID or SXid number; 0 when the line has none that can be read");
    f(3, "device", device, "PCI address as 0000:3b:00; empty when no id could be read");
    f(4, "mig", mig, "MIG instance as written, for example GPU-I:05 or GPU-I:05 GPU-CI:00");
    f(5, "parent_code", parent_code, "XID that caused this one by the line's own words; 0: none");
    f(6, "severity", severity, "the word Fatal or Non-fatal of the line itself");
    f(7, "reset", reset, "RST word of XID 94 and 95");
    f(8, "drain_reset", drain_reset, "D-RST word of XID 94 and 95");
    f(9, "recovery_action", recovery_action,
      "XID 154: 0 none, 1 reset, 2 reboot, 3 drain P2P, 4 drain and reset, 5 recover IMEX");
    f(10, "link", link, "NVLink number; -1 when the driver says that it does not know");
    f(11, "registers", registers, "register words as written, 0x and hex digits");
    f(12, "pid", pid, "process at the time; 0 when unknown");
    f(13, "process", process,
      "its name: chosen by the tenant, cut at the first comma, no evidence");
    f(14, "follow_up", follow_up, "adds data to the event before it; not a second fault");
    f(15, "block_device", block_device, "io_error: the disk or file system, for example nvme0n1");
    f(16, "detail", detail, "the text after the code");
    f(17, "text", text, "the whole record");
    f(18, "subject", subject, "storage server, interface, CPU list or memory controller it names");
    f(19, "corrected", corrected, "memory_error, pcie_error: the hardware repaired it");
  }
};

}  // namespace tundish
