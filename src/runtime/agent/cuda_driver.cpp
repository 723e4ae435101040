#include "runtime/agent/cuda_driver.hpp"

#include <dlfcn.h>

namespace tundish::agent {
namespace {

/// Finds one call after the other and remembers the first that is missing.
struct Finder {
  void* library;
  std::string missing;

  template <class Call>
  void find(Call& out, const char* name) {
    out = reinterpret_cast<Call>(dlsym(library, name));
    if (out == nullptr && missing.empty()) missing = name;
  }
};

}  // namespace

Result<CudaDriver> CudaDriver::load(const std::string& library) {
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* why = dlerror();
    return make_error(Code::unsupported, "no CUDA driver: " + std::string(why ? why : library))
        .with_remedy("install the GPU driver of this node");
  }
  CudaDriver driver;
  cuda::Calls& c = driver.calls_;
  Finder finder{handle, {}};
  finder.find(c.init, "cuInit");
  finder.find(c.device_by_pci, "cuDeviceGetByPCIBusId");
  finder.find(c.attribute, "cuDeviceGetAttribute");
  finder.find(c.retain, "cuDevicePrimaryCtxRetain");
  finder.find(c.release, "cuDevicePrimaryCtxRelease_v2");
  finder.find(c.use, "cuCtxSetCurrent");
  finder.find(c.load, "cuModuleLoadData");
  finder.find(c.function, "cuModuleGetFunction");
  finder.find(c.memory, "cuMemGetInfo_v2");
  finder.find(c.allocate, "cuMemAlloc_v2");
  finder.find(c.free, "cuMemFree_v2");
  finder.find(c.allocate_pinned, "cuMemHostAlloc");
  finder.find(c.free_pinned, "cuMemFreeHost");
  finder.find(c.to_gpu, "cuMemcpyHtoD_v2");
  finder.find(c.from_gpu, "cuMemcpyDtoH_v2");
  finder.find(c.clear, "cuMemsetD8_v2");
  finder.find(c.launch, "cuLaunchKernel");
  finder.find(c.finish, "cuCtxSynchronize");
  finder.find(c.make_event, "cuEventCreate");
  finder.find(c.record, "cuEventRecord");
  finder.find(c.await, "cuEventSynchronize");
  finder.find(c.elapsed, "cuEventElapsedTime");
  finder.find(c.end_event, "cuEventDestroy_v2");
  finder.find(c.error_name, "cuGetErrorName");
  if (!finder.missing.empty()) {
    return make_error(Code::unsupported, library + " has no " + finder.missing)
        .with_remedy("CUDA 11 or later is needed");
  }
  return driver;
}

Result<> CudaDriver::check(cuda::Return result, std::string_view call) const {
  if (result == cuda::success) return {};
  const char* name = nullptr;
  calls_.error_name(result, &name);
  const std::string what =
      std::string(call) + ": " + (name != nullptr ? name : "CUDA error " + std::to_string(result));
  return make_error(Code::unavailable, what);
}

}  // namespace tundish::agent
