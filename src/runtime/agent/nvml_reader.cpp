#include "runtime/agent/nvml_reader.hpp"

#include <array>

#include "model/pci_address.hpp"
#include "runtime/agent/nvml_device.hpp"

namespace tundish {
namespace {

using nvml::Return;

void read_identity(NvmlDevice& device, GpuReading& out) {
  std::array<char, nvml::short_text> text{};
  const auto length = static_cast<unsigned>(text.size());
  if (device.ask("nvmlDeviceGetUUID", text.data(), length)) out.uuid = text.data();
  if (device.ask("nvmlDeviceGetSerial", text.data(), length)) out.serial = text.data();
  if (device.ask("nvmlDeviceGetName", text.data(), length)) out.name = text.data();
  nvml::PciInfo pci{};
  if (device.ask("nvmlDeviceGetPciInfo_v3", &pci)) out.pci = normalise_pci(pci.bus_id);
}

void read_memory_errors(NvmlDevice& device, GpuReading& out) {
  unsigned long long count = 0;
  const auto total = [&](int kind) {
    return device.ask("nvmlDeviceGetTotalEccErrors", kind, nvml::since_reset, &count);
  };
  if (total(nvml::error_uncorrected)) out.ecc_uncorrected = static_cast<std::int64_t>(count);
  if (total(nvml::error_corrected)) out.ecc_corrected = static_cast<std::int64_t>(count);
  unsigned corrected = 0;
  unsigned uncorrected = 0;
  unsigned pending = 0;
  unsigned failure = 0;
  if (device.ask("nvmlDeviceGetRemappedRows", &corrected, &uncorrected, &pending, &failure)) {
    out.remap_pending = pending != 0;
    out.remap_failure = failure != 0;
  }
}

void read_state(NvmlDevice& device, GpuReading& out) {
  nvml::FieldValue value{};
  value.field = nvml::field_recovery_action;
  if (device.ask("nvmlDeviceGetFieldValues", 1, &value) && device.note(value.result)) {
    out.recovery_action = value.value.as_unsigned;
  }
  unsigned number = 0;
  if (device.ask("nvmlDeviceGetTemperature", nvml::temperature_of_gpu, &number)) {
    out.temperature_c = number;
  }
  if (device.ask("nvmlDeviceGetPowerUsage", &number)) out.power_w = number / 1000;  // milliwatts
  nvml::Utilization utilization{};
  if (device.ask("nvmlDeviceGetUtilizationRates", &utilization)) {
    out.utilization_percent = utilization.gpu;
  }
}

GpuReading read_gpu(void* library, unsigned index) {
  GpuReading out;
  out.index = index;
  NvmlDevice device(library, out);
  if (!device.open(index)) return out;
  read_identity(device, out);
  read_memory_errors(device, out);
  read_state(device, out);
  if (!out.lost.value_or(false)) read_gpu_health(device, out);
  return out;
}

Error nvml_failure(const std::string& call, Return result) {
  return make_error(Code::unavailable, call + " failed with NVML code " + std::to_string(result))
      .with_remedy("see the kernel log for the GPU driver");
}

}  // namespace

Result<std::unique_ptr<NvmlReader>> NvmlReader::load(const std::string& library) {
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return make_error(Code::unsupported, "cannot load the GPU library " + library)
        .with_remedy("install the GPU driver's libraries");
  }
  return std::unique_ptr<NvmlReader>(new NvmlReader(handle));
}

NvmlReader::~NvmlReader() { dlclose(library_); }

Result<GpuSnapshot> NvmlReader::read() {
  const auto init = find_function<Return()>(library_, "nvmlInit_v2");
  const auto count_gpus = find_function<Return(unsigned*)>(library_, "nvmlDeviceGetCount_v2");
  if (init == nullptr || count_gpus == nullptr) {
    return make_error(Code::unsupported, "the GPU library cannot even count GPUs");
  }
  if (const Return result = init(); result != nvml::success) {
    return nvml_failure("nvmlInit_v2", result);
  }
  GpuSnapshot out;
  std::array<char, nvml::short_text> text{};
  using Version = Return(char*, unsigned);
  const auto version = find_function<Version>(library_, "nvmlSystemGetDriverVersion");
  if (version != nullptr && version(text.data(), text.size()) == nvml::success) {
    out.driver_version = text.data();
  }
  unsigned count = 0;
  const Return counted = count_gpus(&count);
  for (unsigned i = 0; counted == nvml::success && i < count; ++i) {
    out.gpus.push_back(read_gpu(library_, i));
  }
  if (const auto shutdown = find_function<Return()>(library_, "nvmlShutdown")) shutdown();
  if (counted != nvml::success) return nvml_failure("nvmlDeviceGetCount_v2", counted);
  remember_identities(out);
  return out;
}

// A lost GPU tells no identity. It is the one known from before only if nothing else moved: as many
// GPUs as then, and every one that answers at its old place.
void NvmlReader::remember_identities(GpuSnapshot& snapshot) {
  bool same = snapshot.gpus.size() == last_.size();
  for (std::size_t i = 0; same && i < last_.size(); ++i) {
    const auto& uuid = snapshot.gpus[i].uuid;
    same = !uuid || uuid == last_[i].uuid;
  }
  for (std::size_t i = 0; same && i < last_.size(); ++i) {
    GpuReading& gpu = snapshot.gpus[i];
    if (!gpu.uuid) gpu.uuid = last_[i].uuid;
    if (!gpu.serial) gpu.serial = last_[i].serial;
    if (!gpu.name) gpu.name = last_[i].name;
    if (!gpu.pci) gpu.pci = last_[i].pci;
  }
  last_ = snapshot.gpus;
}

}  // namespace tundish
