#include "runtime/process/contained.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include "runtime/process/fd.hpp"

namespace tundish::process {
namespace {

using Clock = std::chrono::steady_clock;

/// After SIGKILL a process can only survive inside the kernel (D state).
constexpr auto abandon_after = std::chrono::seconds(1);

void set_limit(int what, rlim_t most) {
  const rlimit limit{most, most};
  (void)::setrlimit(static_cast<__rlimit_resource_t>(what), &limit);
}

/// Never returns. Between fork and here only this thread exists.
[[noreturn]] void be_child(const std::function<std::string()>& work, const Containment& limits,
                           int out) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGSEGV, SIGABRT, SIGBUS, SIGFPE}) {
    ::signal(signal, SIG_DFL);
  }
  const int null = ::open("/dev/null", O_RDWR);
  for (int fd = 0; fd <= 2; ++fd) ::dup2(null, fd);
  ::dup2(out, 3);
  ::close_range(4, ~0U, 0);
  set_limit(RLIMIT_CPU, static_cast<rlim_t>(limits.cpu_seconds));
  set_limit(RLIMIT_CORE, 0);
  set_limit(RLIMIT_FSIZE, 0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  set_limit(RLIMIT_AS, limits.memory_limit);  // sanitizers reserve terabytes of addresses
#endif
  const std::string answer = work();
  for (std::size_t done = 0; done < answer.size();) {
    const auto wrote = ::write(3, answer.data() + done, answer.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) ::_exit(1);
    done += static_cast<std::size_t>(wrote);
  }
  ::_exit(0);
}

enum class End { closed, late, flooded };

/// Reads what is there; false at the end of the stream.
bool drain(int fd, const Containment& limits, std::string& out, End& end) {
  std::array<char, 16 << 10> buffer;
  for (;;) {
    const auto got = ::read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return true;
    if (got <= 0) return false;
    if (out.size() + static_cast<std::size_t>(got) > limits.output_limit) {
      end = End::flooded;
      return false;
    }
    out.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

/// Until the stream ends, the child is gone (what it left behind may hold the stream open) or the
/// time is over.
End collect(int fd, int pidfd, const Containment& limits, std::string& out) {
  const auto deadline = Clock::now() + std::chrono::microseconds(limits.limit.us);
  ::fcntl(fd, F_SETFL, O_NONBLOCK);
  End end = End::closed;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return End::late;
    std::array<pollfd, 2> polled{{{fd, POLLIN, 0}, {pidfd, POLLIN, 0}}};
    const int wait = static_cast<int>(std::min<std::int64_t>(left, pidfd < 0 ? 10 : 60000));
    (void)::poll(polled.data(), polled.size(), wait);
    const bool gone = (polled[1].revents & POLLIN) != 0;
    if (!drain(fd, limits, out, end) || gone) return end;
  }
}

/// Whether the child is gone; its status when it is.
bool reap(pid_t pid, int& status) {
  const auto give_up = Clock::now() + abandon_after;
  for (;;) {
    const pid_t got = ::waitpid(pid, &status, WNOHANG);
    if (got == pid || (got < 0 && errno == ECHILD)) return true;
    if (Clock::now() >= give_up) return false;
    ::usleep(500);
  }
}

}  // namespace

Result<std::string> run_contained(const std::function<std::string()>& work,
                                  const Containment& containment, int& abandoned) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return make_error(Code::unavailable, "cannot make a pipe");
  Fd read_end(ends[0]);
  Fd write_end(ends[1]);
  const pid_t pid = ::fork();
  if (pid < 0) {
    return make_error(Code::unavailable, std::string("cannot fork: ") + std::strerror(errno));
  }
  if (pid == 0) be_child(work, containment, write_end.get());
  ::setpgid(pid, pid);  // whoever comes first
  write_end.reset();
  std::string out;
  const Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  const End end = collect(read_end.get(), pidfd.get(), containment, out);
  if (end != End::closed) ::kill(-pid, SIGKILL);
  int status = 0;
  bool gone = reap(pid, status);
  // Whatever it started dies with it, also after a good answer.
  ::kill(-pid, SIGKILL);
  if (!gone) gone = reap(pid, status);
  if (!gone) abandoned = pid;
  if (end == End::late) {
    return make_error(Code::timeout, "no answer within " + render_duration(containment.limit));
  }
  if (end == End::flooded) {
    return make_error(Code::corrupt, "an answer of more than " +
                                         std::to_string(containment.output_limit) + " bytes");
  }
  if (!gone) return make_error(Code::timeout, "it answered and does not end");
  if (WIFSIGNALED(status)) {
    return make_error(Code::corrupt, "it crashed: signal " + std::to_string(WTERMSIG(status)));
  }
  if (WEXITSTATUS(status) != 0) {
    return make_error(Code::corrupt, "it ended with status " + std::to_string(WEXITSTATUS(status)));
  }
  return out;
}

}  // namespace tundish::process
