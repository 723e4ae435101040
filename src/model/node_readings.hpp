#pragma once
// What a node's kernel shows of its parts at one moment. Absent means "not told", never zero.
#include <optional>
#include <string>
#include <vector>

#include "base/describe.hpp"

namespace tundish {

/// A GPU, HCA or NVMe drive on the PCI bus.
struct PciReading {
  std::string address;
  std::string vendor;
  std::string device;
  std::string pci_class;
  bool config_gone = false;
  std::optional<std::int64_t> speed_mt;
  std::optional<std::int64_t> speed_max_mt;
  std::optional<std::int64_t> width;
  std::optional<std::int64_t> width_max;
  std::optional<bool> acs_redirects;
  void fields(Fields& f) {
    f(1, "address", address, "PCI address as 0000:3b:00, without function");
    f(2, "vendor", vendor, "four hex digits");
    f(3, "device", device, "four hex digits");
    f(4, "pci_class", pci_class, "six hex digits");
    f(5, "config_gone", config_gone, "its configuration reads as all ones: it does not answer");
    f(6, "speed_mt", speed_mt, "current link speed, 10^6 transfers per second");
    f(7, "speed_max_mt", speed_max_mt, "highest link speed of the device");
    f(8, "width", width, "current lanes");
    f(9, "width_max", width_max, "lanes of the device");
    f(10, "acs_redirects", acs_redirects, "a bridge above it sends peer traffic to the CPU");
  }
};

struct NetReading {
  std::string name;
  std::string mac;
  std::string operstate;
  std::optional<std::int64_t> speed_mbit;
  void fields(Fields& f) {
    f(1, "name", name, "interface");
    f(2, "mac", mac, "lower-case colon notation");
    f(3, "operstate", operstate, "up, down, lowerlayerdown, unknown ...");
    f(4, "speed_mbit", speed_mbit, "10^6 bit per second; absent: no link or not told");
  }
};

/// Space of one file system.
struct DiskReading {
  std::string target;
  std::int64_t size_mib = 0;
  std::int64_t free_mib = 0;
  std::int64_t inodes = 0;
  std::int64_t inodes_free = 0;
  std::string fault;
  void fields(Fields& f) {
    f(1, "target", target, "mount point");
    f(2, "size_mib", size_mib, "MiB");
    f(3, "free_mib", free_mib, "MiB, free for everybody");
    f(4, "inodes", inodes, "0: it does not count them");
    f(5, "inodes_free", inodes_free, "free inodes");
    f(6, "fault", fault, "why it could not be asked; hung is told here");
  }
};

struct MountReading {
  std::string target;
  std::string type;
  std::string device;
  bool read_only = false;
  void fields(Fields& f) {
    f(1, "target", target, "mount point");
    f(2, "type", type, "file system");
    f(3, "device", device, "what is mounted");
    f(4, "read_only", read_only, "mounted, or turned by the kernel, read-only");
  }
};

struct ArrayReading {
  std::string name;
  std::string state;
  std::int64_t degraded = 0;
  std::string action;
  void fields(Fields& f) {
    f(1, "name", name, "for example md0");
    f(2, "state", state, "array_state");
    f(3, "degraded", degraded, "missing members");
    f(4, "action", action, "sync_action");
  }
};

struct NvmeReading {
  std::string name;
  std::string state;
  std::optional<std::int64_t> critical_warning;
  std::optional<std::int64_t> spare_percent;
  std::optional<std::int64_t> spare_threshold_percent;
  std::optional<std::int64_t> used_percent;
  std::optional<std::int64_t> media_errors;
  void fields(Fields& f) {
    // Source: NVM Express base specification 1.4, section 5.14.1.2; checked 2026-11
    f(1, "name", name, "controller, for example nvme0");
    f(2, "state", state, "live, resetting, dead ...");
    f(3, "critical_warning", critical_warning, "bits of the health log");
    f(4, "spare_percent", spare_percent, "spare left");
    f(5, "spare_threshold_percent", spare_threshold_percent, "spare below which it warns");
    f(6, "used_percent", used_percent, "of its rated life; may exceed 100");
    f(7, "media_errors", media_errors, "unrecovered data errors in its life");
  }
};

/// A task that waits in the kernel and cannot be killed.
struct StuckTask {
  std::int64_t pid = 0;
  std::string name;
  std::string wait_channel;
  std::int64_t seconds = 0;
  void fields(Fields& f) {
    f(1, "pid", pid, "process");
    f(2, "name", name, "chosen by its owner, no evidence");
    f(3, "wait_channel", wait_channel, "kernel function that it waits in");
    f(4, "seconds", seconds, "seen waiting there at every look for so long");
  }
};

struct ProcessCounts {
  std::int64_t files = 0;
  std::int64_t files_most = 0;
  std::int64_t tasks = 0;
  std::int64_t tasks_most = 0;
  std::int64_t zombies = 0;
  std::vector<StuckTask> stuck;
  void fields(Fields& f) {
    f(1, "files", files, "open files of the node");
    f(2, "files_most", files_most, "most that it allows");
    f(3, "tasks", tasks, "threads of the node");
    f(4, "tasks_most", tasks_most, "most that it allows");
    f(5, "zombies", zombies, "ended and not collected");
    f(6, "stuck", stuck, "uninterruptible, and at the look before as well");
  }
};

struct CpuReading {
  std::int64_t cpus = 0;
  std::int64_t sockets = 0;
  std::int64_t memory_nodes = 0;
  std::int64_t memory_mib = 0;
  void fields(Fields& f) {
    f(1, "cpus", cpus, "CPUs online");
    f(2, "sockets", sockets, "CPU packages");
    f(3, "memory_nodes", memory_nodes, "NUMA nodes");
    f(4, "memory_mib", memory_mib, "MiB that the kernel has");
  }
};

struct ClockReading {
  bool synchronised = false;
  std::int64_t error_us = 0;
  std::int64_t offset_us = 0;
  void fields(Fields& f) {
    f(1, "synchronised", synchronised, "the kernel says that somebody disciplines the clock");
    f(2, "error_us", error_us, "most that it may be wrong, microseconds");
    f(3, "offset_us", offset_us, "correction in progress, microseconds, either sign as distance");
  }
};

struct ServiceReading {
  std::string name;
  bool running = false;
  std::string state;
  void fields(Fields& f) {
    f(1, "name", name, "process name of the daemon");
    f(2, "running", running, "a process of that name lives and is no zombie");
    f(3, "state", state, "letter of /proc/PID/stat; D and T run, and do nothing");
  }
};

struct SensorReading {
  std::string chip;
  std::string label;
  std::int64_t celsius = 0;
  std::optional<std::int64_t> critical;
  void fields(Fields& f) {
    f(1, "chip", chip, "hwmon device, for example coretemp");
    f(2, "label", label, "for example Package id 0");
    f(3, "celsius", celsius, "degrees");
    f(4, "critical", critical, "the chip's own limit");
  }
};

/// A detector of leaks as the node's BMC shows it, in the words of its schema.
/// Source: DMTF DSP0268 2025.4, LeakDetector 1.6; checked 2026-11
struct LeakDetector {
  std::string name;
  std::string type;
  std::string state;
  std::string presence;
  std::string health;
  std::string place;
  void fields(Fields& f) {
    f(1, "name", name, "chassis/detector, as their Ids say");
    f(2, "type", type, "Moisture or FloatSwitch; empty: not told");
    f(3, "state", state, "DetectorState: OK, Warning, Critical, Unavailable; empty: not told");
    f(4, "presence", presence, "State of its Status: Enabled, Absent, Disabled ...");
    f(5, "health", health, "Health of its Status: of the detector, not of what it watches");
    f(6, "place", place, "where it sits, as the BMC says");
  }
};

/// A storage server as this node's client sees it.
struct StorageClient {
  std::string target;
  std::string type;
  std::string state;
  void fields(Fields& f) {
    f(1, "target", target, "name or address of the storage");
    f(2, "type", type, "nfs or lustre");
    f(3, "state", state, "FULL, DISCONN, EVICTED ... (lustre import), mounted (nfs)");
  }
};

}  // namespace tundish
