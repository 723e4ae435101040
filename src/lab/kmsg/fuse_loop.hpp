#pragma once
// libfuse's session and the thread that feeds it.
#include <memory>
#include <string>
#include <thread>

#include "base/result.hpp"
#include "lab/kmsg/kernel_log_files.hpp"

namespace tundish::lab {

/// Serves `files` at `directory` until destroyed, which unmounts.
class FuseLoop {
 public:
  static Result<std::unique_ptr<FuseLoop>> start(KernelLogFiles& files,
                                                 const std::string& directory);
  FuseLoop(const FuseLoop&) = delete;
  FuseLoop& operator=(const FuseLoop&) = delete;
  ~FuseLoop();

 private:
  explicit FuseLoop(KernelLogFiles& files) : files_(files) {}
  void run();

  KernelLogFiles& files_;
  fuse_session* session_ = nullptr;
  int stop_fd_ = -1;
  bool mounted_ = false;
  std::thread thread_;
};

}  // namespace tundish::lab
