#include "lab/node_root.hpp"

#include <sys/mount.h>

#include <cstdio>
#include <filesystem>

#include "lab/cgroups.hpp"
#include "lab/memory_files.hpp"
#include "lab/namespaces.hpp"
#include "lab/root_parts.hpp"

namespace tundish::lab {
namespace fs = std::filesystem;
namespace {

constexpr unsigned nvidia_major = 195;  // Linux Documentation/admin-guide/devices.txt
constexpr unsigned nvidiactl_minor = 255;
constexpr unsigned long quiet = MS_NOSUID | MS_NODEV | MS_NOEXEC;

Result<> mount_dev(const LabPaths& paths, const std::string& root, const LabNode& node) {
  const std::string dev = root + "/dev";
  TRY_VOID(mount_private_dev(dev));
  for (int i = 0; i < node.gpus; ++i) {
    TRY_VOID(
        make_device(dev, {"nvidia" + std::to_string(i), nvidia_major, static_cast<unsigned>(i)}));
  }
  if (node.gpus > 0) TRY_VOID(make_device(dev, {"nvidiactl", nvidia_major, nvidiactl_minor}));
  return bind_mount({paths.kmsg() + "/" + node.name, dev + "/kmsg"});
}

Result<> mount_sys(const std::string& root, const std::string& folder) {
  // sysfs shows the network namespace that it was mounted from; /sys/class is ours, and `net` in
  // it is the kernel's own folder, so that interfaces come and go as they do on a real node.
  TRY_VOID(mount_at({"sysfs", folder + "/sysnet", "sysfs", quiet, ""}));
  TRY_VOID(mount_at({"sysfs", root + "/sys", "sysfs", quiet, ""}));
  TRY_VOID(bind_mount({folder + "/sysclass", root + "/sys/class"}));
  TRY_VOID(bind_mount({folder + "/sysnet/class/net", root + "/sys/class/net"}));
  // The machine's own cards are not the node's; without a PCI bus the node has none to show.
  std::error_code ignored;
  const std::string pci = root + "/sys/bus/pci/devices";
  const bool has_bus = fs::exists(pci, ignored) && fs::exists(folder + "/syspci", ignored);
  if (has_bus) TRY_VOID(bind_mount({folder + "/syspci", pci}));
  TRY_VOID(mount_memory(root, folder + "/syssystem", folder + "/sysnet"));
  TRY_VOID(remount_read_only(root + "/sys"));
  if (has_bus) TRY_VOID(remount_read_only(pci));
  TRY_VOID(remount_read_only(root + "/sys/class"));
  for (const auto& problem : mount_node_groups(root)) {
    std::fprintf(stderr, "node-init: %s\n", problem.c_str());
  }
  return {};
}

Result<> mount_run(const LabSpec& spec, const std::string& root, const std::string& folder) {
  TRY_VOID(mount_private_run(root));
  const std::string hardware = root + "/run/tundish-hw";
  TRY_VOID(bind_mount({folder + "/hw", hardware}));
  TRY_VOID(bind_mount({spec.bin_dir, hardware + "/bin"}));
  TRY_VOID(remount_read_only(hardware + "/bin"));
  // With a storage of its own behind the fabric, a node has what its tenant's network leads to.
  if (spec.fabric != FabricKind::frr || !spec.storage_box) {
    TRY_VOID(bind_mount({paths_of(spec).storage(), hardware + "/storage"}));
  }
  std::error_code ignored;
  const std::string lib = spec.bin_dir + "/../lib";
  if (!fs::is_directory(lib, ignored)) return {};
  TRY_VOID(bind_mount({lib, hardware + "/lib"}));
  return remount_read_only(hardware + "/lib");
}

}  // namespace

Result<> enter_node_root(const LabSpec& spec, const LabNode& node) {
  const LabPaths paths = paths_of(spec);
  const std::string folder = paths.node(node.name);
  const std::string root = folder + "/root";
  TRY_VOID(mount_overlay_root(folder));
  TRY_VOID(mount_private_proc(root));
  TRY_VOID(bind_mount({folder + "/boot_id", root + "/proc/sys/kernel/random/boot_id"}));
  TRY_VOID(mount_dev(paths, root, node));
  TRY_VOID(mount_run(spec, root, folder));
  TRY_VOID(mount_sys(root, folder));
  return pivot_into(root);
}

}  // namespace tundish::lab
