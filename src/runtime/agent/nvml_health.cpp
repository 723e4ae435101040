#include <array>

#include "base/text.hpp"
#include "runtime/agent/nvml_device.hpp"

namespace tundish {
namespace {

constexpr unsigned most_links = 18;  ///< NVML_NVLINK_MAX_LINKS of API 12
constexpr unsigned most_processes = 128;
constexpr std::int64_t mebibyte = 1 << 20;

void read_memory_life(NvmlDevice& device, GpuReading& out) {
  unsigned long long count = 0;
  if (device.may_ask("nvmlDeviceGetTotalEccErrors", nvml::error_uncorrected, nvml::since_made,
                     &count)) {
    out.ecc_uncorrected_life = static_cast<std::int64_t>(count);
  }
  unsigned corrected = 0, uncorrected = 0, pending = 0, failure = 0;
  if (device.may_ask("nvmlDeviceGetRemappedRows", &corrected, &uncorrected, &pending, &failure)) {
    out.remapped_corrected = corrected;
    out.remapped_uncorrected = uncorrected;
  }
  std::int64_t pages = 0;
  bool told = false;
  for (const int cause : {nvml::page_single_bit, nvml::page_double_bit}) {
    unsigned number = 0;
    unsigned long long* const none = nullptr;
    const auto result = device.code_of("nvmlDeviceGetRetiredPages", cause, &number, none);
    told = told || result == nvml::success || result == nvml::insufficient_size;
    pages += number;
  }
  if (told) out.retired_pages = pages;
  int waits = 0;
  if (told && device.may_ask("nvmlDeviceGetRetiredPagesPendingStatus", &waits)) {
    out.retired_pending = waits != 0;
  }
  nvml::Memory memory{};
  if (device.may_ask("nvmlDeviceGetMemoryInfo", &memory)) {
    out.memory_mib = static_cast<std::int64_t>(memory.total) / mebibyte;
    out.memory_used_mib = static_cast<std::int64_t>(memory.used) / mebibyte;
  }
}

void read_modes(NvmlDevice& device, GpuReading& out) {
  const auto inforom = device.code_of("nvmlDeviceValidateInforom");
  if (inforom == nvml::success) out.inforom_valid = true;
  if (inforom == nvml::corrupted_inforom) out.inforom_valid = false;
  int current = 0;
  int pending = 0;
  if (device.may_ask("nvmlDeviceGetPersistenceMode", &current)) {
    out.persistence = current == nvml::enabled;
  }
  if (device.may_ask("nvmlDeviceGetEccMode", &current, &pending)) {
    out.ecc_on = current == nvml::enabled;
  }
  unsigned mig = 0;
  unsigned mig_pending = 0;
  if (device.may_ask("nvmlDeviceGetMigMode", &mig, &mig_pending)) out.mig_on = mig != 0;
  std::array<char, nvml::short_text> text{};
  if (device.may_ask("nvmlDeviceGetGspFirmwareVersion", text.data()))
    out.gsp_firmware = text.data();
}

/// Counters of all links; each may be absent by itself.
void read_fields(NvmlDevice& device, GpuReading& out) {
  std::array<nvml::FieldValue, 5> values{};
  constexpr unsigned ids[] = {nvml::field_nvlink_flit_crc, nvml::field_nvlink_data_crc,
                              nvml::field_nvlink_replay, nvml::field_nvlink_recovery,
                              nvml::field_memory_temperature};
  for (std::size_t i = 0; i < values.size(); ++i) values[i].field = ids[i];
  const int count = static_cast<int>(values.size());
  if (!device.may_ask("nvmlDeviceGetFieldValues", count, values.data())) return;
  const auto number = [&](std::size_t i) -> std::optional<std::int64_t> {
    if (values[i].result != nvml::success) return std::nullopt;
    if (values[i].value_type == nvml::value_is_unsigned) return values[i].value.as_unsigned;
    return static_cast<std::int64_t>(values[i].value.as_unsigned_long_long);
  };
  const auto flit = number(0);
  const auto data = number(1);
  if (flit || data) out.nvlink_crc = flit.value_or(0) + data.value_or(0);
  out.nvlink_replays = number(2);
  out.nvlink_recoveries = number(3);
  out.memory_c = number(4);
}

void read_links(NvmlDevice& device, GpuReading& out) {
  for (unsigned link = 0; link < most_links; ++link) {
    int active = 0;
    if (!device.may_ask("nvmlDeviceGetNvLinkState", link, &active)) break;
    out.nvlinks.push_back(active == nvml::enabled ? 1 : 0);
  }
  unsigned number = 0;
  if (device.may_ask("nvmlDeviceGetCurrPcieLinkGeneration", &number)) out.pcie_gen = number;
  if (device.may_ask("nvmlDeviceGetCurrPcieLinkWidth", &number)) out.pcie_width = number;
  if (device.may_ask("nvmlDeviceGetPcieReplayCounter", &number)) out.pcie_replays = number;
  nvml::FabricInfo fabric{};
  fabric.version = sizeof(nvml::FabricInfo) | 2u << 24;
  if (device.may_ask("nvmlDeviceGetGpuFabricInfoV", &fabric)) {
    out.fabric_state = fabric.state;
    out.fabric_status = fabric.status;
    out.fabric_clique = fabric.clique;
    out.fabric_uuid = render_hex(
        {reinterpret_cast<const char*>(fabric.cluster_uuid), sizeof fabric.cluster_uuid});
  }
}

void read_speed(NvmlDevice& device, GpuReading& out) {
  unsigned number = 0;
  if (device.may_ask("nvmlDeviceGetTemperatureThreshold", nvml::threshold_slowdown, &number)) {
    out.slowdown_c = number;
  }
  unsigned long long reasons = 0;
  if (device.may_ask("nvmlDeviceGetCurrentClocksEventReasons", &reasons) ||
      device.may_ask("nvmlDeviceGetCurrentClocksThrottleReasons", &reasons)) {
    out.throttle = static_cast<std::int64_t>(reasons);
  }
  if (device.may_ask("nvmlDeviceGetClockInfo", nvml::clock_sm, &number)) out.clock_mhz = number;
  if (device.may_ask("nvmlDeviceGetMaxClockInfo", nvml::clock_sm, &number)) {
    out.clock_most_mhz = number;
  }
  if (device.may_ask("nvmlDeviceGetEnforcedPowerLimit", &number)) {
    out.power_limit_w = number / 1000;  // milliwatts
  }
}

void read_processes(NvmlDevice& device, GpuReading& out) {
  std::array<nvml::ProcessInfo, most_processes> processes{};
  unsigned count = most_processes;
  if (!device.may_ask("nvmlDeviceGetComputeRunningProcesses_v3", &count, processes.data())) return;
  out.processes.emplace();
  for (unsigned i = 0; i < count && i < most_processes; ++i) {
    out.processes->push_back(processes[i].pid);
  }
}

}  // namespace

void read_gpu_health(NvmlDevice& device, GpuReading& out) {
  read_memory_life(device, out);
  read_modes(device, out);
  read_fields(device, out);
  read_links(device, out);
  read_speed(device, out);
  read_processes(device, out);
}

}  // namespace tundish
