#pragma once
// The part of the CUDA driver's C interface that our probe calls, declared here because cuda.h is
// not free to ship. Names inside are ours; layouts and numbers are NVIDIA's.
// Source: CUDA Driver API reference, modules Initialization, Device, Primary Context, Memory,
// Module, Execution Control, Event Management; checked 2026-11. Not yet run against a real driver.
#include <cstddef>
#include <cstdint>

namespace tundish::cuda {

/// CUresult.
enum Return : int {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  no_device = 100,
  ecc_uncorrectable = 214,
  not_found = 500,
  illegal_address = 700,
  launch_failed = 719,
  unknown_error = 999
};

using Device = int;
using Context = void*;
using Module = void*;
using Function = void*;
using Event = void*;
using Address = std::uint64_t;  ///< CUdeviceptr

constexpr int processor_count = 16;   ///< CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
constexpr int capability_major = 75;  ///< CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
constexpr int capability_minor = 76;  ///< CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR

/// The calls by the names that the library exports: those with _v2 are what the header's plain
/// names have meant since CUDA 4.0.
struct Calls {
  Return (*init)(unsigned flags);
  Return (*device_by_pci)(Device* out, const char* bus_id);
  Return (*attribute)(int* out, int which, Device device);
  Return (*retain)(Context* out, Device device);
  Return (*release)(Device device);
  Return (*use)(Context context);
  Return (*load)(Module* out, const void* image);
  Return (*function)(Function* out, Module module, const char* name);
  Return (*memory)(std::size_t* free, std::size_t* total);
  Return (*allocate)(Address* out, std::size_t bytes);
  Return (*free)(Address address);
  Return (*allocate_pinned)(void** out, std::size_t bytes, unsigned flags);
  Return (*free_pinned)(void* memory);
  Return (*to_gpu)(Address to, const void* from, std::size_t bytes);
  Return (*from_gpu)(void* to, Address from, std::size_t bytes);
  Return (*clear)(Address to, unsigned char value, std::size_t bytes);
  Return (*launch)(Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                   void* stream, void** arguments, void** extra);
  Return (*finish)();
  Return (*make_event)(Event* out, unsigned flags);
  Return (*record)(Event event, void* stream);
  Return (*await)(Event event);
  Return (*elapsed)(float* milliseconds, Event from, Event to);
  Return (*end_event)(Event event);
  Return (*error_name)(Return error, const char** out);
};

}  // namespace tundish::cuda
