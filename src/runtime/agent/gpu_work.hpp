#pragma once
// Makes one GPU compute and remember, and proves every result: wrong sums and words that did not
// come back are what no counter of the driver shows.
#include "base/result.hpp"
#include "model/gpu_work.hpp"
#include "runtime/agent/cuda_driver.hpp"

namespace tundish::agent {

/// Runs in a child that may be killed at any time: the driver gives everything back. An error is a
/// call that failed; wrong results are no error but in the answer.
Result<GpuWork> work_gpu(const CudaDriver& driver, const GpuWorkRequest& request);

}  // namespace tundish::agent
