#include "lab/node_root.hpp"

#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "lab/cgroups.hpp"
#include "lab/namespaces.hpp"

namespace tundish::lab {
namespace fs = std::filesystem;
namespace {

constexpr unsigned nvidia_major = 195;  // Linux Documentation/admin-guide/devices.txt
constexpr unsigned nvidiactl_minor = 255;
constexpr unsigned long quiet = MS_NOSUID | MS_NODEV | MS_NOEXEC;

struct Device {
  std::string name;
  unsigned major;
  unsigned minor;
};

Result<> make_device(const std::string& dev, const Device& device) {
  const std::string path = dev + "/" + device.name;
  if (::mknod(path.c_str(), S_IFCHR | 0666, makedev(device.major, device.minor)) != 0 ||
      ::chmod(path.c_str(), 0666) != 0) {
    return system_error("cannot make device " + path);
  }
  return {};
}

Result<> link_in(const std::string& folder, const std::string& name, const std::string& target) {
  if (::symlink(target.c_str(), (folder + "/" + name).c_str()) != 0) {
    return system_error("cannot link " + folder + "/" + name);
  }
  return {};
}

Result<> mount_dev(const LabPaths& paths, const std::string& root, const LabNode& node) {
  const std::string dev = root + "/dev";
  TRY_VOID(mount_at({"tmpfs", dev, "tmpfs", MS_NOSUID, "mode=755,size=4m"}));
  const Device basic[] = {{"null", 1, 3},    {"zero", 1, 5},    {"full", 1, 7}, {"random", 1, 8},
                          {"urandom", 1, 9}, {"tty", 5, 0},     {"fuse", 10, 229}};
  for (const auto& device : basic) TRY_VOID(make_device(dev, device));
  for (int i = 0; i < node.gpus; ++i) {
    TRY_VOID(make_device(dev, {"nvidia" + std::to_string(i), nvidia_major,
                               static_cast<unsigned>(i)}));
  }
  if (node.gpus > 0) TRY_VOID(make_device(dev, {"nvidiactl", nvidia_major, nvidiactl_minor}));
  TRY_VOID(make_folder(dev + "/pts"));
  TRY_VOID(mount_at({"devpts", dev + "/pts", "devpts", MS_NOSUID | MS_NOEXEC,
                     "newinstance,ptmxmode=0666,mode=620,gid=5"}));
  TRY_VOID(link_in(dev, "ptmx", "pts/ptmx"));
  TRY_VOID(make_folder(dev + "/shm"));
  TRY_VOID(mount_at({"tmpfs", dev + "/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777"}));
  TRY_VOID(link_in(dev, "fd", "/proc/self/fd"));
  TRY_VOID(link_in(dev, "stdin", "/proc/self/fd/0"));
  TRY_VOID(link_in(dev, "stdout", "/proc/self/fd/1"));
  TRY_VOID(link_in(dev, "stderr", "/proc/self/fd/2"));
  return bind_mount({paths.kmsg() + "/" + node.name, dev + "/kmsg"});
}

Result<> mount_proc(const std::string& root, const std::string& folder) {
  TRY_VOID(mount_at({"proc", root + "/proc", "proc", quiet, ""}));
  // One kernel serves all nodes: its settings are not a node's to change.
  for (const char* const name : {"sys/kernel", "sys/vm", "sys/fs", "sysrq-trigger"}) {
    const std::string path = root + "/proc/" + name;
    std::error_code ignored;
    if (!fs::exists(path, ignored)) continue;
    TRY_VOID(bind_mount({path, path}));
    TRY_VOID(remount_read_only(path));
  }
  return bind_mount({folder + "/boot_id", root + "/proc/sys/kernel/random/boot_id"});
}

Result<> mount_sys(const std::string& root, const std::string& folder) {
  // sysfs shows the network namespace that it was mounted from; /sys/class is ours, and `net` in
  // it is the kernel's own folder, so that interfaces come and go as they do on a real node.
  TRY_VOID(mount_at({"sysfs", folder + "/sysnet", "sysfs", quiet, ""}));
  TRY_VOID(mount_at({"sysfs", root + "/sys", "sysfs", quiet, ""}));
  TRY_VOID(bind_mount({folder + "/sysclass", root + "/sys/class"}));
  TRY_VOID(bind_mount({folder + "/sysnet/class/net", root + "/sys/class/net"}));
  TRY_VOID(remount_read_only(root + "/sys"));
  for (const auto& problem : mount_node_groups(root)) {
    std::fprintf(stderr, "node-init: %s\n", problem.c_str());
  }
  return {};
}

Result<> mount_run(const LabSpec& spec, const std::string& root, const std::string& folder) {
  TRY_VOID(mount_at({"tmpfs", root + "/run", "tmpfs", MS_NOSUID | MS_NODEV, "mode=755"}));
  TRY_VOID(mount_at({"tmpfs", root + "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777"}));
  TRY_VOID(make_folder(root + "/run/lock", 01777));
  const std::string hardware = root + "/run/tundish-hw";
  TRY_VOID(bind_mount({folder + "/hw", hardware}));
  TRY_VOID(bind_mount({spec.bin_dir, hardware + "/bin"}));
  TRY_VOID(remount_read_only(hardware + "/bin"));
  TRY_VOID(bind_mount({paths_of(spec).storage(), hardware + "/storage"}));
  std::error_code ignored;
  const std::string lib = spec.bin_dir + "/../lib";
  if (!fs::is_directory(lib, ignored)) return {};
  TRY_VOID(bind_mount({lib, hardware + "/lib"}));
  return remount_read_only(hardware + "/lib");
}

Result<> pivot(const std::string& root) {
  if (::chdir(root.c_str()) != 0) return system_error("cannot enter " + root);
  if (::syscall(SYS_pivot_root, ".", ".") != 0) return system_error("cannot change the root");
  // The old root is stacked on the new one at "."; detaching it takes the lab's folders away.
  if (::umount2(".", MNT_DETACH) != 0) return system_error("cannot leave the old root");
  if (::chdir("/") != 0) return system_error("cannot enter the new root");
  return {};
}

}  // namespace

Result<> enter_node_root(const LabSpec& spec, const LabNode& node) {
  const LabPaths paths = paths_of(spec);
  const std::string folder = paths.node(node.name);
  const std::string root = folder + "/root";
  TRY_VOID(mount_at({"none", "/", "", MS_REC | MS_PRIVATE, ""}));
  // Volatile: a node's sync would write out all the machine has unwritten.
  // The kernel refuses a volatile work folder that was used, so each boot gets a new one.
  std::error_code ignored;
  fs::remove_all(folder + "/work", ignored);
  TRY_VOID(make_folder(folder + "/work"));
  TRY_VOID(mount_at({"overlay", root, "overlay", 0,
                     "lowerdir=/,upperdir=" + folder + "/disk,workdir=" + folder +
                         "/work,volatile"}));
  TRY_VOID(mount_proc(root, folder));
  TRY_VOID(mount_dev(paths, root, node));
  TRY_VOID(mount_run(spec, root, folder));
  TRY_VOID(mount_sys(root, folder));
  return pivot(root);
}

}  // namespace tundish::lab
