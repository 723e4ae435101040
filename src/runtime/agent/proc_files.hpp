#pragma once
// What /proc shows of a node, below a root that tests give as a folder.
#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/check_sample.hpp"

namespace tundish::agent {

/// "some avg10=1.23 avg60=..." of /proc/pressure/*: hundredths of a percent of `word`'s avg10.
std::optional<std::int64_t> parse_pressure(std::string_view text, std::string_view word);

/// Own run-queue wait, microseconds, of /proc/PID/schedstat ("ran waited slices", nanoseconds).
std::optional<std::int64_t> parse_run_queue_wait(std::string_view schedstat);

/// Between two looks: waits, and time that a hypervisor took.
class PressureMeter {
 public:
  /// `pressure`: folder with cpu, io and memory, or with cpu.pressure ... as a cgroup has them;
  /// empty: that of `proc`.
  PressureMeter(std::string proc, const std::string& pressure)
      : proc_(std::move(proc)), pressure_(pressure.empty() ? proc_ + "/pressure" : pressure) {}
  /// `begin` right before evidence is gathered, `read` right after: the wait in between is ours.
  void begin(Instant at);
  Pressure read(Instant at);
  /// The process that gathers may be a child; its wait counts as well.
  void add_wait(Duration waited) { child_wait_ = child_wait_ + waited; }

 private:
  struct CpuTimes {
    std::int64_t all = 0;
    std::int64_t steal = 0;
  };
  std::optional<CpuTimes> read_times() const;
  std::optional<std::int64_t> waited() const;

  std::string read_share(const std::string& name) const;

  std::string proc_;
  std::string pressure_;
  Instant begun_;
  std::optional<std::int64_t> wait_before_;
  Duration child_wait_;
  std::optional<CpuTimes> times_before_;
};

std::vector<MountReading> parse_mount_table(const std::string& mountinfo);

/// One pass over all processes; `before` are those that waited in the kernel at the look before.
struct ProcessLook {
  ProcessCounts counts;
  std::vector<ServiceReading> services;  ///< of the names that were asked for
};
/// Identity of a task over looks: a pid is used again.
struct WaitingTask {
  std::int64_t started = 0;
  Instant since;
};
struct WatchedNames {
  std::vector<std::string> services;
};
ProcessLook look_at_processes(const std::string& proc, const WatchedNames& names,
                              std::map<std::int64_t, WaitingTask>& waiting, Instant now);

CpuReading read_cpu(const std::string& proc, const std::string& sys);
std::vector<std::string> read_modules(const std::string& proc);
/// Lustre imports; NFS servers are told by the kernel log.
std::vector<StorageClient> read_storage(const std::string& proc);
Result<ClockReading> read_clock();

}  // namespace tundish::agent
