#include "lab/agent_keeper.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <initializer_list>

namespace tundish::lab {
namespace {

constexpr std::int64_t restart_ms = 1000;   // systemd's RestartSec of the shipped unit
constexpr std::int64_t shutdown_ms = 2000;  // then the power goes
const char* const agent_path = "/run/tundish-hw/bin/tundish-agent";

std::int64_t now_ms() {
  timespec at{};
  ::clock_gettime(CLOCK_MONOTONIC, &at);
  return std::int64_t{at.tv_sec} * 1000 + at.tv_nsec / 1000000;
}

sigset_t keeper_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : {SIGCHLD, SIGTERM, SIGUSR1, SIGUSR2, SIGRTMIN}) ::sigaddset(&set, signal);
  return set;
}

class AgentKeeper {
 public:
  explicit AgentKeeper(int log_fd) : log_fd_(log_fd) {}

  void run() {
    for (;;) {
      reap();
      if (wanted_ && agent_ == 0 && now_ms() >= start_at_) start();
      const int signal = wait(wanted_ && agent_ == 0 ? start_at_ - now_ms() : 60000);
      if (signal == SIGTERM) return shut_down();
      handle(signal);
    }
  }

 private:
  static int wait(std::int64_t limit_ms) {
    const sigset_t set = keeper_signals();
    if (limit_ms < 1) limit_ms = 1;
    const timespec limit{limit_ms / 1000, (limit_ms % 1000) * 1000000};
    return ::sigtimedwait(&set, nullptr, &limit);
  }

  void handle(int signal) {
    if (signal == SIGUSR1) {
      wanted_ = false;
      if (agent_ > 0) ::kill(agent_, SIGTERM);
    } else if (signal == SIGUSR2) {
      wanted_ = true;
      start_at_ = now_ms();
    } else if (signal == SIGRTMIN && agent_ > 0) {
      ::kill(agent_, SIGKILL);
    }
  }

  /// Orphans come to process 1; the agent's children outlive it here as under KillMode=process.
  void reap() {
    for (;;) {
      const pid_t pid = ::waitpid(-1, nullptr, WNOHANG);
      if (pid <= 0) return;
      if (pid != agent_) continue;
      agent_ = 0;
      start_at_ = now_ms() + restart_ms;
    }
  }

  void start() {
    const pid_t pid = ::fork();
    if (pid == 0) exec_agent();
    if (pid > 0) agent_ = pid;
    if (pid < 0) start_at_ = now_ms() + restart_ms;
  }

  [[noreturn]] void exec_agent() const {
    ::setsid();
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::dup2(log_fd_, 1);
    ::dup2(log_fd_, 2);
    ::execl(agent_path, "tundish-agent", "--config", "/etc/tundish/agent.yaml",
            static_cast<char*>(nullptr));
    std::perror(agent_path);
    ::_exit(127);
  }

  void shut_down() {
    const std::int64_t end = now_ms() + shutdown_ms;
    ::kill(-1, SIGTERM);
    while (now_ms() < end) {
      const pid_t pid = ::waitpid(-1, nullptr, WNOHANG);
      if (pid < 0 && errno == ECHILD) return;
      if (pid == 0) (void)wait(20);
    }
  }

  int log_fd_;
  bool wanted_ = true;
  pid_t agent_ = 0;
  std::int64_t start_at_ = 0;
};

}  // namespace

void block_keeper_signals() {
  const sigset_t set = keeper_signals();
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
}

void keep_agent(int log_fd) { AgentKeeper(log_fd).run(); }

}  // namespace tundish::lab
