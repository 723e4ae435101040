#include "runtime/process/leash.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

#include "runtime/process/environment.hpp"
#include "runtime/process/strays.hpp"

namespace tundish::process {
namespace {

using Clock = std::chrono::steady_clock;

/// The keeper kills for so long; what is left then waits in the kernel (D state).
constexpr auto kill_for = std::chrono::milliseconds(800);
/// The keeper itself is given up after that.
constexpr auto abandon_after = std::chrono::seconds(1);

std::int64_t now_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(Clock::now().time_since_epoch())
      .count();
}

/// What the keeper tells at its end.
struct Report {
  int start_error = 0;  ///< errno of a program that could not be started
  int status = 0;       ///< of waitpid
  int survivors = 0;    ///< descendants that did not die
};

std::vector<pid_t> descendants_of(pid_t root) {
  std::map<pid_t, pid_t> parents;
  if (DIR* folder = ::opendir("/proc")) {
    while (const dirent* entry = ::readdir(folder)) {
      const pid_t pid = static_cast<pid_t>(std::atoi(entry->d_name));
      if (pid > 0) parents[pid] = parent_of(pid);
    }
    ::closedir(folder);
  }
  std::vector<pid_t> out;
  for (const auto& [pid, parent] : parents) {
    pid_t at = parent;
    for (int depth = 0; at > 1 && at != root && depth < 64; ++depth) {
      const auto next = parents.find(at);
      at = next == parents.end() ? 0 : next->second;
    }
    if (at == root) out.push_back(pid);
  }
  return out;
}

/// Whoever is orphaned becomes the keeper's child, so that nobody gets away.
int kill_all() {
  const auto give_up = Clock::now() + kill_for;
  for (;;) {
    for (const pid_t pid : descendants_of(::getpid())) ::kill(pid, SIGKILL);
    for (;;) {
      const pid_t reaped = ::waitpid(-1, nullptr, WNOHANG);
      if (reaped < 0 && errno == ECHILD) return 0;
      if (reaped <= 0) break;
    }
    if (Clock::now() >= give_up) break;
    ::usleep(5000);
  }
  return static_cast<int>(descendants_of(::getpid()).size());
}

struct KeeperPlan {
  const char* program;
  char* const* argv;
  char* const* env;
  const char* directory;
  int out, err, control, report;
};

/// A copy of another keeper's leash would keep that one from being pulled; sockets and journals of
/// the process that forked us are none of ours.
void close_others(const KeeperPlan& plan) {
  std::array<int, 4> kept = {plan.out, plan.err, plan.control, plan.report};
  std::sort(kept.begin(), kept.end());
  unsigned from = 3;
  for (const int fd : kept) {
    const auto here = static_cast<unsigned>(fd);
    if (here > from) ::close_range(from, here - 1, 0);
    from = std::max(from, here + 1);
  }
  ::close_range(from, ~0U, 0);
}

/// Never returns. Dies with its keeper, should somebody kill that one as well.
[[noreturn]] void be_program(const KeeperPlan& plan, pid_t keeper, int failed) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != keeper) ::_exit(127);
  ::setpgid(0, 0);
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const bool wired = ::dup2(nothing, 0) == 0 && ::dup2(plan.out, 1) == 1 &&
                     ::dup2(plan.err, 2) == 2 && ::chdir(plan.directory) == 0;
  if (wired) {
    for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::execvpe(plan.program, plan.argv, plan.env);  // the rest closes itself
  }
  const int error = errno;
  (void)!::write(failed, &error, sizeof error);
  ::_exit(127);
}

/// Its errno when it could not be started.
int start_program(const KeeperPlan& plan, pid_t& pid) {
  int failed[2];
  if (::pipe2(failed, O_CLOEXEC) != 0) return errno;
  const pid_t keeper = ::getpid();
  pid = ::fork();
  if (pid == 0) be_program(plan, keeper, failed[1]);
  int error = pid < 0 ? errno : 0;
  ::close(failed[1]);
  if (pid > 0 && ::read(failed[0], &error, sizeof error) == sizeof error) {
    ::waitpid(pid, nullptr, 0);
  }
  ::close(failed[0]);
  return error;
}

/// Never returns. Between fork and here only this thread exists.
[[noreturn]] void be_keeper(const KeeperPlan& plan) {
  ::setpgid(0, 0);
  close_others(plan);
  ::prctl(PR_SET_NAME, keeper_name);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) ::signal(signal, SIG_IGN);
  Report report;
  pid_t pid = 0;
  report.start_error = start_program(plan, pid);
  ::close(plan.out);
  ::close(plan.err);
  const int pidfd =
      report.start_error == 0 ? static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)) : -1;
  while (report.start_error == 0) {
    std::array<pollfd, 2> polled{{{plan.control, POLLIN, 0}, {pidfd, POLLIN, 0}}};
    (void)::poll(polled.data(), polled.size(), pidfd < 0 ? 10 : -1);
    if (::waitpid(pid, &report.status, WNOHANG) == pid) break;
    if (polled[0].revents == 0) continue;
    ::kill(pid, SIGKILL);
    const auto give_up = Clock::now() + kill_for;
    while (::waitpid(pid, &report.status, WNOHANG) != pid && Clock::now() < give_up) {
      ::usleep(2000);
    }
    break;
  }
  report.survivors = kill_all();
  (void)!::write(plan.report, &report, sizeof report);
  ::_exit(0);
}

struct Pipe {
  Fd read_end, write_end;
  static Result<Pipe> make() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return make_error(Code::unavailable, "cannot make a pipe");
    Pipe out;
    out.read_end = Fd(ends[0]);
    out.write_end = Fd(ends[1]);
    return out;
  }
};

void drain(Fd& from, std::string& kept, std::size_t limit) {
  std::array<char, 16 << 10> buffer;
  // A bounded bite, so that a flood cannot keep us from looking at the clock.
  for (int bites = 0; from && bites < 16; ++bites) {
    const auto got = ::read(from.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) return from.reset();
    kept.append(buffer.data(), std::min(static_cast<std::size_t>(got), limit - kept.size()));
  }
}

struct Watch {
  pid_t keeper;
  Pipe &out, &err, &control;
};

/// Until the keeper is gone or given up; false: given up.
bool attend(const Command& command, const Leash& leash, Watch& watch, LeashedOutput& result) {
  const Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, watch.keeper, 0)));
  const auto end = Clock::now() + std::chrono::microseconds(command.limit.us);
  auto give_up = Clock::time_point::max();
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    const std::int64_t lease = leash.left().ms() + 1;
    const bool over = give_up != Clock::time_point::max();
    const std::int64_t wait = over || !pidfd ? 10 : std::clamp<std::int64_t>(
                                                        std::min(left, lease), 0, 1000);
    std::array<pollfd, 4> polled{{{watch.out.read_end.get(), POLLIN, 0},
                                  {watch.err.read_end.get(), POLLIN, 0},
                                  {pidfd.get(), POLLIN, 0},
                                  {over ? -1 : leash.wake_fd(), POLLIN, 0}}};
    (void)::poll(polled.data(), polled.size(), static_cast<int>(wait));
    drain(watch.out.read_end, result.output.out, command.output_limit);
    drain(watch.err.read_end, result.output.err, command.output_limit);
    int status = 0;
    if (::waitpid(watch.keeper, &status, WNOHANG) != 0) return true;
    if (!over) {
      result.preempted = leash.fault();
      result.output.timed_out = result.preempted.empty() && Clock::now() >= end;
      if (!result.preempted.empty() || result.output.timed_out) {
        watch.control.write_end.reset();
        give_up = Clock::now() + abandon_after;
      }
    } else if (Clock::now() >= give_up) {
      return false;
    }
  }
}

Error start_error(const std::string& program, int number) {
  const bool missing = number == ENOENT || number == EACCES || number == ENOEXEC;
  return make_error(missing ? Code::unsupported : Code::unavailable,
                    "cannot run '" + program + "': " + std::strerror(number));
}

}  // namespace

pid_t parent_of(pid_t pid) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  char text[512];
  const auto got = ::read(fd, text, sizeof text - 1);
  ::close(fd);
  if (got <= 0) return 0;
  text[got] = '\0';
  // The name in parentheses may hold anything; state and parent follow the last one.
  const char* end = std::strrchr(text, ')');
  return end == nullptr || std::strlen(end) < 4 ? 0 : static_cast<pid_t>(std::atoi(end + 4));
}

Leash::Leash(Duration life) : until_us_(now_us() + life.us) {
  wake_ = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
}

void Leash::extend(Duration life) {
  const std::lock_guard lock(mutex_);
  until_us_ = std::max(until_us_, now_us() + life.us);
}

void Leash::pull(const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (why_.empty()) why_ = why;
  const std::uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof one);
}

std::string Leash::fault() const {
  const std::lock_guard lock(mutex_);
  if (!why_.empty()) return why_;
  return now_us() >= until_us_ ? "the lease ran out: nobody extended it" : "";
}

Duration Leash::left() const {
  const std::lock_guard lock(mutex_);
  if (!why_.empty()) return {};
  return microseconds(std::max<std::int64_t>(until_us_ - now_us(), 0));
}

Result<LeashedOutput> run_leashed(const Command& command, const Leash& leash) {
  if (command.argv.empty()) return make_error(Code::invalid, "a command needs a program");
  LeashedOutput result;
  result.preempted = leash.fault();
  if (!result.preempted.empty()) return result;
  Pipe out = TRY(Pipe::make());
  Pipe err = TRY(Pipe::make());
  Pipe control = TRY(Pipe::make());
  Pipe report = TRY(Pipe::make());
  const StringTable argv(command.argv);
  auto marked = command.env;
  marked.emplace_back(leashed_mark);
  const StringTable env(merge_environment(marked));
  const std::string directory = command.directory.empty() ? "/" : command.directory;
  const auto started = Clock::now();
  const pid_t keeper = ::fork();
  if (keeper < 0) return make_error(Code::unavailable, "cannot fork");
  if (keeper == 0) {
    be_keeper({command.argv[0].c_str(), argv.data(), env.data(), directory.c_str(),
               out.write_end.get(), err.write_end.get(), control.read_end.get(),
               report.write_end.get()});
  }
  out.write_end.reset();
  err.write_end.reset();
  report.write_end.reset();
  for (const Pipe* pipe : {&out, &err}) ::fcntl(pipe->read_end.get(), F_SETFL, O_NONBLOCK);
  Watch watch{keeper, out, err, control};
  const bool gone = attend(command, leash, watch, result);
  Report told;
  const bool complete =
      gone && ::read(report.read_end.get(), &told, sizeof told) == sizeof told;
  if (gone && !complete) (void)kill_strays();  // somebody killed the keeper
  if (complete && told.start_error != 0) return start_error(command.argv[0], told.start_error);
  result.output.abandoned = !complete || told.survivors > 0;
  if (complete && WIFEXITED(told.status)) result.output.exit_code = WEXITSTATUS(told.status);
  if (complete && WIFSIGNALED(told.status)) result.output.signal = WTERMSIG(told.status);
  result.output.duration = microseconds(
      std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - started).count());
  return result;
}

}  // namespace tundish::process
