#include "lab/namespaces.hpp"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/text.hpp"
#include "runtime/process/process.hpp"

namespace tundish::lab {
namespace fs = std::filesystem;

Error system_error(const std::string& what) {
  const int reason = errno;
  const Code code = reason == EPERM || reason == EACCES ? Code::denied : Code::unavailable;
  return make_error(code, what + ": " + std::strerror(reason));
}

Result<> mount_at(const MountPoint& p) {
  const char* data = p.options.empty() ? nullptr : p.options.c_str();
  const char* type = p.type.empty() ? nullptr : p.type.c_str();
  if (::mount(p.source.c_str(), p.target.c_str(), type, p.flags, data) != 0) {
    return system_error("cannot mount " + p.source + " at " + p.target);
  }
  return {};
}

Result<> bind_mount(const Bind& bind) {
  std::error_code ignored;
  if (!fs::exists(bind.target, ignored)) {
    if (fs::is_directory(bind.source, ignored)) {
      TRY_VOID(make_folder(bind.target));
    } else {
      TRY_VOID(write_text(bind.target, ""));
    }
  }
  return mount_at({bind.source, bind.target, "", MS_BIND, ""});
}

Result<> remount_read_only(const std::string& target) {
  return mount_at({"none", target, "", MS_REMOUNT | MS_BIND | MS_RDONLY, ""});
}

Result<> make_folder(const std::string& path, unsigned mode) {
  std::error_code failed;
  if (fs::create_directories(path, failed); failed) {
    return make_error(Code::unavailable, "cannot make folder " + path + ": " + failed.message());
  }
  if (::chmod(path.c_str(), mode) != 0) return system_error("cannot set the mode of " + path);
  return {};
}

Result<> write_text(const std::string& path, const std::string& text, unsigned mode) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
  if (fd < 0) return system_error("cannot write " + path);
  const auto written = ::write(fd, text.data(), text.size());
  const bool ok = written == static_cast<ssize_t>(text.size());
  const Error failed = ok ? Error{} : system_error("cannot write " + path);
  ::close(fd);
  if (!ok) return failed;
  return {};
}

Result<> make_opaque_folder(const std::string& path, unsigned mode) {
  TRY_VOID(make_folder(path, mode));
  if (::setxattr(path.c_str(), "trusted.overlay.opaque", "y", 1, 0) != 0) {
    return system_error("cannot hide the lower layer at " + path);
  }
  return {};
}

Result<> mount_lab_root(const LabPaths& paths) {
  TRY_VOID(mount_at({"none", "/", "", MS_REC | MS_PRIVATE, ""}));
  TRY_VOID(make_folder(paths.host_proc()));
  TRY_VOID(mount_at({"/proc", paths.host_proc(), "", MS_BIND, ""}));
  TRY_VOID(mount_at({"proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, ""}));
  TRY_VOID(make_folder(paths.sysfs()));
  TRY_VOID(mount_at({"sysfs", paths.sysfs(), "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, ""}));
  if (::sethostname("lab", 3) != 0) return system_error("cannot set the name of the lab");
  return {};
}

namespace {

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (auto& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

/// Between clone and exec in a copy of a threaded process: only plain system calls.
[[noreturn]] void exec_node(char** argv, char** env, int log, const NodeProcess& process) {
  if (process.network_fd >= 0 && ::setns(process.network_fd, CLONE_NEWNET) != 0) ::_exit(126);
  ::setsid();
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  const int null = ::open("/dev/null", O_RDONLY);
  ::dup2(null, 0);
  ::dup2(log, 1);
  ::dup2(log, 2);
  if (process.sync_fd != 3) ::dup2(process.sync_fd, 3);
  ::syscall(SYS_close_range, 4U, ~0U, CLOSE_RANGE_CLOEXEC);
  ::fcntl(3, F_SETFD, 0);
  ::execve(argv[0], argv, env);
  ::_exit(127);
}

}  // namespace

Result<int> clone_node(const NodeProcess& process) {
  const int log = ::open(process.log_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (log < 0) return system_error("cannot open " + process.log_file);
  std::vector<std::string> arguments = process.argv;
  std::vector<std::string> variables = {
      "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root",
      "LANG=C.UTF-8"};
  const auto argv = pointers(arguments);
  const auto env = pointers(variables);
  unsigned long flags = CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC |
                        static_cast<unsigned long>(SIGCHLD);
  if (process.network_fd < 0) flags |= CLONE_NEWNET;
  const long pid = ::syscall(SYS_clone, flags, nullptr, nullptr, nullptr, 0UL);
  if (pid == 0) {
    exec_node(const_cast<char**>(argv.data()), const_cast<char**>(env.data()), log, process);
  }
  const Error failed = pid < 0 ? system_error("cannot start a node") : Error{};
  ::close(log);
  if (pid < 0) return failed;
  return static_cast<int>(pid);
}

Result<int> make_network() {
  Result<int> made = -1;
  std::thread([&made] {  // a namespace of one thread; the others stay where they are
    if (::unshare(CLONE_NEWNET) != 0) {
      made = system_error("cannot make a network namespace");
      return;
    }
    const int fd = ::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    if (fd < 0) made = system_error("cannot open a network namespace");
    if (fd >= 0) made = fd;
  })
      .join();
  return made;
}

std::string path_of_fd(int fd) {
  return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(fd);
}

std::string make_uuid() {
  std::ifstream in("/proc/sys/kernel/random/uuid");
  std::string text;
  std::getline(in, text);
  return text;
}

int host_pid_of_self(const std::string& host_proc) {
  std::error_code failed;
  const auto target = fs::read_symlink(host_proc + "/self", failed);
  if (failed) return 0;
  return static_cast<int>(parse_integer(target.string()).value_or(0));
}

std::string start_time_of(int pid) {
  const auto text = process::read_file("/proc/" + std::to_string(pid) + "/stat");
  if (!text) return "";
  const auto end = text->rfind(')');  // the name may hold blanks and brackets
  if (end == std::string::npos) return "";
  std::istringstream in(text->substr(end + 1));
  std::string word;
  for (int field = 3; field <= 22; ++field) in >> word;
  return word;
}

}  // namespace tundish::lab
