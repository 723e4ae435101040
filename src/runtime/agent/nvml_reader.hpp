#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/gpu_snapshot.hpp"

namespace tundish {

/// Reads all GPUs through the driver's library, loaded at run time so that one agent runs with
/// every driver and without one. A missing function leaves its value absent.
///
/// May block for ever when the driver hangs: call it in a child process with a deadline.
/// Each read() opens and closes NVML, since an open one counts as a client of the GPU and makes
/// `nvidia-smi --gpu-reset` fail with "In use by another client".
class NvmlReader {
 public:
  static Result<std::unique_ptr<NvmlReader>> load(const std::string& library = "libnvidia-ml.so.1");

  NvmlReader(const NvmlReader&) = delete;
  NvmlReader& operator=(const NvmlReader&) = delete;
  ~NvmlReader();

  Result<GpuSnapshot> read();

 private:
  explicit NvmlReader(void* library) : library_(library) {}
  void remember_identities(GpuSnapshot& snapshot);

  void* library_;
  std::vector<GpuReading> last_;
};

}  // namespace tundish
