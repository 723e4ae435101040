#pragma once
// Gathers evidence for checks. Whatever may hang is asked in a child with a deadline; a child that
// cannot be killed is left behind, at most one per target.
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/check_sample.hpp"
#include "runtime/agent/sys_files.hpp"

namespace tundish::agent {

struct GatherOptions {
  std::string probe_program;
  std::string nvml_library;
  std::string sys_dir = "/sys";
  Duration limit = seconds(10);
};

enum class SysScope { ports, everything };

/// Any thread.
class Gatherer {
 public:
  explicit Gatherer(GatherOptions options) : options_(std::move(options)) {}

  /// `timeout` when the driver hangs, `unsupported` when there is none.
  Result<GpuSnapshot> gpus();
  /// No snapshot is taken while it is held: an open driver makes a GPU reset fail.
  std::unique_lock<std::mutex> hold_gpus() { return std::unique_lock(gpus_mutex_); }
  Result<std::vector<HcaPort>> hcas();
  /// One pass over sysfs in a child. `waited`: how long the child was ready and did not run.
  Result<SysLook> sys(SysScope scope, Duration& waited);
  /// Space of each target; a file system that hangs is told as its own fault.
  std::vector<DiskReading> disks(const std::vector<std::string>& targets);
  /// Fills the health log of every live drive that answers.
  void add_drive_health(std::vector<NvmeReading>& drives);
  /// Runs `work` in a child, unless an earlier one of the same target still hangs.
  Result<std::string> contain(const std::string& target, const std::function<std::string()>& work);
  std::vector<MountProbe> mounts(const std::vector<ExportMount>& exports);

 private:
  struct Answer {
    std::string json;
    std::string step;
    bool hung = false;
    Duration took;
  };
  Result<Answer> ask(const std::string& kind, const std::string& target);
  MountProbe probe_mount(const ExportMount& mount);
  void remember_identities(GpuSnapshot& snapshot);

  GatherOptions options_;
  std::mutex gpus_mutex_;
  std::mutex mutex_;
  std::map<std::string, int> stuck_;  ///< target -> child that survived SIGKILL
  std::vector<GpuReading> last_gpus_;
};

/// Serial, MACs and memory from sysfs, GPUs from the snapshot when there is one.
ObservedHardware read_hardware(const std::string& sys_dir, const GpuSnapshot* gpus, Instant now);
/// Equal but for the time of looking.
bool is_same_hardware(const ObservedHardware& a, const ObservedHardware& b);
/// Equal but for numbers that move all the time (temperature, power, load, corrected errors).
bool is_same_state(const GpuSnapshot& a, const GpuSnapshot& b);

}  // namespace tundish::agent
