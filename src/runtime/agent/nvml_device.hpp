#pragma once
// One GPU's questions to the driver library. Internal to the reader.
#include <dlfcn.h>

#include "model/gpu_snapshot.hpp"
#include "runtime/agent/nvml_abi.hpp"

namespace tundish {

template <class Function>
Function* find_function(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

/// Remembers that the GPU is lost, and the first failure.
class NvmlDevice {
 public:
  NvmlDevice(void* library, GpuReading& out) : library_(library), out_(out) {}

  /// Calls `name(handle, arguments...)`; true when it succeeded and so filled its arguments.
  template <class... Arguments>
  bool ask(const char* name, Arguments... arguments) {
    const auto function = find_function<nvml::Return(nvml::Device, Arguments...)>(library_, name);
    return function != nullptr && note(function(handle_, arguments...));
  }
  /// As ask(); a failure says nothing of the GPU, since drivers differ in what they know.
  template <class... Arguments>
  bool may_ask(const char* name, Arguments... arguments) {
    return code_of(name, arguments...) == nvml::success;
  }
  template <class... Arguments>
  nvml::Return code_of(const char* name, Arguments... arguments) {
    const auto function = find_function<nvml::Return(nvml::Device, Arguments...)>(library_, name);
    return function == nullptr ? nvml::not_supported : function(handle_, arguments...);
  }

  bool open(unsigned index) {
    using Open = nvml::Return(unsigned, nvml::Device*);
    const auto function = find_function<Open>(library_, "nvmlDeviceGetHandleByIndex_v2");
    return function != nullptr && note(function(index, &handle_));
  }

  bool note(nvml::Return result) {
    if (result == nvml::success) {
      if (!out_.lost) out_.lost = false;
      return true;
    }
    if (result == nvml::gpu_is_lost) out_.lost = true;
    if (result != nvml::not_supported && !out_.nvml_error) out_.nvml_error = result;
    return false;
  }

 private:
  void* library_;
  GpuReading& out_;
  nvml::Device handle_ = nullptr;
};

/// What passive checks ask beyond identity, memory errors and state.
void read_gpu_health(NvmlDevice& device, GpuReading& out);

}  // namespace tundish
