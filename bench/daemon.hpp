#pragma once
// A tundishd of the bench's own, on a prepared store and a free loopback port.
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "bench/fleet.hpp"
#include "bench/http_load.hpp"

namespace tundish::bench {

struct DaemonParts {
  std::string program;  ///< path of tundishd
  std::string catalog;
  std::string folder;  ///< holds store.sqlite
};

class Daemon {
 public:
  explicit Daemon(const DaemonParts& parts) : folder_(parts.folder), port_(free_port()) {
    std::ofstream(folder_ + "/tundishd.yaml")
        << "listen:\n  - http://127.0.0.1:" << port_ << "\nstate_dir: " << folder_
        << "\ncatalog_dir: " << parts.catalog << "\nsite: bench\nhold_file: " << folder_
        << "/hold\nauthority: observe\n";
    started_at_ = wall_s();
    pid_ = ::fork();
    if (pid_ == 0) run(parts.program);
    check(pid_ > 0, "the bench must start tundishd");
  }
  ~Daemon() { stop(); }
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  int port() const { return port_; }

  /// Seconds from exec to the first answer of /healthz.
  double wait_until_answering() {
    while (!answers()) {
      check(wall_s() - started_at_ < 60, "tundishd of the bench must answer within a minute");
      check(::waitpid(pid_, nullptr, WNOHANG) == 0, "tundishd of the bench ended: see its log");
      ::usleep(2000);
    }
    return wall_s() - started_at_;
  }
  /// CPU seconds used so far.
  double used_cpu_s() const {
    std::ifstream in("/proc/" + std::to_string(pid_) + "/stat");
    std::string text((std::istreambuf_iterator<char>(in)), {});
    text.erase(0, text.rfind(')') + 2);
    long user = 0, system = 0;
    check(std::sscanf(text.c_str(), "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld", &user,
                      &system) == 2,
          "stat of a process has its CPU time");
    return static_cast<double>(user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  }
  double rss_mib() const {
    std::ifstream in("/proc/" + std::to_string(pid_) + "/status");
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with("VmRSS:")) return std::atof(line.c_str() + 6) / 1024;
    }
    return 0;
  }
  void stop() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGTERM);
    for (int i = 0; i < 500 && ::waitpid(pid_, nullptr, WNOHANG) == 0; ++i) {
      ::usleep(10000);
      if (i == 400) ::kill(pid_, SIGKILL);
    }
    pid_ = 0;
  }

 private:
  static int free_port() {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    const bool bound = ::bind(fd, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0 &&
                       ::getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size) == 0;
    check(bound, "the bench needs a free port");
    ::close(fd);
    return ntohs(at.sin_port);
  }
  [[noreturn]] void run(const std::string& program) const {
    const rlimit files{20000, 20000};
    ::setrlimit(RLIMIT_NOFILE, &files);
    const int log =
        ::open((folder_ + "/tundishd.log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::dup2(log, 1);
    ::dup2(log, 2);
    const std::string config = folder_ + "/tundishd.yaml";
    ::execl(program.c_str(), "tundishd", "--config", config.c_str(), nullptr);
    ::_exit(127);
  }
  bool answers() const {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(port_));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    bool good = ::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
    if (good) {
      const std::string call = "GET /healthz HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n\r\n";
      char head[16] = {};
      good = ::send(fd, call.data(), call.size(), MSG_NOSIGNAL) > 0 &&
             ::recv(fd, head, 12, MSG_WAITALL) == 12 && std::string(head).ends_with("200");
    }
    ::close(fd);
    return good;
  }

  std::string folder_;
  int port_;
  double started_at_ = 0;
  pid_t pid_ = 0;
};

/// A folder on the disk that the build is on: on a tmpfs a synchronised write costs nothing.
class BenchFolder {
 public:
  explicit BenchFolder(const std::string& base)
      : path(base + "/tundish-bench-" + std::to_string(::getpid())) {
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path);
  }
  ~BenchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  const std::string path;
};

}  // namespace tundish::bench
