// The driver's libcuda.so.1 of a simulated node: the calls that our GPU probe makes, over the GPU
// state file, with the node's memory as the GPU's. The kernels are done here in C++, by their names
// and arguments, so that what is above (loading, launching, proving, judging) is the shipped code.
// A launch takes as long as the GPU's clock says; a GPU with wrong_sums computes silently wrong.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "lab/gpu_state.hpp"
#include "model/pci_address.hpp"
#include "runtime/agent/cuda_abi.hpp"

#define CUDA_CALL extern "C" __attribute__((visibility("default")))

namespace {

using namespace tundish::cuda;  // NOLINT: this file is that interface
using std::chrono::steady_clock;
using tundish::lab::GpuState;

constexpr int processors = 4;
constexpr std::size_t memory_bytes = std::size_t{64} << 20;
constexpr double full_clock_mhz = 1980;
/// Dense half-precision rate of an H100 SXM in operations per second.
constexpr double full_rate = 989e12;

struct Simulated {
  bool ready = false;
  std::string pci;
  std::map<Address, std::unique_ptr<unsigned char[]>> memory;
  std::map<Address, std::size_t> sizes;
  std::size_t used = 0;
  double clock_s = 0;  ///< the GPU's own, which a busy machine does not slow down
};

Simulated& simulated() {
  static Simulated state;  // one process probes one GPU
  return state;
}

/// The GPU as the state file has it now; waits as a hanging driver does.
Return find_gpu(GpuState& out) {
  const char* path = std::getenv("FAKE_NVML_STATE");
  const std::string file = path != nullptr ? path : "/run/tundish-hw/nvml.state";
  const auto began = steady_clock::now();
  while (true) {
    const auto states = tundish::lab::load_gpu_states(file);
    if (!states) return no_device;
    const auto gpu = tundish::lab::find_gpu(*states, simulated().pci);
    if (!gpu) return no_device;
    out = *gpu;
    if (steady_clock::now() - began >= std::chrono::milliseconds(out.hang_ms)) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  if (out.lost != 0) return unknown_error;
  return out.ecc_uncorrected > 0 ? ecc_uncorrectable : success;
}

template <class T>
T argument(void** arguments, int index) {
  T value;
  std::memcpy(&value, arguments[index], sizeof value);
  return value;
}

std::uint32_t* words_at(Address address) { return reinterpret_cast<std::uint32_t*>(address); }

std::uint32_t word(std::uint32_t i, std::uint32_t seed) {
  std::uint32_t x = i * 0x9E3779B1u + seed;
  x ^= x >> 15;
  x *= 0x2C1B3C6Du;
  return x ^ (x >> 12);
}

void fill(void** arguments) {
  auto* words = words_at(argument<Address>(arguments, 0));
  const auto count = argument<std::uint64_t>(arguments, 1) * 4;
  const auto seed = argument<std::uint32_t>(arguments, 2);
  for (std::uint64_t i = 0; i < count; ++i) words[i] = word(static_cast<std::uint32_t>(i), seed);
}

void compare(void** arguments) {
  const auto* words = words_at(argument<Address>(arguments, 0));
  const auto count = argument<std::uint64_t>(arguments, 1) * 4;
  const auto seed = argument<std::uint32_t>(arguments, 2);
  auto* wrong = words_at(argument<Address>(arguments, 3));
  for (std::uint64_t i = 0; i < count; ++i) {
    if (words[i] != word(static_cast<std::uint32_t>(i), seed)) ++wrong[i % processors];
  }
}

void copy(void** arguments) {
  std::memcpy(words_at(argument<Address>(arguments, 0)), words_at(argument<Address>(arguments, 1)),
              argument<std::uint64_t>(arguments, 2) * 16);
}

/// Half precision of small whole numbers only.
float small_half(std::uint16_t half) {
  const int exponent = (half >> 10) & 31;
  if (exponent == 0) return 0;
  const float fraction = 1.0F + static_cast<float>(half & 1023) / 1024.0F;
  return fraction * static_cast<float>(1 << (exponent - 15));
}

void matrix(void** arguments, const GpuState& gpu) {
  const auto* a = reinterpret_cast<const std::uint16_t*>(argument<Address>(arguments, 0));
  const auto* b = reinterpret_cast<const std::uint16_t*>(argument<Address>(arguments, 1));
  const auto* expected = reinterpret_cast<const float*>(argument<Address>(arguments, 2));
  const auto rounds = static_cast<float>(argument<std::uint32_t>(arguments, 3));
  auto* wrong = words_at(argument<Address>(arguments, 4));
  std::int64_t to_spoil = gpu.wrong_sums;
  for (int row = 0; row < 16; ++row) {
    for (int column = 0; column < 8; ++column) {
      float sum = 0;
      for (int k = 0; k < 16; ++k) {
        sum += small_half(a[row * 16 + k]) * small_half(b[column * 16 + k]);
      }
      sum *= rounds;
      if (to_spoil-- > 0) sum += 1;
      if (sum != expected[row * 8 + column] * rounds) ++wrong[2];
    }
  }
}

void take_time(double operations, const GpuState& gpu) {
  const double clock = static_cast<double>(std::max<std::int64_t>(gpu.clock - gpu.clock_lost, 1));
  const double s = operations / (full_rate * clock / full_clock_mhz);
  simulated().clock_s += s;
  std::this_thread::sleep_for(std::chrono::duration<double>(s));
}

/// Rates of copies are the GPU's and not those of the machine that simulates it; by the GPU's clock
/// they last as long on a busy one. Bytes per second.
constexpr double memory_rate = 1.5e9;
constexpr double bus_rate = 2e9;  ///< of generation 5 with 16 lanes

class Transfer {
 public:
  Transfer(double bytes, double rate) : seconds_(bytes / std::max(rate, 1.0)) {
    simulated().clock_s += seconds_;
  }
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;
  ~Transfer() {
    std::this_thread::sleep_until(
        began_ + std::chrono::duration_cast<steady_clock::duration>(
                     std::chrono::duration<double>(seconds_)));
  }

 private:
  steady_clock::time_point began_ = steady_clock::now();
  double seconds_;
};

double bus_rate_of(const GpuState& gpu) {
  const auto generation = std::clamp<std::int64_t>(gpu.pcie_gen, 1, 6);
  return bus_rate * static_cast<double>(1 << generation) / 32.0 *
         static_cast<double>(gpu.pcie_width) / 16.0;
}

}  // namespace

CUDA_CALL Return cuInit(unsigned) {
  simulated().ready = true;
  return success;
}

CUDA_CALL Return cuDeviceGetByPCIBusId(Device* out, const char* bus_id) {
  const auto pci = tundish::normalise_pci(bus_id);
  if (!simulated().ready || !pci) return invalid_value;
  simulated().pci = *pci;
  GpuState gpu;
  const Return found = find_gpu(gpu);
  *out = static_cast<Device>(gpu.index);
  return found == ecc_uncorrectable ? success : found;
}

CUDA_CALL Return cuDeviceGetAttribute(int* out, int which, Device) {
  switch (which) {
    case processor_count: *out = processors; return success;
    case capability_major: *out = 9; return success;
    case capability_minor: *out = 0; return success;
    default: return invalid_value;
  }
}

CUDA_CALL Return cuDevicePrimaryCtxRetain(Context* out, Device) {
  GpuState gpu;
  const Return found = find_gpu(gpu);
  *out = &simulated();
  return found;
}

CUDA_CALL Return cuDevicePrimaryCtxRelease_v2(Device) { return success; }

CUDA_CALL Return cuCtxSetCurrent(Context) { return success; }

CUDA_CALL Return cuModuleLoadData(Module* out, const void* image) {
  if (std::strstr(static_cast<const char*>(image), ".target sm_80") == nullptr) {
    return invalid_value;
  }
  *out = &simulated();
  return success;
}

CUDA_CALL Return cuModuleGetFunction(Function* out, Module, const char* name) {
  static const std::array<std::string, 4> names = {"fill", "compare", "copy", "matrix"};
  const auto* found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return not_found;
  *out = const_cast<std::string*>(found);
  return success;
}

CUDA_CALL Return cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  *total = memory_bytes;
  *free = memory_bytes - std::min(memory_bytes, simulated().used);
  return success;
}

CUDA_CALL Return cuMemAlloc_v2(Address* out, std::size_t bytes) {
  auto memory = std::make_unique<unsigned char[]>(bytes);
  *out = reinterpret_cast<Address>(memory.get());
  simulated().used += bytes;
  simulated().sizes[*out] = bytes;
  simulated().memory[*out] = std::move(memory);
  return success;
}

CUDA_CALL Return cuMemFree_v2(Address address) {
  if (simulated().memory.erase(address) == 0) return invalid_value;
  simulated().used -= simulated().sizes[address];
  return success;
}

CUDA_CALL Return cuMemHostAlloc(void** out, std::size_t bytes, unsigned) {
  *out = std::malloc(bytes);
  return *out != nullptr ? success : out_of_memory;
}

CUDA_CALL Return cuMemFreeHost(void* memory) {
  std::free(memory);
  return success;
}

CUDA_CALL Return cuMemcpyHtoD_v2(Address to, const void* from, std::size_t bytes) {
  GpuState gpu;
  if (const Return found = find_gpu(gpu); found != success) return found;
  const Transfer transfer(static_cast<double>(bytes), bus_rate_of(gpu));
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return success;
}

CUDA_CALL Return cuMemcpyDtoH_v2(void* to, Address from, std::size_t bytes) {
  GpuState gpu;
  if (const Return found = find_gpu(gpu); found != success) return found;
  const Transfer transfer(static_cast<double>(bytes), bus_rate_of(gpu));
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return success;
}

CUDA_CALL Return cuMemsetD8_v2(Address to, unsigned char value, std::size_t bytes) {
  std::memset(reinterpret_cast<void*>(to), value, bytes);
  return success;
}

CUDA_CALL Return cuLaunchKernel(Function function, unsigned grid_x, unsigned, unsigned,
                                unsigned block_x, unsigned, unsigned, unsigned, void*,
                                void** arguments, void**) {
  GpuState gpu;
  const Return found = find_gpu(gpu);
  if (found != success) return found;
  const std::string& name = *static_cast<const std::string*>(function);
  if (name == "fill") fill(arguments);
  if (name == "compare") compare(arguments);
  if (name == "copy") {
    const double bytes = static_cast<double>(argument<std::uint64_t>(arguments, 2)) * 32;
    const Transfer transfer(bytes, memory_rate);  // read and written
    copy(arguments);
  }
  if (name != "matrix") return success;
  matrix(arguments, gpu);
  const double warps = static_cast<double>(grid_x) * block_x / 32;
  take_time(warps * argument<std::uint32_t>(arguments, 3) * 8 * 4096, gpu);
  return success;
}

CUDA_CALL Return cuCtxSynchronize() {
  GpuState gpu;
  return find_gpu(gpu);
}

CUDA_CALL Return cuEventCreate(Event* out, unsigned) {
  *out = new double(0);
  return success;
}

CUDA_CALL Return cuEventDestroy_v2(Event event) {
  delete static_cast<double*>(event);
  return success;
}

CUDA_CALL Return cuEventRecord(Event event, void*) {
  *static_cast<double*>(event) = simulated().clock_s;
  return success;
}

CUDA_CALL Return cuEventSynchronize(Event) {
  GpuState gpu;
  return find_gpu(gpu);
}

CUDA_CALL Return cuEventElapsedTime(float* milliseconds, Event from, Event to) {
  const double s = *static_cast<double*>(to) - *static_cast<double*>(from);
  *milliseconds = static_cast<float>(s * 1e3);
  return success;
}

CUDA_CALL Return cuGetErrorName(Return error, const char** out) {
  switch (error) {
    case success: *out = "CUDA_SUCCESS"; return success;
    case invalid_value: *out = "CUDA_ERROR_INVALID_VALUE"; return success;
    case out_of_memory: *out = "CUDA_ERROR_OUT_OF_MEMORY"; return success;
    case no_device: *out = "CUDA_ERROR_NO_DEVICE"; return success;
    case ecc_uncorrectable: *out = "CUDA_ERROR_ECC_UNCORRECTABLE"; return success;
    case not_found: *out = "CUDA_ERROR_NOT_FOUND"; return success;
    case illegal_address: *out = "CUDA_ERROR_ILLEGAL_ADDRESS"; return success;
    case launch_failed: *out = "CUDA_ERROR_LAUNCH_FAILED"; return success;
    case unknown_error: *out = "CUDA_ERROR_UNKNOWN"; return success;
  }
  return invalid_value;
}
