#include "lab/supervisor.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <initializer_list>

#include "lab/cgroups.hpp"
#include "lab/lab_service.hpp"
#include "lab/namespaces.hpp"
#include "runtime/process/process.hpp"

namespace tundish::lab {
namespace {

void write_state(const LabPaths& paths, const std::string& state) {
  const auto written = process::write_file_atomic(paths.state_file(), state + "\n");
  if (!written) std::fprintf(stderr, "lab: %s\n", written.error().message().c_str());
}

int run_service(const LabSpec& spec) {
  const auto done = run_lab_service(spec);
  if (done) return 0;
  write_state(paths_of(spec), "failed: " + done.error().message());
  return 1;
}

/// Process 1 waits on behalf of everybody, so it does nothing else: a library that waits for its
/// own children must not lose them to the reaper.
int reap_until(pid_t service) {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : {SIGCHLD, SIGTERM, SIGINT}) ::sigaddset(&set, signal);
  for (;;) {
    for (;;) {
      int status = 0;
      const pid_t pid = ::waitpid(-1, &status, WNOHANG);
      if (pid <= 0) break;
      if (pid == service) return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    }
    int signal = 0;
    if (::sigwait(&set, &signal) == 0 && signal != SIGCHLD) ::kill(service, SIGTERM);
  }
}

int run_process_one(const LabSpec& spec, int recorded_fd) {
  char byte = 0;
  if (::read(recorded_fd, &byte, 1) != 1) return 1;  // an unrecorded lab could not be stopped
  ::close(recorded_fd);
  const auto mounted = mount_lab_root(paths_of(spec));
  if (!mounted) {
    write_state(paths_of(spec), "failed: " + mounted.error().message());
    return 1;
  }
  sigset_t set;
  sigset_t before;
  ::sigemptyset(&set);
  for (const int signal : {SIGCHLD, SIGTERM, SIGINT}) ::sigaddset(&set, signal);
  ::sigprocmask(SIG_BLOCK, &set, &before);
  const pid_t service = ::fork();
  if (service < 0) return 1;
  if (service == 0) {
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    ::_exit(run_service(spec));
  }
  return reap_until(service);
}

Result<pid_t> start_process_one(const LabSpec& spec, int& record_fd) {
  int pipe_fds[2];
  if (::pipe2(pipe_fds, O_CLOEXEC) != 0) return system_error("cannot make a pipe");
  const unsigned long flags = CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWUTS |
                              CLONE_NEWIPC | static_cast<unsigned long>(SIGCHLD);
  const long pid = ::syscall(SYS_clone, flags, nullptr, nullptr, nullptr, 0UL);
  if (pid == 0) {
    ::close(pipe_fds[1]);
    ::_exit(run_process_one(spec, pipe_fds[0]));
  }
  ::close(pipe_fds[0]);
  if (pid < 0) {
    const Error failed = system_error("cannot make namespaces");
    ::close(pipe_fds[1]);
    return failed;
  }
  record_fd = pipe_fds[1];
  return static_cast<pid_t>(pid);
}

/// The groups of processes that are just dying go away a moment later than the processes.
void remove_groups_patiently(const LabSpec& spec) {
  std::vector<std::string> left;
  for (int tries = 0; tries < 50; ++tries) {
    left = remove_groups(spec);
    if (left.empty()) return;
    ::usleep(20000);
  }
  for (const auto& folder : left) std::fprintf(stderr, "lab: cannot remove %s\n", folder.c_str());
}

}  // namespace

int supervise_main(const std::string& spec_file) {
  const auto spec = load_spec(spec_file);
  if (!spec) {
    std::fprintf(stderr, "lab supervise: %s\n", spec.error().message().c_str());
    return 1;
  }
  const LabPaths paths = paths_of(*spec);
  write_state(paths, "starting");
  int record_fd = -1;
  const auto pid = start_process_one(*spec, record_fd);
  if (!pid) {
    write_state(paths, "failed: " + pid.error().message());
    return 1;
  }
  (void)process::write_file_atomic(paths.start_file(), start_time_of(*pid) + "\n");
  const auto recorded =
      process::write_file_atomic(paths.pid_file(), std::to_string(*pid) + "\n");
  if (recorded && ::write(record_fd, "g", 1) != 1) std::perror("lab: process 1");
  ::close(record_fd);
  int status = 0;
  while (::waitpid(*pid, &status, 0) < 0 && errno == EINTR) {
  }
  remove_groups_patiently(*spec);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) write_state(paths, "stopped");
  if (WIFSIGNALED(status)) write_state(paths, "stopped: killed");
  return 0;
}

}  // namespace tundish::lab
