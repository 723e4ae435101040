#pragma once
// The memory controller of a node: files below /sys/devices/system/edac.
#include <string>

#include "base/result.hpp"
#include "lab/gpu_state.hpp"

namespace tundish::lab {

/// Below `folder`, which the node sees as /sys/devices/system: its own controller, and places for
/// what the kernel shows there of the machine. Keeps what is there already.
Result<> prepare_memory(const std::string& folder);
/// One uncorrected error more; a sticky one is there again after every boot.
Result<> count_memory_error(const std::string& folder, Sticky sticky);
/// What a boot does: counts begin anew.
Result<> clear_memory_on_boot(const std::string& folder);
/// Over /sys/devices/system of a node's root, from the lab's `folder` and the kernel's `sysfs`.
Result<> mount_memory(const std::string& root, const std::string& folder,
                      const std::string& sysfs);

}  // namespace tundish::lab
