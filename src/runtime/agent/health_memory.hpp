#pragma once
// What the passive checks must remember from look to look, and over a restart of the agent.
#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/counter.hpp"
#include "model/port_history.hpp"
#include "runtime/agent/proc_files.hpp"
#include "runtime/agent/sys_files.hpp"

namespace tundish::agent {

/// The file: trends by group/device/name, ports by device/port.
struct HealthMemoryState {
  std::string boot_id;
  std::map<std::string, CounterTrend> counters;
  std::map<std::string, PortHistory> ports;
  void fields(Fields& f) {
    f(1, "boot_id", boot_id, "boot that the counters were read in");
    f(2, "counters", counters, "group|device|name -> what it did");
    f(3, "ports", ports, "HCA/port -> when it was lost");
  }
};

/// One thread's.
class HealthMemory {
 public:
  /// An unreadable file is as none: trends begin anew, and say so by being unknown.
  HealthMemory(std::string path, std::string boot_id);

  /// Readings of everything that was told, sorted by key.
  std::vector<CounterReading> add(const std::vector<RawCounter>& counters, Instant now);
  /// What grew while it was nobody's sign of anything.
  void forget(std::string_view group);
  /// All known counters, for checks whose source was read at another look.
  std::vector<CounterReading> readings(Instant now) const;
  /// Fills drops and down_since.
  void look_at_ports(std::vector<HcaPort>& ports, Instant now);
  std::map<std::int64_t, WaitingTask>& waiting() { return waiting_; }
  /// Writes the file when something changed and `pause` has passed since the last time.
  Result<> save(Instant now, Duration pause);

 private:
  std::string path_;
  HealthMemoryState state_;
  std::map<std::int64_t, WaitingTask> waiting_;
  Instant saved_at_;
  bool changed_ = false;
  bool urgent_ = false;  ///< saved without a pause
};

}  // namespace tundish::agent
