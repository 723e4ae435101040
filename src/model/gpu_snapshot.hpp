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
