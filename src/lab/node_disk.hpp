#pragma once
// What a node finds when power comes on: its disk, its hardware's files, its boot id.
#include <string>

#include "base/result.hpp"
#include "lab/topology.hpp"

namespace tundish::lab {

/// Folders of one node below `paths.node(name)`:
///   disk      upper layer of the node's root file system; survives power cycles
///   work root sysnet   mount points and overlay work space
///   hw        /run/tundish-hw: nvml.state, and mount points bin, lib, storage
///   sysclass  /sys/class: infiniband, dmi
/// Idempotent; run at every power-on, so that a wiped disk gets its identity again.
Result<> prepare_node(const LabSpec& spec, const LabNode& node);
/// Per boot: a new boot id, transient GPU faults gone. Returns the boot id.
Result<std::string> prepare_boot(const LabSpec& spec, const LabNode& node);

}  // namespace tundish::lab
