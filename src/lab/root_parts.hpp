#pragma once
// What the root file systems of nodes and switches have in common: an overlay over the machine's,
// whose upper layer lies in the lab's folder, and kernel file systems of their own.
#include <string>

#include "base/result.hpp"

namespace tundish::lab {

/// Below a folder of the lab: `disk` is the upper layer, `work` and `root` belong to the mount.
Result<> mount_overlay_root(const std::string& folder);
Result<> mount_private_proc(const std::string& root);

struct Device {
  std::string name;
  unsigned major;
  unsigned minor;
};
Result<> make_device(const std::string& dev, const Device& device);
/// A /dev with the devices of every machine.
Result<> mount_private_dev(const std::string& dev);
/// /run and /tmp in memory.
Result<> mount_private_run(const std::string& root);
Result<> pivot_into(const std::string& root);

/// Gives the upper layer its own identity, and hides home folders and the lab itself.
struct DiskOwner {
  std::string lab_root;
  std::string name;
};
Result<> prepare_upper_layer(const std::string& disk, const DiskOwner& owner);

/// Gives up what lets a process change the machine: kernel log, clock, modules, raw devices.
Result<> drop_capabilities();
/// The supervisor writes one byte into descriptor 3 when the cables are plugged.
Result<> wait_for_cables();

}  // namespace tundish::lab
