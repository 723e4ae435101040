#include "runtime/agent/active_run.hpp"

#include <chrono>
#include <thread>

#include "base/log.hpp"
#include "base/text.hpp"
#include "runtime/agent/deadline.hpp"

namespace tundish::agent {
namespace {

/// Of each stream of one program: verdicts quote little of it.
constexpr std::size_t most_output = 1 << 20;
constexpr std::size_t most_error = 4000;
constexpr Duration retry_pause = milliseconds(300);

/// The error line of one of our own, else how it ended.
std::string fault_of(const process::LeashedOutput& ran) {
  if (!ran.preempted.empty() || ran.output.exit_code == 0) return "";
  for (const auto& line : split(ran.output.out, '\n')) {
    if (!line.starts_with("error ")) continue;
    const std::size_t code_end = line.find(' ', 6);
    return code_end == std::string::npos ? line : line.substr(code_end + 1);
  }
  return ran.output.summary();
}

/// What runs beside a program, for the life of this object.
class Beside {
 public:
  explicit Beside(const std::optional<process::Command>& command)
      : leash_(command ? command->limit : seconds(1)) {
    if (!command) return;
    thread_ = std::thread([this, command = *command] {
      const auto ran = process::run_leashed(command, leash_);
      fault_ = ran ? fault_of(*ran) : ran.error().message();
    });
  }
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;
  ~Beside() { (void)end(); }
  /// Why it ended by itself; empty: it ran until now.
  std::string end() {
    leash_.pull("its client ended");
    if (thread_.joinable()) thread_.join();
    return fault_;
  }

 private:
  process::Leash leash_;
  std::string fault_;
  std::thread thread_;
};

/// perftest and MPICH tell so when nobody listens yet.
bool is_too_early(const process::Output& output) {
  if (output.exit_code == 0 || output.timed_out) return false;
  const std::string text = to_lower(output.err + output.out);
  return text.find("connect") != std::string::npos;
}

void fill(const process::LeashedOutput& ran, ToolRun& run) {
  run.exit_code = ran.output.exit_code;
  run.signal = ran.output.signal;
  run.out = ran.output.out;
  run.err = ran.output.err.substr(0, most_error);
  run.took = ran.output.duration;
  run.end = ran.output.timed_out ? ToolEnd::timed_out : ToolEnd::done;
  if (ran.preempted.empty()) return;
  run.end = ToolEnd::preempted;
  run.err = ran.preempted;
}

/// Our own probe tells in lines: what it found, or the error of a call.
void read_probe(ToolRun& run) {
  if (run.check != "gpu_work" || run.end != ToolEnd::done) return;
  std::string found;
  for (const auto& line : split(run.out, '\n')) {
    if (line.starts_with("json ")) found = line.substr(5);
    if (!line.starts_with("error ")) continue;
    const bool missing = line.starts_with("error unsupported no CUDA driver");
    run.end = missing ? ToolEnd::missing : ToolEnd::failed;
    run.err = line.substr(6);
  }
  if (found.empty() && run.end == ToolEnd::done) {
    run.end = ToolEnd::failed;
    run.err = run.signal != 0 ? "the probe was ended by signal " + std::to_string(run.signal)
                              : "the probe said nothing";
  }
  run.out = found;
}

}  // namespace

ToolRun run_step(const ToolStep& step, const process::Leash& leash) {
  ToolRun run = step.head;
  process::Command command = step.command;
  command.output_limit = most_output;
  Beside beside(step.server);
  const Deadline patience(step.patience);
  for (;;) {
    const auto ran = process::run_leashed(command, leash);
    if (!ran) {
      const bool missing = ran.error().code == Code::unsupported;
      run.end = missing ? ToolEnd::missing : ToolEnd::failed;
      run.err = missing ? "" : ran.error().message();
      return run;
    }
    fill(*ran, run);
    if (!is_too_early(ran->output) || patience.left() <= milliseconds(10)) break;
    if (run.end != ToolEnd::done) break;
    std::this_thread::sleep_for(std::chrono::microseconds(retry_pause.us));
  }
  const std::string fault = beside.end();
  if (!fault.empty() && run.end == ToolEnd::done && run.exit_code != 0) {
    run.err = (fault + "; " + run.err).substr(0, most_error);
  }
  read_probe(run);
  return run;
}

void run_active(const std::vector<std::string>& checks, const AgentConfig& config,
                const process::Leash& leash, CheckSample& sample) {
  sample.active.emplace();
  for (const auto& check : checks) {
    const auto steps = plan_active(check, sample, config);
    if (!steps) {
      sample.faults["active"] = steps.error().what;
      ToolRun none;
      none.check = check;
      none.tool = check;
      none.err = steps.error().what;
      sample.active->push_back(std::move(none));
      continue;
    }
    for (const auto& step : *steps) {
      sample.active->push_back(run_step(step, leash));
      const ToolRun& ran = sample.active->back();
      log(LogLevel::info, "active_tool_ended",
          {{"check", check}, {"tool", ran.tool}, {"device", ran.device},
           {"exit", ran.exit_code}, {"took_ms", ran.took.ms()}});
      // What is missing for one GPU or rail is missing for all; a lease that ended is over.
      if (ran.end == ToolEnd::missing || ran.end == ToolEnd::preempted) break;
    }
  }
}

}  // namespace tundish::agent
