#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "base/text.hpp"
#include "runtime/process/environment.hpp"
#include "runtime/process/fd.hpp"
#include "runtime/process/process.hpp"

extern char** environ;

namespace tundish::process {
namespace {

constexpr auto stop_poll = std::chrono::milliseconds(10);
constexpr auto kill_wait = std::chrono::seconds(1);

/// All that the child needs, made before the fork: after it only async-signal-safe calls.
struct Launch {
  const char* program;
  char* const* argv;
  char* const* env;
  const char* directory;
  int input;
  int log;
  int report;
};

void close_others_at_exec() {
  if (syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC) == 0) return;
  for (int fd = 3; fd < 4096; ++fd) fcntl(fd, F_SETFD, FD_CLOEXEC);
}

[[noreturn]] void become(const Launch& launch) {
  const int pid = getpid();
  if (write(launch.report, &pid, sizeof pid) != sizeof pid) _exit(127);
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (chdir(launch.directory) == 0) {
    dup2(launch.input, 0);
    dup2(launch.log, 1);
    dup2(launch.log, 2);
    close_others_at_exec();
    execvpe(launch.program, launch.argv, launch.env);
  }
  const int number = errno;
  if (write(launch.report, &number, sizeof number) < 0) _exit(126);
  _exit(127);
}

/// The pid, then an errno if exec failed, then end of file.
struct Report {
  int pid = 0;
  int failure = 0;
};

Report read_report(int fd) {
  Report report;
  std::array<int*, 2> slots{&report.pid, &report.failure};
  for (int* slot : slots) {
    ssize_t got = 0;
    do {
      got = read(fd, slot, sizeof *slot);
    } while (got < 0 && errno == EINTR);
    if (got != static_cast<ssize_t>(sizeof *slot)) break;
  }
  return report;
}

Result<Report> fork_twice(Launch launch) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return make_error(Code::internal, std::string("cannot make a pipe: ") + std::strerror(errno));
  }
  const Fd read_end(ends[0]);
  Fd write_end(ends[1]);
  launch.report = write_end.get();
  const pid_t middle = fork();
  if (middle < 0) {
    return make_error(Code::unavailable, std::string("cannot fork: ") + std::strerror(errno));
  }
  if (middle == 0) {
    setsid();
    const pid_t final_child = fork();
    if (final_child == 0) become(launch);
    _exit(final_child < 0 ? 1 : 0);
  }
  write_end.reset();
  int status = 0;
  while (waitpid(middle, &status, 0) < 0 && errno == EINTR) {
  }
  return read_report(read_end.get());
}

struct ProcessStat {
  char state = 'X';
  std::string start_time;
};

/// State and start time from /proc/PID/stat; state 'X' when there is no such process.
ProcessStat read_stat(int pid) {
  const auto text = read_file("/proc/" + std::to_string(pid) + "/stat");
  if (!text) return {};
  // The name in parentheses may itself hold blanks and parentheses.
  const auto end = text->rfind(')');
  if (end == std::string::npos || end + 2 >= text->size()) return {};
  const auto fields = split(std::string_view(*text).substr(end + 2), ' ');
  // Field 3 is the state, field 22 the start time. Source: proc_pid_stat(5).
  if (fields.size() < 20 || fields[0].empty()) return {};
  return {fields[0][0], fields[19]};
}

bool is_gone(int pid, const ProcessStat& was) {
  // Reaps it in case it is our own child.
  waitpid(pid, nullptr, WNOHANG);
  const ProcessStat now = read_stat(pid);
  return now.state == 'X' || now.state == 'Z' || now.start_time != was.start_time;
}

bool wait_gone(int pid, const ProcessStat& was, std::chrono::microseconds limit) {
  const auto until = std::chrono::steady_clock::now() + limit;
  while (!is_gone(pid, was)) {
    if (std::chrono::steady_clock::now() >= until) return false;
    std::this_thread::sleep_for(stop_poll);
  }
  return true;
}

}  // namespace

std::vector<std::string> merge_environment(const std::vector<std::string>& added) {
  std::vector<std::string> out;
  const auto name_of = [](std::string_view entry) { return entry.substr(0, entry.find('=')); };
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    bool is_replaced = false;
    for (const auto& other : added) is_replaced |= name_of(other) == name_of(*entry);
    if (!is_replaced) out.emplace_back(*entry);
  }
  out.insert(out.end(), added.begin(), added.end());
  return out;
}

Result<int> spawn_daemon(const Daemon& daemon) {
  if (daemon.argv.empty()) return make_error(Code::invalid, "a daemon needs a program");
  const std::string log_path = daemon.log_file.empty() ? "/dev/null" : daemon.log_file;
  const Fd input(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const Fd log(open(log_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!input || !log) {
    return make_error(Code::invalid, "cannot open log '" + log_path + "': " + std::strerror(errno));
  }
  const StringTable argv(daemon.argv);
  const StringTable env(merge_environment(daemon.env));
  const std::string directory = daemon.directory.empty() ? "/" : daemon.directory;
  const Report report = TRY(fork_twice({daemon.argv[0].c_str(), argv.data(), env.data(),
                                        directory.c_str(), input.get(), log.get(), -1}));
  const std::string& program = daemon.argv[0];
  if (report.pid == 0) return make_error(Code::unavailable, "cannot start '" + program + "'");
  if (report.failure != 0) {
    const bool missing = report.failure == ENOENT || report.failure == EACCES;
    return make_error(missing ? Code::unsupported : Code::unavailable,
                      "cannot run '" + program + "': " + std::strerror(report.failure))
        .with_remedy("check that it is installed and that '" + directory + "' exists");
  }
  if (!daemon.pid_file.empty()) {
    auto written = write_file_atomic(daemon.pid_file, std::to_string(report.pid) + "\n");
    if (!written) {
      // A daemon that nobody can find again must not live on.
      kill(report.pid, SIGKILL);
      return std::move(written).error();
    }
  }
  return report.pid;
}

bool is_alive(int pid) {
  if (pid <= 0) return false;
  const char state = read_stat(pid).state;
  return state != 'X' && state != 'Z';
}

bool stop_process(int pid, Duration grace) {
  if (!is_alive(pid)) return true;
  // The start time tells a successor with the same pid apart.
  const ProcessStat was = read_stat(pid);
  kill(pid, SIGTERM);
  if (wait_gone(pid, was, std::chrono::microseconds(grace.us))) return true;
  kill(pid, SIGKILL);
  return wait_gone(pid, was, kill_wait);
}

int read_live_pid(const std::string& pid_file, const std::string& must_contain) {
  const auto text = read_file(pid_file);
  if (!text) return 0;
  const auto pid = parse_integer(trim(*text));
  if (!pid || *pid <= 1 || *pid > 0x7fffffff) return 0;
  const int number = static_cast<int>(*pid);
  if (!is_alive(number)) return 0;
  const auto line = read_file("/proc/" + std::to_string(number) + "/cmdline");
  if (!line) return 0;
  std::string readable = *line;
  for (char& c : readable) c = c == '\0' ? ' ' : c;
  return readable.find(must_contain) == std::string::npos ? 0 : number;
}

}  // namespace tundish::process
