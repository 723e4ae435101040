#include "lab/daemon_keeper.hpp"

#include <signal.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "base/log.hpp"
#include "base/text.hpp"
#include "lab/namespaces.hpp"
#include "runtime/process/process.hpp"

namespace tundish::lab {
namespace {

constexpr Duration restart_after = milliseconds(500);
/// One that does not stay up is tried less and less often: 1, 2, 4 ... seconds.
constexpr Duration longest_pause = seconds(30);
constexpr Duration stop_grace = seconds(10);
/// One that ended sooner does not stay up.
constexpr Duration least_life = seconds(10);

/// What it wrote last, which is why it ended.
std::string last_line(const std::string& file) {
  std::ifstream in(file);
  std::string line, last;
  while (std::getline(in, line)) {
    if (!trim(line).empty()) last = line;
  }
  return last.empty() ? "it wrote nothing" : last;
}

}  // namespace

Duration DaemonKeeper::pause() const {
  if (short_lives_ == 0) return restart_after;
  return std::min(longest_pause, seconds(std::int64_t{1} << std::min(short_lives_ - 1, 10)));
}

Result<> DaemonKeeper::start() {
  wanted_ = true;
  if (pid_ != 0 && process::is_alive(pid_)) return {};
  const LabPaths paths = paths_of(spec_);
  process::Daemon daemon;
  daemon.argv = {spec_.bin_dir + "/tundishd", "--config", paths.daemon_config()};
  daemon.log_file = paths.log() + "/tundishd.log";
  daemon.directory = paths.root;
  const auto pid = process::spawn_daemon(daemon);
  start_at_ = loop_.now() + pause();  // of the next try
  if (!pid) return pid.error();
  pid_ = *pid;
  started_at_ = loop_.now();
  ++starts_;
  if (short_lives_ == 0) {
    log(LogLevel::info, "lab_daemon_started", {{"pid", pid_}, {"starts", starts_}});
  }
  return {};
}

Result<> DaemonKeeper::kill_now() {
  if (pid_ == 0) return make_error(Code::conflict, "tundishd does not run");
  if (::kill(pid_, SIGKILL) != 0) return system_error("cannot kill tundishd");
  killed_ = true;
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
    const bool stays = std::exchange(killed_, false) || loop_.now() - started_at_ >= least_life;
    failure_ = stays ? "" : last_line(paths_of(spec_).log() + "/tundishd.log");
    short_lives_ = stays ? 0 : short_lives_ + 1;
    if (stays) {
      log(LogLevel::warn, "lab_daemon_ended", {{"pid", pid_}});
    } else if (short_lives_ == 1) {  // once: it ends in the same way again and again
      log(LogLevel::error, "lab_daemon_does_not_stay_up",
          {{"why", failure_}, {"longest_pause_s", longest_pause.s()}});
    }
    pid_ = 0;
    start_at_ = loop_.now() + pause();
  }
  if (pid_ != 0 && loop_.now() - started_at_ >= least_life) {
    failure_.clear();
    short_lives_ = 0;
  }
  if (!wanted_ || pid_ != 0 || loop_.now() < start_at_) return;
  const auto started = start();
  if (started) return;
  log(LogLevel::error, "lab_daemon_start", {{"error", started.error().message()}});
}

}  // namespace tundish::lab
