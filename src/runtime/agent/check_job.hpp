#pragma once
// Active checks on a tenant's node run as long as its engine lets a job of ours hold the node: a
// job of the lowest priority, which holds one connection to the agent and does nothing else. The
// engine ends the job for any other work; then the connection tells so and the checks are killed.
#include <memory>
#include <string>
#include <thread>

#include "model/run_checks.hpp"
#include "runtime/agent/agent_config.hpp"
#include "runtime/process/leash.hpp"

namespace tundish::agent {

struct CheckJobPlan {
  CheckWork work;
  int gpus = 0;
  Duration limit;  ///< then the engine ends it, whatever became of us
  Duration patience = seconds(10);  ///< for its start: an idle node has room at once
};

/// The exit code of the job, so that the tenant's own accounting shows what was found.
enum class CheckJobEnd { passed = 0, failed = 3, unknown = 4 };

class CheckJob {
 public:
  /// Returns once the job holds the node. `leash` is pulled when it does no longer, and outlives
  /// this object. `exhausted`: the node had no room, or was wanted meanwhile.
  static Result<std::unique_ptr<CheckJob>> begin(const CheckJobPlan& plan,
                                                 const AgentConfig& config, process::Leash& leash);
  ~CheckJob();
  CheckJob(const CheckJob&) = delete;
  CheckJob& operator=(const CheckJob&) = delete;

  const std::string& id() const { return id_; }
  /// The engine wants the node back.
  bool is_ended() const;
  /// Gives the node back; nothing of the checks may run any more. Once.
  void end(CheckJobEnd how);
  /// In the engine's words, after end(): "Slurm ended job 12: PREEMPTED".
  std::string ended_why() const;

 private:
  CheckJob(const AgentConfig& config, process::Leash& leash) : config_(config), leash_(leash) {}
  Result<> submit(const CheckJobPlan& plan, const std::string& socket);
  Result<> await_start(int listener, Duration patience);
  void watch();
  void cancel() const;

  AgentConfig config_;
  process::Leash& leash_;
  std::string id_;
  process::Fd connection_;
  process::Fd stop_;  ///< readable: the watcher ends
  std::thread watcher_;
};

/// The job itself: `tundish-agent --hold-check SOCKET`. Returns its exit code.
int hold_check(const std::string& socket);

}  // namespace tundish::agent
