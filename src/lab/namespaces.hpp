#pragma once
// The kernel calls that make a lab and its nodes: namespaces, mounts, clone. Linux only, root only.
#include <string>
#include <vector>

#include "base/result.hpp"
#include "lab/topology.hpp"

namespace tundish::lab {

Error system_error(const std::string& what);

struct MountPoint {
  std::string source;
  std::string target;
  std::string type;
  unsigned long flags = 0;
  std::string options;
};
Result<> mount_at(const MountPoint& point);
struct Bind {
  std::string source;
  std::string target;  ///< created (as a file or a folder, like the source) when it is missing
};
Result<> bind_mount(const Bind& bind);
/// Makes what is mounted at `target` read-only in this mount namespace alone.
Result<> remount_read_only(const std::string& target);

Result<> make_folder(const std::string& path, unsigned mode = 0755);
Result<> write_text(const std::string& path, const std::string& text, unsigned mode = 0644);
/// Hides what the lower layer of an overlay has at this folder of the upper layer.
Result<> make_opaque_folder(const std::string& path, unsigned mode = 0755);

/// As process 1 of the lab: private mounts, own /proc, the machine's /proc kept at host_proc(),
/// and a sysfs that shows the lab's own root network.
Result<> mount_lab_root(const LabPaths& paths);

struct NodeProcess {
  std::vector<std::string> argv;  ///< argv[0] is a path
  std::string log_file;           ///< both streams, appended
  int sync_fd = -1;               ///< becomes descriptor 3 of the child
  int network_fd = -1;            ///< network namespace to live in; -1: a new one
};
/// A network namespace that lives as long as the descriptor.
Result<int> make_network();
/// A file by which the programs that this process starts can name what `fd` is open at.
std::string path_of_fd(int fd);
/// Starts process 1 of a node in namespaces of its own; returns its pid as seen by the caller.
Result<int> clone_node(const NodeProcess& process);

/// A random UUID, as the kernel writes boot ids.
std::string make_uuid();
/// The caller's pid in the pid namespace of the machine, by a /proc that belongs to it.
int host_pid_of_self(const std::string& host_proc);
/// Field 22 of /proc/PID/stat: tells a reused pid from the process that we started.
std::string start_time_of(int pid);

}  // namespace tundish::lab
