#pragma once
// Child processes with deadlines, and files. The only place that forks.
#include <string>
#include <vector>

#include "base/instant.hpp"
#include "base/result.hpp"

namespace tundish::process {

struct Command {
  std::vector<std::string> argv = {};  ///< argv[0] is looked up in PATH
  std::vector<std::string> env = {};   ///< "K=V" added to the inherited environment
  std::string input = {};              ///< standard input; empty: /dev/null
  std::string directory = {};          ///< empty: "/"
  Duration limit = seconds(30);        ///< then SIGKILL to the whole process group
  std::size_t output_limit = 8 << 20;  ///< bytes kept per stream; the rest is discarded
};

struct Output {
  int exit_code = -1;  ///< -1 when a signal ended it
  int signal = 0;
  bool timed_out = false;
  bool abandoned = false;  ///< survived SIGKILL (D state): left behind, never waited for again
  Duration duration;
  std::string out;
  std::string err;
  bool ok() const { return exit_code == 0 && !timed_out; }
  std::string summary() const;  ///< "exit 1: last line of stderr", "killed after 5 s"
};

/// Blocks the calling thread. An Error only when the child could not be started (`unsupported`
/// with the missing program's name when it is not installed).
Result<Output> run(const Command& command);

struct Daemon {
  std::vector<std::string> argv = {};
  std::vector<std::string> env = {};
  std::string log_file = {};  ///< both streams, appended
  std::string pid_file = {};  ///< written by us with the child's pid; empty: none
  std::string directory = {};
};

/// Starts a process in its own session that outlives us (double fork), and returns its pid.
Result<int> spawn_daemon(const Daemon& daemon);
/// Whether `pid` runs and is no zombie.
bool is_alive(int pid);
/// SIGTERM, then SIGKILL after `grace`; true when it is gone. Only for pids that we started.
bool stop_process(int pid, Duration grace);
/// The pid in a file, when that process is alive and its command line contains `must_contain`.
int read_live_pid(const std::string& pid_file, const std::string& must_contain);

/// Whole file; `not_found` when absent.
Result<std::string> read_file(const std::string& path);
/// Write to a temporary beside it, fsync, rename: a reader sees the old or the new content.
Result<> write_file_atomic(const std::string& path, const std::string& content, int mode = 0644);

}  // namespace tundish::process
