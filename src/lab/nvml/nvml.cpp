// The driver's libnvidia-ml.so.1 of a simulated node: NVML's C interface over the GPU state file.
// What is above it (agent, checks) is the shipped code.
//
// A lost GPU stays in nvmlDeviceGetCount_v2 while each call about it returns GPU_IS_LOST, as with
// a driver that was loaded when the GPU fell off the bus. (Seen in issues: rossumai/nvgpu #6; newer
// drivers may say UNKNOWN instead, koordinator-sh/koordinator #2706. After a real boot a dead GPU
// is not on the PCI bus and so not counted at all: remove its line from the file for that.)
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/text.hpp"
#include "lab/gpu_state.hpp"
#include "runtime/agent/nvml_abi.hpp"

#define NVML_CALL extern "C" __attribute__((visibility("default")))

namespace {

using namespace tundish::nvml;  // NOLINT: this file is that interface
using std::chrono::milliseconds;
using std::chrono::steady_clock;
using tundish::lab::GpuState;
using tundish::lab::GpuStates;

std::atomic<int> open_count = 0;

std::string state_file() {
  const char* path = std::getenv("FAKE_NVML_STATE");
  return path != nullptr ? path : "/run/tundish-hw/nvml.state";
}

/// The file, read anew when it was replaced: agents ask hundreds of questions at a look.
tundish::Result<GpuStates> load_states() {
  static std::mutex mutex;
  static std::optional<GpuStates> known;
  static struct stat known_as {};
  const std::lock_guard lock(mutex);
  struct stat now {};
  if (::stat(state_file().c_str(), &now) != 0) {
    known.reset();
    return tundish::make_error(tundish::Code::not_found, "no state file");
  }
  const bool same = known && now.st_ino == known_as.st_ino && now.st_size == known_as.st_size &&
                    now.st_mtim.tv_sec == known_as.st_mtim.tv_sec &&
                    now.st_mtim.tv_nsec == known_as.st_mtim.tv_nsec;
  if (same) return *known;
  auto states = tundish::lab::load_gpu_states(state_file());
  if (!states) return states;
  known = *states;
  known_as = now;
  return states;
}

/// A handle is the position in the file, plus one so that none is null.
Device handle_of(std::size_t position) { return reinterpret_cast<Device>(position + 1); }

// A hanging driver call: it ends after hang_ms, or as soon as the file no longer says so.
Return find_state(Device handle, GpuState& out) {
  if (open_count == 0) return uninitialized;
  const auto began = steady_clock::now();
  while (true) {
    const auto states = load_states();
    if (!states) return unknown_error;
    const std::size_t position = reinterpret_cast<std::size_t>(handle) - 1;
    if (position >= states->gpus.size()) return invalid_argument;
    out = states->gpus[position];
    if (steady_clock::now() - began >= milliseconds(out.hang_ms)) break;
    std::this_thread::sleep_for(milliseconds(5));
  }
  return out.lost != 0 ? gpu_is_lost : success;
}

Return put_text(const std::string& text, char* out, unsigned length) {
  if (out == nullptr) return invalid_argument;
  if (text.size() >= length) return insufficient_size;
  std::memcpy(out, text.c_str(), text.size() + 1);
  return success;
}

template <class Number>
Return put(std::int64_t value, Number* out) {
  if (out == nullptr) return invalid_argument;
  if (value < 0) return not_supported;
  *out = static_cast<Number>(value);
  return success;
}

/// Answers about identity and memory errors, which hanging firmware still gives.
template <class Answer>
Return answer(Device handle, Answer&& give) {
  GpuState gpu;
  const Return found = find_state(handle, gpu);
  return found == success ? give(gpu) : found;
}

/// Answers that need the GPU's firmware.
template <class Answer>
Return measure(Device handle, Answer&& give) {
  return answer(handle,
                [&](const GpuState& gpu) { return gpu.gsp != 0 ? unknown_error : give(gpu); });
}

std::size_t count_processes(const GpuState& gpu) {
  return gpu.pids.empty() ? 0 : tundish::split(gpu.pids, ',').size();
}

}  // namespace

NVML_CALL Return nvmlInit_v2() {
  if (!load_states()) return driver_not_loaded;
  ++open_count;
  return success;
}

NVML_CALL Return nvmlShutdown() {
  if (open_count == 0) return uninitialized;
  --open_count;
  return success;
}

NVML_CALL const char* nvmlErrorString(Return result) {
  switch (result) {
    case success: return "Success";
    case uninitialized: return "Uninitialized";
    case invalid_argument: return "Invalid Argument";
    case not_supported: return "Not Supported";
    case not_found: return "Not Found";
    case corrupted_inforom: return "Corrupted InfoROM";
    case insufficient_size: return "Insufficient Size";
    case driver_not_loaded: return "Driver Not Loaded";
    case timed_out: return "Timeout";
    case gpu_is_lost: return "GPU is lost";
    case reset_required: return "GPU requires reset";
    case unknown_error: return "Unknown Error";
  }
  return "Unknown Error";
}

NVML_CALL Return nvmlSystemGetDriverVersion(char* version, unsigned length) {
  const auto states = load_states();
  return states ? put_text(states->driver, version, length) : unknown_error;
}

NVML_CALL Return nvmlSystemGetNVMLVersion(char* version, unsigned length) {
  const auto states = load_states();
  return states ? put_text("12." + states->driver, version, length) : unknown_error;
}

NVML_CALL Return nvmlSystemGetCudaDriverVersion_v2(int* version) { return put(12040, version); }

NVML_CALL Return nvmlDeviceGetCount_v2(unsigned* count) {
  if (open_count == 0) return uninitialized;
  const auto states = load_states();
  if (!states) return unknown_error;
  return put(static_cast<std::int64_t>(states->gpus.size()), count);
}

NVML_CALL Return nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* device) {
  if (device == nullptr) return invalid_argument;
  *device = handle_of(index);
  return answer(*device, [](const GpuState&) { return success; });
}

NVML_CALL Return nvmlDeviceGetIndex(Device device, unsigned* index) {
  return answer(device, [&](const GpuState& gpu) { return put(gpu.index, index); });
}

NVML_CALL Return nvmlDeviceGetName(Device device, char* name, unsigned length) {
  return answer(device, [&](const GpuState& gpu) { return put_text(gpu.name, name, length); });
}

NVML_CALL Return nvmlDeviceGetUUID(Device device, char* uuid, unsigned length) {
  return answer(device, [&](const GpuState& gpu) { return put_text(gpu.uuid, uuid, length); });
}

NVML_CALL Return nvmlDeviceGetSerial(Device device, char* serial, unsigned length) {
  return answer(device, [&](const GpuState& gpu) { return put_text(gpu.serial, serial, length); });
}

NVML_CALL Return nvmlDeviceGetPciInfo_v3(Device device, PciInfo* pci) {
  return answer(device, [&](const GpuState& gpu) {
    if (pci == nullptr) return invalid_argument;
    *pci = {};
    if (std::sscanf(gpu.pci.c_str(), "%x:%x:%x", &pci->domain, &pci->bus, &pci->device) != 3) {
      return unknown_error;
    }
    pci->pci_device_id = 0x233010de;  // H100 SXM5 of NVIDIA
    std::snprintf(pci->bus_id, sizeof(pci->bus_id), "%08X:%02X:%02X.0", pci->domain,
                  pci->bus & 0xff, pci->device & 0x1f);
    std::snprintf(pci->bus_id_legacy, sizeof(pci->bus_id_legacy), "%04X:%02X:%02X.0",
                  pci->domain & 0xffff, pci->bus & 0xff, pci->device & 0x1f);
    return success;
  });
}

NVML_CALL Return nvmlDeviceGetMemoryInfo(Device device, Memory* memory) {
  return answer(device, [&](const GpuState& gpu) {
    if (memory == nullptr) return invalid_argument;
    if (gpu.mem_total < 0 || gpu.mem_used < 0) return not_supported;
    constexpr unsigned long long mebibyte = 1024 * 1024;
    memory->total = static_cast<unsigned long long>(gpu.mem_total) * mebibyte;
    memory->used = static_cast<unsigned long long>(gpu.mem_used) * mebibyte;
    memory->free = memory->total - memory->used;
    return success;
  });
}

NVML_CALL Return nvmlDeviceGetUtilizationRates(Device device, Utilization* out) {
  return measure(device, [&](const GpuState& gpu) {
    if (out == nullptr) return invalid_argument;
    out->memory = static_cast<unsigned>(gpu.util) / 2;
    return put(gpu.util, &out->gpu);
  });
}

NVML_CALL Return nvmlDeviceGetTemperature(Device device, int sensor, unsigned* celsius) {
  if (sensor != temperature_of_gpu) return invalid_argument;
  return measure(device, [&](const GpuState& gpu) { return put(gpu.temp, celsius); });
}

NVML_CALL Return nvmlDeviceGetPowerUsage(Device device, unsigned* milliwatts) {
  return measure(device, [&](const GpuState& gpu) { return put(gpu.power * 1000, milliwatts); });
}

NVML_CALL Return nvmlDeviceGetEnforcedPowerLimit(Device device, unsigned* milliwatts) {
  return measure(device,
                 [&](const GpuState& gpu) { return put(gpu.power_limit * 1000, milliwatts); });
}

NVML_CALL Return nvmlDeviceGetClockInfo(Device device, int, unsigned* megahertz) {
  return measure(device, [&](const GpuState& gpu) { return put(gpu.clock, megahertz); });
}

NVML_CALL Return nvmlDeviceGetCurrentClocksEventReasons(Device device, unsigned long long* out) {
  return measure(device, [&](const GpuState& gpu) { return put(gpu.throttle, out); });
}

// The name before driver 535.
NVML_CALL Return nvmlDeviceGetCurrentClocksThrottleReasons(Device device, unsigned long long* out) {
  return nvmlDeviceGetCurrentClocksEventReasons(device, out);
}

NVML_CALL Return nvmlDeviceGetTotalEccErrors(Device device, int kind, int since,
                                             unsigned long long* count) {
  return answer(device, [&](const GpuState& gpu) {
    if (kind == error_corrected) return put(gpu.ecc_corrected, count);
    if (kind != error_uncorrected) return invalid_argument;
    return put(since == since_made ? gpu.ecc_uncorrected_aggregate : gpu.ecc_uncorrected, count);
  });
}

NVML_CALL Return nvmlDeviceGetRemappedRows(Device device, unsigned* corrected,
                                           unsigned* uncorrected, unsigned* pending,
                                           unsigned* failure) {
  return answer(device, [&](const GpuState& gpu) {
    put(0, corrected);
    put(gpu.remapped, uncorrected);
    put(gpu.remap_failure, failure);
    return put(gpu.remap_pending, pending);
  });
}

NVML_CALL Return nvmlDeviceGetNvLinkState(Device device, unsigned link, int* active) {
  return answer(device, [&](const GpuState& gpu) {
    if (gpu.nvlinks < 0) return not_supported;
    return put(link < static_cast<std::uint64_t>(gpu.nvlinks) ? 1 : 0, active);
  });
}

NVML_CALL Return nvmlDeviceGetNvLinkErrorCounter(Device device, unsigned link, int,
                                                 unsigned long long* count) {
  return answer(device,
                [&](const GpuState& gpu) { return put(link == 0 ? gpu.nvlink_errors : 0, count); });
}

NVML_CALL Return nvmlDeviceGetCurrPcieLinkGeneration(Device device, unsigned* generation) {
  return answer(device, [&](const GpuState& gpu) { return put(gpu.pcie_gen, generation); });
}

NVML_CALL Return nvmlDeviceGetCurrPcieLinkWidth(Device device, unsigned* width) {
  return answer(device, [&](const GpuState& gpu) { return put(gpu.pcie_width, width); });
}

NVML_CALL Return nvmlDeviceGetPcieReplayCounter(Device device, unsigned* count) {
  return answer(device, [&](const GpuState& gpu) { return put(gpu.pcie_replays, count); });
}

NVML_CALL Return nvmlDeviceGetMigMode(Device device, unsigned* current, unsigned* pending) {
  return answer(device, [&](const GpuState&) {
    put(0, pending);
    return put(0, current);
  });
}

NVML_CALL Return nvmlDeviceGetPersistenceMode(Device device, int* mode) {
  return answer(device, [&](const GpuState&) { return put(enabled, mode); });
}

NVML_CALL Return nvmlDeviceGetComputeRunningProcesses_v3(Device device, unsigned* count,
                                                         ProcessInfo* out) {
  return answer(device, [&](const GpuState& gpu) {
    const std::size_t running = count_processes(gpu);
    if (count == nullptr) return invalid_argument;
    const unsigned room = *count;
    *count = static_cast<unsigned>(running);
    if (running == 0) return success;
    if (out == nullptr || room < running) return insufficient_size;
    for (const auto& pid : tundish::split(gpu.pids, ',')) {
      const auto bytes = static_cast<unsigned long long>(gpu.mem_used) * 1024 * 1024 / running;
      const auto number = static_cast<unsigned>(tundish::parse_integer(pid).value_or(0));
      *out++ = {.pid = number, .used_bytes = bytes, .gpu_instance = ~0u, .compute_instance = ~0u};
    }
    return success;
  });
}

namespace {

Return put_field(const GpuState& gpu, FieldValue& value) {
  unsigned& out = value.value.as_unsigned;
  switch (value.field) {
    case field_recovery_action: return put(gpu.recovery_action, &out);
    case field_nvlink_flit_crc: return put(gpu.nvlinks < 0 ? -1 : gpu.nvlink_errors, &out);
    case field_nvlink_data_crc:
    case field_nvlink_replay:
    case field_nvlink_recovery: return put(gpu.nvlinks < 0 ? -1 : 0, &out);
    case field_memory_temperature: return put(gpu.gsp != 0 ? -1 : gpu.temp + 4, &out);
    default: return not_supported;
  }
}

}  // namespace

NVML_CALL Return nvmlDeviceGetEccMode(Device device, int* current, int* pending) {
  return answer(device, [&](const GpuState&) {
    put(enabled, pending);
    return put(enabled, current);
  });
}

NVML_CALL Return nvmlDeviceValidateInforom(Device device) {
  return answer(device, [](const GpuState&) { return success; });
}

NVML_CALL Return nvmlDeviceGetMaxClockInfo(Device device, int, unsigned* megahertz) {
  return answer(device, [&](const GpuState&) { return put(1980, megahertz); });
}

NVML_CALL Return nvmlDeviceGetTemperatureThreshold(Device device, int which, unsigned* celsius) {
  if (which != threshold_slowdown) return not_supported;
  return answer(device, [&](const GpuState&) { return put(87, celsius); });
}

NVML_CALL Return nvmlDeviceGetGspFirmwareVersion(Device device, char* version) {
  return answer(device, [&](const GpuState&) {
    const auto states = load_states();
    return states ? put_text(states->driver, version, short_text) : unknown_error;
  });
}

NVML_CALL Return nvmlDeviceGetFieldValues(Device device, int count, FieldValue* values) {
  return answer(device, [&](const GpuState& gpu) {
    if (values == nullptr || count < 1) return invalid_argument;
    for (int i = 0; i < count; ++i) {
      FieldValue& value = values[i];
      value.value_type = value_is_unsigned;
      value.value.as_unsigned_long_long = 0;
      value.result = put_field(gpu, value);
    }
    return success;
  });
}

NVML_CALL Return nvmlDeviceGetGpuFabricInfoV(Device device, FabricInfo* info) {
  return answer(device, [&](const GpuState& gpu) {
    constexpr unsigned version = sizeof(FabricInfo) | 2u << 24;
    if (info == nullptr || info->version != version) return invalid_argument;
    *info = {};
    info->version = version;
    info->state = static_cast<unsigned char>(gpu.fabric_state);
    info->clique = static_cast<unsigned>(gpu.fabric_clique);
    // One domain, one cluster id; a box by itself has none.
    if (gpu.fabric_clique > 0) {
      const int id = static_cast<int>(gpu.fabric_clique);
      std::memset(info->cluster_uuid, id, sizeof info->cluster_uuid);
    }
    return success;
  });
}

namespace {

/// Reads lines "gpu xid" that are appended to the events file after its creation.
struct EventReader {
  std::ifstream file;
};

}  // namespace

NVML_CALL Return nvmlEventSetCreate(EventSet* set) {
  if (set == nullptr) return invalid_argument;
  const std::string path = state_file() + ".events";
  std::ofstream(path, std::ios::app);  // so that there is an end to start from
  auto* reader = new EventReader{std::ifstream(path, std::ios::ate)};
  *set = reader;
  return success;
}

NVML_CALL Return nvmlDeviceRegisterEvents(Device device, unsigned long long types, EventSet set) {
  if (set == nullptr || types == 0) return invalid_argument;
  return answer(device, [](const GpuState&) { return success; });
}

NVML_CALL Return nvmlEventSetWait_v2(EventSet set, EventData* event, unsigned limit_ms) {
  if (set == nullptr || event == nullptr) return invalid_argument;
  std::ifstream& file = static_cast<EventReader*>(set)->file;
  const auto deadline = steady_clock::now() + milliseconds(limit_ms);
  while (true) {
    const auto from = file.tellg();
    unsigned gpu = 0;
    unsigned xid = 0;
    if (file >> gpu >> xid && file.get() == '\n') {
      *event = {.device = handle_of(gpu),
                .type = event_xid,
                .data = xid,
                .gpu_instance = ~0u,
                .compute_instance = ~0u};
      return success;
    }
    file.clear();
    file.seekg(from);
    if (steady_clock::now() >= deadline) return timed_out;
    std::this_thread::sleep_for(milliseconds(5));
  }
}

NVML_CALL Return nvmlEventSetFree(EventSet set) {
  delete static_cast<EventReader*>(set);
  return success;
}
