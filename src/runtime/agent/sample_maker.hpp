#pragma once
// Evidence for checks: only what they need, each source that can hang in a child.
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "model/check_sample.hpp"
#include "runtime/agent/agent_config.hpp"
#include "runtime/agent/boot_events.hpp"
#include "runtime/agent/gather.hpp"
#include "runtime/agent/health_memory.hpp"
#include "runtime/agent/told_verdicts.hpp"

namespace tundish::agent {

/// The newest look at the GPUs, or why there is none.
struct GpuLook {
  std::optional<GpuSnapshot> gpus;
  std::string fault;
  Instant at;
  bool hangs = false;  ///< the question did not come back, which is more than no answer
};

struct SampleParts {
  const AgentConfig& config;
  Gatherer& gatherer;
  BootEvents& events;
  std::string boot_id;
  std::function<Instant()> now;
};

/// Thresholds and nameplates from the catalogue folder, read anew when a file changed.
class LimitsFiles {
 public:
  explicit LimitsFiles(std::string folder) : folder_(std::move(folder)) {}
  /// Fills limits and nameplate, or says in `faults` why not.
  void fill(CheckSample& sample);

 private:
  Result<> load();

  std::string folder_;
  std::string stamp_;
  std::string fault_;
  Thresholds thresholds_;
  Nameplates nameplates_;
};

/// Any thread.
class SampleMaker {
 public:
  explicit SampleMaker(SampleParts parts);

  /// `needs`: members of CheckSample; "expect.x" and the like count as "expect".
  CheckSample make(const Expectation& expect, const std::set<std::string>& needs,
                   const GpuLook& gpus);
  /// The node enters a cluster: what its links did before were changes of its switch. Never waits.
  void forget_links() { links_are_new_ = true; }
  /// What must survive a restart, at most every ten minutes.
  Result<> save();

 private:
  void add_gpus(CheckSample& sample, const GpuLook& gpus);
  void add_sys(CheckSample& sample, const std::set<std::string>& needs);
  void add_proc(CheckSample& sample, const std::set<std::string>& needs);
  void drop_shared(CheckSample& sample) const;
  void add_children(CheckSample& sample, const std::set<std::string>& needs);

  SampleParts parts_;
  std::atomic<bool> links_are_new_{false};
  std::mutex mutex_;
  HealthMemory memory_;
  PressureMeter pressure_;
  LimitsFiles limits_;
};

/// The union of what the named checks need; all of them when `names` is {"*"}.
std::set<std::string> needs_of(const std::vector<PassiveCheck>& checks,
                               const std::vector<std::string>& names);

/// Counters of GPUs, by PCI address.
std::vector<RawCounter> counters_of(const GpuSnapshot& snapshot);

}  // namespace tundish::agent
