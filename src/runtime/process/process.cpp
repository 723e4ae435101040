#include "runtime/process/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include "base/text.hpp"
#include "runtime/process/environment.hpp"
#include "runtime/process/fd.hpp"

namespace tundish::process {
namespace {

using Clock = std::chrono::steady_clock;

/// After SIGKILL a process can only survive inside the kernel (D state); nobody waits for that.
constexpr auto abandon_after = std::chrono::seconds(1);
/// How often the child is looked at where the kernel has no pidfd.
constexpr int poll_without_pidfd_ms = 10;
/// What a pipe may still hold when the child is gone. Unit: bytes. Source: pipe(7).
constexpr std::size_t pipe_capacity = 64 << 10;

Error system_error(const std::string& what) {
  return make_error(Code::internal, what + ": " + std::strerror(errno));
}

/// A memory file instead of a pipe: the child reads at its own pace and may stop reading, with no
/// SIGPIPE and no deadlock for us.
Result<Fd> open_input(const std::string& input) {
  if (input.empty()) {
    Fd null(open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!null) return system_error("cannot open /dev/null");
    return null;
  }
  Fd file(memfd_create("input", MFD_CLOEXEC));
  if (!file) return system_error("cannot make a memory file");
  for (std::size_t done = 0; done < input.size();) {
    const auto wrote = write(file.get(), input.data() + done, input.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return system_error("cannot write the input");
    done += static_cast<std::size_t>(wrote);
  }
  lseek(file.get(), 0, SEEK_SET);
  return file;
}

/// One output of the child, kept up to a limit.
struct Stream {
  Fd read_end;
  Fd write_end;
  std::string* kept = nullptr;
  std::size_t limit = 0;

  Result<> open_pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return system_error("cannot make a pipe");
    read_end = Fd(ends[0]);
    write_end = Fd(ends[1]);
    fcntl(read_end.get(), F_SETFL, O_NONBLOCK);
    return {};
  }

  /// Reads what is there, at most `budget` bytes; closes at the end of the stream.
  void drain(std::size_t budget) {
    std::array<char, 16 << 10> buffer;
    while (read_end && budget > 0) {
      const auto got = read(read_end.get(), buffer.data(), std::min(buffer.size(), budget));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && errno == EAGAIN) return;
      if (got <= 0) return read_end.reset();
      const auto size = static_cast<std::size_t>(got);
      budget -= size;
      kept->append(buffer.data(), std::min(size, limit - kept->size()));
    }
  }
};

struct SpawnPlan {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  SpawnPlan() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
};

Error start_error(const Command& command, int number) {
  const std::string& program = command.argv[0];
  if (number == ENOENT && !command.directory.empty() &&
      access(command.directory.c_str(), F_OK) != 0) {
    return make_error(Code::invalid, "directory '" + command.directory + "' does not exist");
  }
  if (number == ENOENT || number == EACCES || number == ENOEXEC) {
    return make_error(Code::unsupported, "cannot run '" + program + "': " + std::strerror(number))
        .with_remedy("install '" + program + "'");
  }
  return make_error(Code::unavailable, "cannot start '" + program + "': " + std::strerror(number));
}

/// posix_spawn, not fork: it copies no page tables and is safe beside other threads.
Result<pid_t> start_child(const Command& command, const Fd& input, const Stream& out,
                          const Stream& err) {
  SpawnPlan plan;
  posix_spawn_file_actions_adddup2(&plan.actions, input.get(), 0);
  posix_spawn_file_actions_adddup2(&plan.actions, out.write_end.get(), 1);
  posix_spawn_file_actions_adddup2(&plan.actions, err.write_end.get(), 2);
  posix_spawn_file_actions_addclosefrom_np(&plan.actions, 3);
  const std::string directory = command.directory.empty() ? "/" : command.directory;
  posix_spawn_file_actions_addchdir_np(&plan.actions, directory.c_str());
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&plan.attributes, &none);
  posix_spawnattr_setsigdefault(&plan.attributes, &all);
  posix_spawnattr_setpgroup(&plan.attributes, 0);
  posix_spawnattr_setflags(&plan.attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  const StringTable argv(command.argv);
  const StringTable env(merge_environment(command.env));
  pid_t pid = 0;
  const int number = posix_spawnp(&pid, command.argv[0].c_str(), &plan.actions, &plan.attributes,
                                  argv.data(), env.data());
  if (number != 0) return start_error(command, number);
  return pid;
}

void note_status(int status, Output& output) {
  if (WIFEXITED(status)) output.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) output.signal = WTERMSIG(status);
}

int wait_ms(Clock::time_point until) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60000));
}

/// Reads both outputs until the child is gone, killed or given up.
void attend(pid_t pid, Duration limit, Stream& out, Stream& err, Output& output) {
  const Fd pidfd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  auto deadline = Clock::now() + std::chrono::microseconds(limit.us);
  for (;;) {
    std::array<pollfd, 3> polled{{{out.read_end.get(), POLLIN, 0},
                                  {err.read_end.get(), POLLIN, 0},
                                  {pidfd.get(), POLLIN, 0}}};
    int wait = wait_ms(deadline);
    if (!pidfd) wait = std::min(wait, poll_without_pidfd_ms);
    poll(polled.data(), polled.size(), wait);
    // A bounded bite, so that a flood cannot keep us from looking at the clock.
    out.drain(4 * pipe_capacity);
    err.drain(4 * pipe_capacity);
    int status = 0;
    const pid_t reaped = waitpid(pid, &status, WNOHANG);
    if (reaped != 0 && !(reaped < 0 && errno == EINTR)) {
      if (reaped == pid) note_status(status, output);
      // A grandchild may hold the pipes open for ever: take what is there and go.
      out.drain(pipe_capacity);
      err.drain(pipe_capacity);
      return;
    }
    if (Clock::now() < deadline) continue;
    if (output.timed_out) {
      output.abandoned = true;
      return;
    }
    output.timed_out = true;
    kill(-pid, SIGKILL);
    deadline = Clock::now() + abandon_after;
  }
}

std::string last_line(const std::string& text) {
  const std::string_view body = trim(text);
  const auto border = body.find_last_of('\n');
  const auto line = border == std::string_view::npos ? body : body.substr(border + 1);
  return std::string(line.substr(0, 300));
}

}  // namespace

std::string Output::summary() const {
  std::string head;
  if (abandoned) {
    head = "did not die, left behind";
  } else if (timed_out) {
    head = "killed after " + render_duration(duration);
  } else if (signal != 0) {
    head = "ended by signal " + std::to_string(signal);
  } else {
    head = "exit " + std::to_string(exit_code);
  }
  const std::string line = last_line(err.empty() ? out : err);
  return line.empty() ? head : head + ": " + line;
}

Result<Output> run(const Command& command) {
  if (command.argv.empty()) return make_error(Code::invalid, "a command needs a program");
  Output output;
  Stream out{Fd(), Fd(), &output.out, command.output_limit};
  Stream err{Fd(), Fd(), &output.err, command.output_limit};
  TRY_VOID(out.open_pipe());
  TRY_VOID(err.open_pipe());
  const auto started = Clock::now();
  {
    const Fd input = TRY(open_input(command.input));
    const pid_t pid = TRY(start_child(command, input, out, err));
    out.write_end.reset();
    err.write_end.reset();
    attend(pid, command.limit, out, err, output);
  }
  output.duration = microseconds(
      std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - started).count());
  return output;
}

}  // namespace tundish::process
