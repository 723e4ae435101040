#pragma once
// What a node is to have: checks compare with it, and setting up a node makes it so.
#include <optional>
#include <string>
#include <vector>

#include "base/describe.hpp"

namespace tundish {

struct ExportMount {
  std::string source;
  std::string target;
  std::string type;
  void fields(Fields& f) {
    f(1, "source", source, "server:/path, EXPORT@server:/path for sshfs, a folder for type bind");
    f(2, "target", target, "mount point below /home or /data");
    f(3, "type", type, "nfs, sshfs, or bind where the storage is a folder (lab)");
  }
};

struct ExpectedGpu {
  std::string uuid;
  std::string serial;
  void fields(Fields& f) {
    f(1, "uuid", uuid, "NVML UUID on record; empty: any");
    f(2, "serial", serial, "board serial on record; empty: any");
  }
};

/// What the inventory says the node has: checks compare with it, never with "what I see now".
struct Expectation {
  int gpu_count = 0;
  std::vector<ExpectedGpu> gpus;
  std::vector<std::string> nic_macs;
  int hca_count = 0;
  std::string serial;
  std::vector<ExportMount> exports;
  std::string gpu_model = {};
  int cpus = 0;
  int sockets = 0;
  std::int64_t memory_mib = 0;
  std::optional<std::vector<int>> pkeys = {};
  std::vector<std::string> services = {};
  bool in_use = false;
  std::string driver_version = {};
  std::string nic_firmware = {};
  int hca_gbit = 0;
  void fields(Fields& f) {
    f(1, "gpu_count", gpu_count, "from the SKU");
    f(2, "gpus", gpus, "on record; empty before the first inspection");
    f(3, "nic_macs", nic_macs, "declared");
    f(4, "hca_count", hca_count, "from the SKU");
    f(5, "serial", serial, "declared chassis serial");
    f(6, "exports", exports, "storage that must be usable; none while the node is in no cluster");
    f(7, "gpu_model", gpu_model, "NVML product name, from the SKU; empty: not declared");
    f(8, "cpus", cpus, "from the SKU; 0: not declared");
    f(9, "sockets", sockets, "from the SKU; 0: not declared");
    f(10, "memory_mib", memory_mib, "from the SKU; 0: not declared");
    f(11, "pkeys", pkeys, "partitions of the tenant, sorted; absent: nobody manages them");
    f(12, "services", services, "daemons that must run");
    f(13, "in_use", in_use, "an allocation holds the node: work on it is nobody's leftover");
    f(14, "driver_version", driver_version, "GPU driver; empty: not declared");
    f(15, "nic_firmware", nic_firmware, "firmware of the HCAs; empty: not declared");
    f(16, "hca_gbit", hca_gbit, "Gb/s of one HCA port; 0: not declared");
  }
};

}  // namespace tundish
