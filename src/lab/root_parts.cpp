#include "lab/root_parts.hpp"

#include <linux/capability.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "lab/namespaces.hpp"

namespace tundish::lab {
namespace fs = std::filesystem;
namespace {

constexpr unsigned long quiet = MS_NOSUID | MS_NODEV | MS_NOEXEC;
constexpr int sync_fd = 3;
constexpr int dropped[] = {CAP_SYSLOG, CAP_SYS_TIME, CAP_SYS_MODULE, CAP_SYS_RAWIO, CAP_MKNOD};

Result<> link_in(const std::string& folder, const std::string& name, const std::string& target) {
  if (::symlink(target.c_str(), (folder + "/" + name).c_str()) != 0) {
    return system_error("cannot link " + folder + "/" + name);
  }
  return {};
}

}  // namespace

Result<> mount_overlay_root(const std::string& folder) {
  TRY_VOID(mount_at({"none", "/", "", MS_REC | MS_PRIVATE, ""}));
  // Volatile: a sync inside would write out all the machine has unwritten.
  // The kernel refuses a volatile work folder that was used, so each boot gets a new one.
  std::error_code ignored;
  fs::remove_all(folder + "/work", ignored);
  TRY_VOID(make_folder(folder + "/work"));
  return mount_at({"overlay", folder + "/root", "overlay", 0,
                   "lowerdir=/,upperdir=" + folder + "/disk,workdir=" + folder + "/work,volatile"});
}

Result<> mount_private_proc(const std::string& root) {
  TRY_VOID(mount_at({"proc", root + "/proc", "proc", quiet, ""}));
  // One kernel serves all: its settings are not a node's to change.
  for (const char* const name : {"sys/kernel", "sys/vm", "sys/fs", "sysrq-trigger"}) {
    const std::string path = root + "/proc/" + name;
    std::error_code ignored;
    if (!fs::exists(path, ignored)) continue;
    TRY_VOID(bind_mount({path, path}));
    TRY_VOID(remount_read_only(path));
  }
  return {};
}

Result<> make_device(const std::string& dev, const Device& device) {
  const std::string path = dev + "/" + device.name;
  if (::mknod(path.c_str(), S_IFCHR | 0666, makedev(device.major, device.minor)) != 0 ||
      ::chmod(path.c_str(), 0666) != 0) {
    return system_error("cannot make device " + path);
  }
  return {};
}

Result<> mount_private_dev(const std::string& dev) {
  TRY_VOID(mount_at({"tmpfs", dev, "tmpfs", MS_NOSUID, "mode=755,size=4m"}));
  const Device basic[] = {{"null", 1, 3},    {"zero", 1, 5}, {"full", 1, 7},   {"random", 1, 8},
                          {"urandom", 1, 9}, {"tty", 5, 0},  {"fuse", 10, 229}};
  for (const auto& device : basic) TRY_VOID(make_device(dev, device));
  TRY_VOID(make_folder(dev + "/pts"));
  TRY_VOID(mount_at({"devpts", dev + "/pts", "devpts", MS_NOSUID | MS_NOEXEC,
                     "newinstance,ptmxmode=0666,mode=620,gid=5"}));
  TRY_VOID(link_in(dev, "ptmx", "pts/ptmx"));
  TRY_VOID(make_folder(dev + "/shm"));
  TRY_VOID(mount_at({"tmpfs", dev + "/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777"}));
  TRY_VOID(link_in(dev, "fd", "/proc/self/fd"));
  TRY_VOID(link_in(dev, "stdin", "/proc/self/fd/0"));
  TRY_VOID(link_in(dev, "stdout", "/proc/self/fd/1"));
  return link_in(dev, "stderr", "/proc/self/fd/2");
}

Result<> mount_private_run(const std::string& root) {
  TRY_VOID(mount_at({"tmpfs", root + "/run", "tmpfs", MS_NOSUID | MS_NODEV, "mode=755"}));
  TRY_VOID(mount_at({"tmpfs", root + "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777"}));
  return make_folder(root + "/run/lock", 01777);
}

Result<> pivot_into(const std::string& root) {
  if (::chdir(root.c_str()) != 0) return system_error("cannot enter " + root);
  if (::syscall(SYS_pivot_root, ".", ".") != 0) return system_error("cannot change the root");
  // The old root is stacked on the new one at "."; detaching it takes the lab's folders away.
  if (::umount2(".", MNT_DETACH) != 0) return system_error("cannot leave the old root");
  if (::chdir("/") != 0) return system_error("cannot enter the new root");
  return {};
}

Result<> prepare_upper_layer(const std::string& disk, const DiskOwner& owner) {
  TRY_VOID(make_folder(disk));
  TRY_VOID(make_opaque_folder(disk + "/root", 0700));
  TRY_VOID(make_opaque_folder(disk + "/home"));
  TRY_VOID(make_opaque_folder(disk + owner.lab_root));
  TRY_VOID(make_folder(disk + "/etc"));
  TRY_VOID(write_text(disk + "/etc/hostname", owner.name + "\n"));
  std::error_code ignored;
  if (fs::exists(fs::symlink_status(disk + "/etc/machine-id", ignored))) return {};
  std::string id;
  for (const char c : make_uuid()) {
    if (c != '-') id += c;
  }
  return write_text(disk + "/etc/machine-id", id + "\n", 0444);
}

Result<> drop_capabilities() {
  __user_cap_header_struct header{};
  header.version = _LINUX_CAPABILITY_VERSION_3;
  __user_cap_data_struct data[2] = {};
  if (::syscall(SYS_capget, &header, data) != 0) return system_error("cannot read capabilities");
  for (const int capability : dropped) {
    if (::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0 && errno != EINVAL) {
      return system_error("cannot drop capability " + std::to_string(capability));
    }
    const unsigned bit = 1U << (capability & 31);
    auto& word = data[capability >> 5];
    word.effective &= ~bit;
    word.permitted &= ~bit;
    word.inheritable &= ~bit;
  }
  if (::syscall(SYS_capset, &header, data) != 0) return system_error("cannot set capabilities");
  return {};
}

Result<> wait_for_cables() {
  char byte = 0;
  const auto count = ::read(sync_fd, &byte, 1);
  ::close(sync_fd);
  if (count != 1) return make_error(Code::unavailable, "the supervisor gave up before the start");
  return {};
}

}  // namespace tundish::lab
