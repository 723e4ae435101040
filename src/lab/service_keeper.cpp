#include "lab/service_keeper.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <initializer_list>
#include <map>

namespace tundish::lab {
namespace fs = std::filesystem;
namespace {

constexpr std::int64_t restart_ms = 1000;   // systemd's RestartSec of the shipped unit
constexpr std::int64_t shutdown_ms = 2000;  // then the power goes
constexpr std::int64_t need_ms = 10;        // between two looks for a needed file
constexpr std::int64_t idle_ms = 60000;

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

bool exists(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

struct Kept {
  Service service;
  bool wanted = true;
  bool done = false;   ///< of a task
  bool entry = false;  ///< made for a file of the watched folder
  pid_t pid = 0;
  std::int64_t start_at = 0;
};

class ServiceKeeper {
 public:
  explicit ServiceKeeper(KeeperPlan plan) : plan_(std::move(plan)) {
    const sigset_t set = keeper_signals();
    signals_ = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    for (auto& service : plan_.services) {
      Kept kept;
      kept.service = std::move(service);
      kept_.push_back(std::move(kept));
    }
    watch_folder();
  }
  ~ServiceKeeper() {
    ::close(signals_);
    if (folder_ >= 0) ::close(folder_);
  }

  void run() {
    for (;;) {
      reap();
      read_folder();
      for (auto& kept : kept_) start_when_due(kept);
      report_settled();
      if (wait()) return shut_down();
    }
  }

 private:
  void watch_folder() {
    if (plan_.watched_folder.empty()) return;
    folder_ = ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    ::inotify_add_watch(folder_, plan_.watched_folder.c_str(), IN_CREATE | IN_DELETE | IN_ATTRIB);
  }

  /// Level-triggered: what is in the folder now, whatever happened in between.
  void read_folder() {
    if (folder_ < 0) return;
    std::map<std::string, Service> there;
    std::error_code ignored;
    for (fs::directory_iterator it(plan_.watched_folder, ignored), end; it != end;
         it.increment(ignored)) {
      Service service = plan_.for_entry(it->path().filename().string());
      there[service.name] = std::move(service);
    }
    for (auto& kept : kept_) {
      if (!kept.entry) continue;
      kept.wanted = there.erase(kept.service.name) > 0;
      // The whole group at once: what is left would hold the namespace.
      if (!kept.wanted && kept.pid > 0) ::kill(-kept.pid, SIGKILL);
    }
    std::erase_if(kept_, [](const Kept& k) { return k.entry && !k.wanted && k.pid == 0; });
    for (auto& [name, service] : there) {
      Kept kept;
      kept.service = std::move(service);
      kept.entry = true;
      kept.start_at = now_ms() + need_ms;  // the file exists a moment before it is the namespace
      kept_.push_back(std::move(kept));
    }
  }

  bool is_due(const Kept& kept) const { return kept.wanted && !kept.done && kept.pid == 0; }

  std::int64_t pause_ms() const {
    std::int64_t pause = idle_ms;
    for (const auto& kept : kept_) {
      if (is_due(kept)) pause = std::min(pause, std::max(need_ms, kept.start_at - now_ms()));
    }
    return pause;
  }

  /// True when it is time to shut down.
  bool wait() {
    pollfd fds[] = {{signals_, POLLIN, 0}, {folder_, POLLIN, 0}};
    (void)::poll(fds, folder_ < 0 ? 1 : 2, static_cast<int>(pause_ms()));
    char events[4096];
    while (folder_ >= 0 && ::read(folder_, events, sizeof events) > 0) {
    }
    signalfd_siginfo signal{};
    while (::read(signals_, &signal, sizeof signal) == static_cast<ssize_t>(sizeof signal)) {
      if (signal.ssi_signo == SIGTERM) return true;
      handle(static_cast<int>(signal.ssi_signo));
    }
    return false;
  }

  void handle(int signal) {
    if (kept_.empty()) return;
    Kept& first = kept_.front();
    if (signal == SIGUSR1) {
      first.wanted = false;
      if (first.pid > 0) ::kill(first.pid, SIGTERM);
    } else if (signal == SIGUSR2) {
      first.wanted = true;
      first.start_at = now_ms();
    } else if (signal == SIGRTMIN && first.pid > 0) {
      ::kill(first.pid, SIGKILL);
    }
  }

  /// Orphans come to process 1; a service's children outlive it here as under KillMode=process.
  void reap() {
    for (;;) {
      int status = 0;
      const pid_t pid = ::waitpid(-1, &status, WNOHANG);
      if (pid <= 0) return;
      for (auto& kept : kept_) {
        if (kept.pid == pid) ended(kept, status);
      }
    }
  }

  void ended(Kept& kept, int status) {
    kept.pid = 0;
    kept.start_at = now_ms() + restart_ms;
    kept.done =
        kept.service.kind == ServiceKind::task && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    for (const auto& file : kept.service.leaves) ::unlink(file.c_str());
    if (kept.service.kind == ServiceKind::task) return;
    for (auto& other : kept_) {
      const auto& follows = other.service.follows;
      if (std::find(follows.begin(), follows.end(), kept.service.name) == follows.end()) continue;
      other.done = false;
      if (other.pid > 0) ::kill(other.pid, SIGTERM);
    }
  }

  void start_when_due(Kept& kept) {
    if (!is_due(kept) || now_ms() < kept.start_at) return;
    for (const auto& file : kept.service.needs) {
      if (!exists(file)) return;
    }
    const pid_t pid = ::fork();
    if (pid == 0) exec_service(kept.service);
    if (pid > 0) kept.pid = pid;
    if (pid < 0) kept.start_at = now_ms() + restart_ms;
  }

  [[noreturn]] void exec_service(Service& service) const {
    ::setsid();
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::dup2(plan_.log_fd, 1);
    ::dup2(plan_.log_fd, 2);
    std::vector<char*> argv;
    for (auto& word : service.argv) argv.push_back(word.data());
    argv.push_back(nullptr);
    ::execv(argv[0], argv.data());
    std::perror(argv[0]);
    ::_exit(127);
  }

  void report_settled() {
    if (!plan_.settled) return;
    for (const auto& kept : kept_) {
      if (kept.service.kind == ServiceKind::task && !kept.done) return;
    }
    plan_.settled();
    plan_.settled = nullptr;
  }

  void shut_down() {
    const std::int64_t end = now_ms() + shutdown_ms;
    ::kill(-1, SIGTERM);
    while (now_ms() < end) {
      const pid_t pid = ::waitpid(-1, nullptr, WNOHANG);
      if (pid < 0 && errno == ECHILD) return;
      if (pid == 0) ::usleep(20000);
    }
  }

  KeeperPlan plan_;
  std::vector<Kept> kept_;
  int signals_ = -1;
  int folder_ = -1;
};

}  // namespace

void block_keeper_signals() {
  const sigset_t set = keeper_signals();
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
}

void keep_services(KeeperPlan plan) { ServiceKeeper(std::move(plan)).run(); }

}  // namespace tundish::lab
