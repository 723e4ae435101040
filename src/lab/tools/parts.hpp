#pragma once
// What the stand-ins for other people's test programs share: the simulated GPUs and how fast they
// are. What they print is written after each program's own source; nothing here knows the readers.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "lab/gpu_state.hpp"

namespace tundish::lab {

inline std::string state_file() {
  const char* path = std::getenv("FAKE_NVML_STATE");
  return path != nullptr ? path : "/run/tundish-hw/nvml.state";
}

/// The GPUs as they are now; waits as a program does whose driver hangs. None: no driver.
inline std::vector<GpuState> look_at_gpus() {
  const auto began = std::chrono::steady_clock::now();
  for (;;) {
    const auto states = load_gpu_states(state_file());
    if (!states) return {};
    std::int64_t hang_ms = 0;
    for (const auto& gpu : states->gpus) hang_ms = std::max(hang_ms, gpu.hang_ms);
    if (std::chrono::steady_clock::now() - began >= std::chrono::milliseconds(hang_ms)) {
      return states->gpus;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

inline double share(std::int64_t part, std::int64_t whole) {
  return whole <= 0 ? 1.0 : static_cast<double>(std::max<std::int64_t>(part, 0)) /
                                static_cast<double>(whole);
}
/// Of the full clock of an H100.
inline double clock_share(const GpuState& gpu) { return share(gpu.clock - gpu.clock_lost, 1980); }
inline double link_share(const GpuState& gpu) { return share(gpu.nvlinks - gpu.nvlinks_lost, 18); }
/// Of generation 5 with 16 lanes; each generation doubles the rate.
inline double bus_share(const GpuState& gpu) {
  const double generation = static_cast<double>(1 << std::clamp<std::int64_t>(gpu.pcie_gen, 0, 6));
  return generation / 32.0 * share(gpu.pcie_width, 16);
}

/// What a rail carries of its rate, though its port says nothing: a bad cable, a PCIe slot that
/// throttles. Lines `DEVICE PERCENT` in rails.state beside the GPUs' state; none: all of it.
inline double rail_share(const std::string& device) {
  const std::string gpus = state_file();
  std::ifstream file(gpus.substr(0, gpus.rfind('/') + 1) + "rails.state");
  std::string name;
  for (double percent = 0; file >> name >> percent;) {
    if (name == device) return percent / 100;
  }
  return 1;
}

inline void work_for(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

}  // namespace tundish::lab
