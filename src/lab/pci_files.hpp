#pragma once
// The GPUs of a node on its PCI bus: files below /sys/bus/pci/devices.
#include <string>
#include <vector>

#include "base/result.hpp"
#include "lab/gpu_state.hpp"

namespace tundish::lab {

/// Below `folder`, which the node sees as /sys/bus/pci/devices. Keeps what is there already.
Result<> prepare_pci(const std::string& folder, const GpuStates& gpus);

}  // namespace tundish::lab
