// tundish-agent: runs on every node and every service node as root.
#include <malloc.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "families/checks/check.hpp"
#include "runtime/agent/agent.hpp"
#include "runtime/agent/check_job.hpp"
#include "runtime/agent/probe.hpp"
#include "runtime/process/strays.hpp"

namespace {

constexpr int tool_error = 1;
constexpr int bad_flag = 2;

const char* const usage =
    "tundish-agent [--config FILE]   default /etc/tundish/agent.yaml\n"
    "tundish-agent --version\n"
    "tundish-agent --probe gpus|hcas|mount|gpu_work|pair TARGET   one look as the agent takes it\n";

int fail(int status, const std::string& what) {
  std::fprintf(stderr, "tundish-agent: %s\n", what.c_str());
  return status;
}

/// Blocked before any thread starts, so that only the main thread takes them.
sigset_t block_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, signal);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  return set;
}

void bound_memory() {
  mallopt(M_ARENA_MAX, 2);
  mallopt(M_TRIM_THRESHOLD, 256 << 10);
  mallopt(M_MMAP_THRESHOLD, 256 << 10);  // large messages go back to the system at once
}

std::vector<tundish::agent::PassiveCheck> passive_checks() {
  std::vector<tundish::agent::PassiveCheck> out;
  for (const auto* check : tundish::all_checks()) {
    if (check->kind != tundish::CheckKind::passive) continue;
    if (check->eye != tundish::checks::Eye::agent) continue;
    tundish::agent::PassiveCheck plan;
    plan.name = check->name;
    for (const auto need : check->needs) plan.needs.emplace_back(need);
    plan.every = check->every;
    plan.looks = check->looks;
    plan.watches = check->watches;
    plan.locality = check->locality;
    out.push_back(std::move(plan));
  }
  return out;
}

int run_agent(const std::string& config_file) {
  bound_memory();
  const sigset_t signals = block_signals();
  const auto config = tundish::agent::load_agent_config(config_file);
  if (!config) return fail(tool_error, config.error().message());
  // Where the service manager keeps a group of ours there are none.
  if (const int strays = tundish::process::kill_strays(); strays > 0) {
    tundish::log(tundish::LogLevel::warn, "leashed_programs_without_keeper_killed",
                 {{"processes", strays}});
  }
  auto agent =
      tundish::agent::Agent::start(*config, tundish::checks::judge_all, passive_checks());
  if (!agent) return fail(tool_error, agent.error().message());
  tundish::log(tundish::LogLevel::info, "agent_started",
               {{"version", tundish::agent::agent_version}, {"api", config->api}});
  int signal = 0;
  sigwait(&signals, &signal);
  tundish::log(tundish::LogLevel::info, "agent_ends", {{"signal", signal}});
  (*agent)->flush();
  // Daemons that it started go on; what it has to tell is on disk: nothing is left to wait for.
  ::_exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  std::string config_file = "/etc/tundish/agent.yaml";
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (args[i] == "--probe") {
      return tundish::agent::run_probe({args.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                        args.end()});
    }
    if (args[i] == "--hold-check" && i + 1 < args.size()) {
      return tundish::agent::hold_check(args[i + 1]);
    }
    if (args[i] == "--version") {
      std::printf("%s\n", std::string(tundish::agent::agent_version).c_str());
      return 0;
    }
    if (args[i] == "--help") {
      std::printf("%s", usage);
      return 0;
    }
    if (args[i] != "--config" || i + 1 == args.size()) {
      return fail(bad_flag, "unknown flag " + args[i] + "\n" + usage);
    }
    config_file = args[++i];
  }
  return run_agent(config_file);
}
