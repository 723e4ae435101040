#pragma once
// What the driver says of a node's GPUs at one moment. Absent means "not answered", never zero.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/describe.hpp"

namespace tundish {

struct GpuReading {
  std::int64_t index = 0;
  std::optional<std::string> uuid;
  std::optional<std::string> serial;
  std::optional<std::string> name;
  std::optional<std::string> pci;
  std::optional<bool> lost;
  std::optional<std::int64_t> nvml_error;
  std::optional<std::int64_t> ecc_uncorrected;
  std::optional<std::int64_t> ecc_corrected;
  std::optional<bool> remap_pending;
  std::optional<bool> remap_failure;
  std::optional<std::int64_t> recovery_action;
  std::optional<std::int64_t> temperature_c;
  std::optional<std::int64_t> power_w;
  std::optional<std::int64_t> utilization_percent;
  std::optional<std::int64_t> ecc_uncorrected_life = {};
  std::optional<std::int64_t> remapped_uncorrected = {};
  std::optional<std::int64_t> remapped_corrected = {};
  std::optional<std::int64_t> retired_pages = {};
  std::optional<bool> retired_pending = {};
  std::optional<bool> inforom_valid = {};
  std::vector<std::int64_t> nvlinks = {};
  std::optional<std::int64_t> fabric_state = {};
  std::optional<std::int64_t> fabric_status = {};
  std::optional<std::string> fabric_uuid = {};
  std::optional<std::int64_t> fabric_clique = {};
  std::optional<std::int64_t> pcie_gen = {};
  std::optional<std::int64_t> pcie_width = {};
  std::optional<std::int64_t> pcie_replays = {};
  std::optional<std::int64_t> nvlink_crc = {};
  std::optional<std::int64_t> nvlink_replays = {};
  std::optional<std::int64_t> nvlink_recoveries = {};
  std::optional<std::int64_t> slowdown_c = {};
  std::optional<std::int64_t> memory_c = {};
  std::optional<std::int64_t> throttle = {};
  std::optional<std::int64_t> clock_mhz = {};
  std::optional<std::int64_t> clock_most_mhz = {};
  std::optional<std::int64_t> power_limit_w = {};
  std::optional<bool> persistence = {};
  std::optional<bool> ecc_on = {};
  std::optional<bool> mig_on = {};
  std::optional<std::string> gsp_firmware = {};
  std::optional<std::int64_t> memory_mib = {};
  std::optional<std::int64_t> memory_used_mib = {};
  std::optional<std::vector<std::int64_t>> processes = {};

  void fields(Fields& f) {
    f(1, "index", index, "Position in the driver's list; changes when GPUs come or go");
    f(2, "uuid", uuid, "Identity of the GPU; for a lost one, known from an earlier reading");
    f(3, "serial", serial, "Serial number of the board");
    f(4, "name", name, "Product name");
    f(5, "pci", pci, "PCI address as 0000:3b:00, without function");
    f(6, "lost", lost, "The driver says that the GPU has fallen off the bus");
    f(7, "nvml_error", nvml_error, "First NVML code other than not supported; 999 is unknown");
    f(8, "ecc_uncorrected", ecc_uncorrected, "Uncorrected memory errors since the driver loaded");
    f(9, "ecc_corrected", ecc_corrected, "Corrected memory errors since the driver loaded");
    f(10, "remap_pending", remap_pending, "A row is remapped at the next reset");
    f(11, "remap_failure", remap_failure, "A row could not be remapped: return the board");
    f(12, "recovery_action", recovery_action,
      "NVML field 230: 0 none, 1 reset, 2 reboot, 3 drain P2P, 4 drain and reset");
    f(13, "temperature_c", temperature_c, "Temperature of the GPU, degrees Celsius");
    f(14, "power_w", power_w, "Power drawn, watts");
    f(15, "utilization_percent", utilization_percent, "Share of time with a kernel running");
    f(16, "ecc_uncorrected_life", ecc_uncorrected_life, "Uncorrected errors in the board's life");
    f(17, "remapped_uncorrected", remapped_uncorrected, "Rows remapped for uncorrected errors");
    f(18, "remapped_corrected", remapped_corrected, "Rows remapped for corrected errors");
    f(19, "retired_pages", retired_pages, "Retired pages, before Ampere");
    f(20, "retired_pending", retired_pending, "A page is retired at the next reset");
    f(21, "inforom_valid", inforom_valid, "The board's own memory of itself has its checksum");
    f(22, "nvlinks", nvlinks, "State of each link from 0: 1 up, 0 down; empty: not told");
    f(23, "fabric_state", fabric_state, "0 not supported, 1 not started, 2 in progress, 3 done");
    f(24, "fabric_status", fabric_status, "NVML code of the fabric's registration; 0 success");
    f(25, "fabric_uuid", fabric_uuid, "Cluster UUID, 32 hex digits");
    f(26, "fabric_clique", fabric_clique, "Clique id; 0 outside a partition of a large domain");
    f(27, "pcie_gen", pcie_gen, "Current PCIe generation");
    f(28, "pcie_width", pcie_width, "Current PCIe lanes");
    f(29, "pcie_replays", pcie_replays, "PCIe replay counter");
    f(30, "nvlink_crc", nvlink_crc, "CRC errors of all links");
    f(31, "nvlink_replays", nvlink_replays, "Replays of all links");
    f(32, "nvlink_recoveries", nvlink_recoveries, "Recoveries of all links");
    f(33, "slowdown_c", slowdown_c, "Temperature at which it slows down, degrees Celsius");
    f(34, "memory_c", memory_c, "Temperature of its memory, degrees Celsius");
    f(35, "throttle", throttle, "Clocks event reasons, a bit mask");
    f(36, "clock_mhz", clock_mhz, "SM clock, MHz");
    f(37, "clock_most_mhz", clock_most_mhz, "Highest SM clock, MHz");
    f(38, "power_limit_w", power_limit_w, "Power limit in force, watts");
    f(39, "persistence", persistence, "Persistence mode is on");
    f(40, "ecc_on", ecc_on, "ECC is on");
    f(41, "mig_on", mig_on, "MIG is on");
    f(42, "gsp_firmware", gsp_firmware, "Version of the GSP firmware");
    f(43, "memory_mib", memory_mib, "Memory, MiB");
    f(44, "memory_used_mib", memory_used_mib, "Memory in use, MiB");
    f(45, "processes", processes, "Process ids with a compute context");
  }
};

struct GpuSnapshot {
  std::optional<std::string> driver_version;
  std::vector<GpuReading> gpus;

  void fields(Fields& f) {
    f(1, "driver_version", driver_version, "Version of the GPU driver");
    f(2, "gpus", gpus, "One reading per GPU that the driver counts, lost ones included");
  }
};

}  // namespace tundish
