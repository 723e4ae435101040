#pragma once
// The CUDA driver library, loaded when it is there: building needs no GPU and no toolkit.
#include <string>

#include "base/result.hpp"
#include "runtime/agent/cuda_abi.hpp"

namespace tundish::agent {

/// Loaded for the life of the process: the driver cannot be unloaded safely.
class CudaDriver {
 public:
  /// `unsupported` when the library is not there or lacks a call.
  static Result<CudaDriver> load(const std::string& library);

  const cuda::Calls& calls() const { return calls_; }
  /// The error of a call: which one, and what the driver says.
  Result<> check(cuda::Return result, std::string_view call) const;

 private:
  cuda::Calls calls_{};
};

}  // namespace tundish::agent
