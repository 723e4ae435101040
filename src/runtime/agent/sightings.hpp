#pragma once
#include <mutex>
#include <optional>

#include "model/gpu_snapshot.hpp"
#include "model/node.hpp"

namespace tundish::agent {

/// What was last seen of the hardware and whether tundishd knows it already. Any thread.
class Sightings {
 public:
  /// What is to be told; `serial` names it for confirm().
  struct News {
    std::optional<ObservedHardware> hardware;
    std::optional<GpuSnapshot> gpus;
    std::int64_t serial = 0;
  };

  void set_hardware(const ObservedHardware& hardware) {
    const std::lock_guard lock(mutex_);
    news_.hardware = hardware;
    ++news_.serial;
  }
  void set_gpus(const GpuSnapshot& gpus) {
    const std::lock_guard lock(mutex_);
    news_.gpus = gpus;
    ++news_.serial;
  }
  News news() const {
    const std::lock_guard lock(mutex_);
    return news_;
  }
  /// Something newer than `serial` stays to be told.
  void confirm(std::int64_t serial) {
    const std::lock_guard lock(mutex_);
    if (serial != news_.serial) return;
    news_.hardware.reset();
    news_.gpus.reset();
  }

 private:
  mutable std::mutex mutex_;
  News news_;
};

}  // namespace tundish::agent
