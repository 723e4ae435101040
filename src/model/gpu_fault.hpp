#pragma once
#include "model/kernel_event.hpp"

namespace tundish {

/// A line that accuses a GPU or what joins GPUs, whatever the catalogue makes of it.
bool is_gpu_fault(const KernelEvent& event);

}  // namespace tundish
