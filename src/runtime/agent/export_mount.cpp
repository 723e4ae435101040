#include "runtime/agent/export_mount.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>

#include "base/text.hpp"
#include "runtime/agent/mounts.hpp"
#include "runtime/agent/teardown.hpp"
#include "runtime/process/process.hpp"

namespace tundish::agent {
namespace {
namespace fs = std::filesystem;

/// The underlay carries 54 bytes more than a segment, but routes between VRFs carry no jumbo frames
/// everywhere: a packet that is too long would vanish. Unit: bytes of IP.
constexpr const char* storage_mtu = "1500";

std::string key_file(const AgentPaths& paths) { return paths.state + "/storage_key"; }
std::string known_hosts(const AgentPaths& paths) { return paths.state + "/storage_known_hosts"; }
std::string data_folder(const AgentPaths& paths) { return export_base(paths) + "/data"; }
std::string pid_file(const AgentPaths& paths, const std::string& program) {
  return paths.run + "/tundish-" + program + ".pid";
}

bool is_mounted(const std::string& target, const std::string& type) {
  const auto mounts = load_mounts();
  const MountPoint* found = mounts ? find_mount(*mounts, target) : nullptr;
  return found && found->type == type;
}

bool is_fuse(const std::string& target) {
  const auto mounts = load_mounts();
  const MountPoint* found = mounts ? find_mount(*mounts, target) : nullptr;
  return found && found->type.starts_with("fuse");
}

Result<> make_private_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return {};
  return make_error(Code::unavailable, "cannot make " + path + ": " + std::strerror(errno));
}

/// sshfs unmounts itself when it ends, and even root writes into an empty folder: so it is none.
Result<> cover(const std::string& target, Duration limit) {
  return run_tool({"mount", "-t", "tmpfs", "-o", "ro,size=4k,mode=0755,nosuid,nodev",
                   "tundish-no-storage", target},
                  limit);
}

Result<> make_base(const AgentPaths& paths, const Deadline& deadline) {
  const std::string base = export_base(paths);
  TRY_VOID(make_private_folder(base));
  if (is_mounted(base, "tmpfs")) return {};
  TRY_VOID(run_tool(
      {"mount", "-t", "tmpfs", "-o", "size=16k,mode=0700,nosuid,nodev", "tundish-no-storage", base},
      deadline.left()));
  TRY_VOID(make_private_folder(data_folder(paths)));
  return run_tool({"mount", "-o", "remount,ro", base}, deadline.left());
}

/// Starts a FUSE program and waits until its mount is there.
Result<> start(const std::string& program, const std::vector<std::string>& words,
               const std::string& target, const AgentPaths& paths, const Deadline& deadline) {
  process::Daemon daemon;
  daemon.argv = words;
  daemon.log_file = paths.log + "/" + program + ".log";
  daemon.pid_file = pid_file(paths, program);
  const int pid = TRY(process::spawn_daemon(daemon));
  while (!is_fuse(target)) {
    if (!process::is_alive(pid)) {
      return make_error(Code::unavailable,
                        program + " did not reach the storage; see " + daemon.log_file);
    }
    if (deadline.left() <= milliseconds(20)) {
      process::stop_process(pid, milliseconds(200));
      return make_error(Code::timeout, program + " mounts nothing at " + target);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return {};
}

bool runs(const AgentPaths& paths, const std::string& program) {
  return process::read_live_pid(pid_file(paths, program), program) > 0;
}

}  // namespace

std::string export_base(const AgentPaths& paths) { return paths.run + "/tundish-export"; }

std::vector<std::string> sshfs_words(const ExportMount& mount, const AgentPaths& paths) {
  // The names of files are asked for anew each time: another node may have changed them.
  const std::string options =
      "IdentityFile=" + key_file(paths) +
      ",IdentitiesOnly=yes,UserKnownHostsFile=" + known_hosts(paths) +
      ",GlobalKnownHostsFile=/dev/null,StrictHostKeyChecking=yes,BatchMode=yes,"
      "ConnectTimeout=3,ConnectionAttempts=1,ServerAliveInterval=2,ServerAliveCountMax=3,"
      "reconnect,dir_cache=no,attr_timeout=0,entry_timeout=0,negative_timeout=0,nosuid,nodev";
  return {"sshfs", "-f", mount.source, data_folder(paths), "-F", "/dev/null", "-o", options};
}

std::vector<std::string> bindfs_words(const ExportMount& mount, const AgentPaths& paths) {
  return {"bindfs",
          "-f",
          "--multithreaded",
          "--create-as-user",
          "-o",
          "nosuid,nodev,nonempty,attr_timeout=0,entry_timeout=0,negative_timeout=0",
          data_folder(paths),
          mount.target};
}

std::vector<std::string> export_login_words(const std::string& user_and_server,
                                            const AgentPaths& paths) {
  return {"ssh",
          "-F",
          "/dev/null",
          "-i",
          key_file(paths),
          "-o",
          "IdentitiesOnly=yes",
          "-o",
          "UserKnownHostsFile=" + known_hosts(paths),
          "-o",
          "GlobalKnownHostsFile=/dev/null",
          "-o",
          "StrictHostKeyChecking=yes",
          "-o",
          "BatchMode=yes",
          "-o",
          "ConnectTimeout=3",
          "-s",
          user_and_server,
          "sftp"};
}

Result<> write_export_access(const SetupNode& setup, const AgentPaths& paths) {
  if (!setup.storage) return {};
  std::string servers;
  for (const auto& mount : setup.exports) {
    const auto at = mount.source.find('@');
    if (mount.type != "sshfs" || at == std::string::npos) continue;
    servers += mount.source.substr(at + 1, mount.source.find(':') - at - 1) + " " +
               setup.storage->identity_key + "\n";
  }
  TRY_VOID(process::write_file_atomic(known_hosts(paths), servers, 0600));
  return process::write_file_atomic(key_file(paths), setup.storage->private_key, 0600);
}

Result<> apply_storage_route(const SetupNode& setup, Duration limit) {
  if (!setup.storage) return {};
  const StorageAccess& way = *setup.storage;
  const Deadline deadline(limit);
  TRY(run_ip({"addr", "replace", way.address + "/32", "dev", setup.interface}, deadline.left()));
  TRY(run_ip({"route", "replace", way.prefix, "via", way.gateway, "dev", setup.interface, "src",
              way.address, "mtu", storage_mtu, "advmss", "1440"},
             deadline.left()));
  return {};
}

Result<> mount_sshfs(const ExportMount& mount, const AgentPaths& paths, Duration limit) {
  const Deadline deadline(limit);
  const bool alive = runs(paths, "sshfs") && runs(paths, "bindfs");
  const auto mounts = TRY(load_mounts());
  const MountPoint* top = find_mount(mounts, mount.target);
  if (top && top->type.starts_with("fuse") && alive) return {};
  TRY_VOID(unmount_exports({mount, {"", export_base(paths), ""}}, deadline.at_most(seconds(10))));
  TRY_VOID(stop_export_programs(paths));
  TRY_VOID(make_base(paths, deadline));
  TRY_VOID(make_mount_point(mount.target));
  TRY_VOID(cover(mount.target, deadline.left()));
  const std::string data = data_folder(paths);
  // The way may be a moment old: routes are still told to the other switches.
  for (;;) {
    const auto mounted = start("sshfs", sshfs_words(mount, paths), data, paths, deadline);
    if (mounted) break;
    if (deadline.left() < seconds(2)) return mounted.error();
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  }
  return start("bindfs", bindfs_words(mount, paths), mount.target, paths, deadline);
}

Result<> stop_export_programs(const AgentPaths& paths) {
  for (const std::string program : {"bindfs", "sshfs"}) {
    const int pid = process::read_live_pid(pid_file(paths, program), program);
    if (pid > 0 && !process::stop_process(pid, seconds(1))) {
      return make_error(Code::unavailable, program + " does not end");
    }
    std::error_code ignored;
    fs::remove(pid_file(paths, program), ignored);
  }
  return {};
}

Result<> drop_export_access(const AgentPaths& paths) {
  TRY_VOID(stop_export_programs(paths));
  std::error_code failed;
  fs::remove(key_file(paths), failed);
  if (failed) return make_error(Code::unavailable, "cannot remove the key of the storage");
  fs::remove(known_hosts(paths), failed);
  fs::remove(export_base(paths), failed);
  return {};
}

}  // namespace tundish::agent
