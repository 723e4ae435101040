#include "lab/daemon_keeper.hpp"

#include <signal.h>

#include "base/log.hpp"
#include "lab/namespaces.hpp"
#include "runtime/process/process.hpp"

namespace tundish::lab {
namespace {

constexpr Duration restart_after = milliseconds(500);
constexpr Duration stop_grace = seconds(10);

}  // namespace

Result<> DaemonKeeper::start() {
  wanted_ = true;
  if (pid_ != 0 && process::is_alive(pid_)) return {};
  const LabPaths paths = paths_of(spec_);
  process::Daemon daemon;
  daemon.argv = {spec_.bin_dir + "/tundishd", "--config", paths.daemon_config()};
  daemon.log_file = paths.log() + "/tundishd.log";
  daemon.directory = paths.root;
  const auto pid = process::spawn_daemon(daemon);
  start_at_ = loop_.now() + restart_after;  // of the next try
  if (!pid) return pid.error();
  pid_ = *pid;
  ++starts_;
  log(LogLevel::info, "lab_daemon_started", {{"pid", pid_}, {"starts", starts_}});
  return {};
}

Result<> DaemonKeeper::kill_now() {
  if (pid_ == 0) return make_error(Code::conflict, "tundishd does not run");
  if (::kill(pid_, SIGKILL) != 0) return system_error("cannot kill tundishd");
  return {};
}

void DaemonKeeper::stop(std::function<void()> done) {
  wanted_ = false;
  if (pid_ == 0) return done();
  loop_.offload([pid = pid_] { (void)process::stop_process(pid, stop_grace); },
                [this, done = std::move(done)] {
                  pid_ = 0;
                  done();
                });
}

void DaemonKeeper::poll() {
  if (pid_ != 0 && !process::is_alive(pid_)) {
    log(LogLevel::warn, "lab_daemon_ended", {{"pid", pid_}});
    pid_ = 0;
    start_at_ = loop_.now() + restart_after;
  }
  if (!wanted_ || pid_ != 0 || loop_.now() < start_at_) return;
  const auto started = start();
  if (started) return;
  log(LogLevel::error, "lab_daemon_start", {{"error", started.error().message()}});
}

}  // namespace tundish::lab
