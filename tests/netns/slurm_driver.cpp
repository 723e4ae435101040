// Runs the shipped Slurm code inside a namespace, for slurm_driver.sh: the engine item plans and
// renders, the agent's functions act.
#include <chrono>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/text.hpp"
#include "families/engines/engine_driver.hpp"
#include "runtime/agent/check_job.hpp"
#include "runtime/agent/slurm/slurm.hpp"
#include "runtime/process/process.hpp"

namespace tundish {
namespace {

const std::string key_hex(128, '7');
const std::string password = "0123456789abcdef0123";
const std::string cluster = "acme-train";

/// Words: lost=n01, gone=n01, drained=n01, members=n01,n02 (default), extra=n05, checks.
DesiredEngine desired_of(const std::vector<std::string>& words) {
  DesiredEngine desired;
  std::map<std::string, std::vector<std::string>> lists{{"members", {"n01", "n02"}}};
  for (const auto& word : words) {
    if (word == "checks") desired.checks_since = {1};
    const auto at = word.find('=');
    if (at != std::string::npos) lists[word.substr(0, at)] = split(word.substr(at + 1), ',');
  }
  const auto is_in = [&](const std::string& list, const std::string& name) {
    for (const auto& item : lists[list]) {
      if (item == name) return true;
    }
    return false;
  };
  desired.cluster = cluster;
  desired.index = 3;
  desired.controller_address = "10.77.0.1";
  desired.cpus = 8;
  desired.sockets = 2;
  desired.gpus = 8;
  desired.gres_type = "h100";
  desired.tenant = "acme";
  desired.users = {{"alice", 20001, {}}};
  for (int i = 1; i <= 4 + static_cast<int>(lists["extra"].size()); ++i) {
    DesiredEngineNode node;
    node.name = "n0" + std::to_string(i);
    node.address = "10.77.0.1" + std::to_string(i);
    node.leaf = i < 3 ? "leaf1" : "leaf2";
    node.role = is_in("members", node.name) ? EngineRole::member
                : i == 3                    ? EngineRole::spare
                                            : EngineRole::headroom;
    node.device_lost = is_in("lost", node.name);
    node.gone = is_in("gone", node.name);
    node.drained = is_in("drained", node.name);
    if (node.device_lost) node.reason = "tundish: incident-7 gpu off the bus";
    desired.nodes.push_back(node);
  }
  return desired;
}

Result<std::string> set_up_controller(const engines::EngineDriver& item,
                                      const std::vector<std::string>& words) {
  const DesiredEngine desired = desired_of(words);
  SetupController setup;
  setup.cluster = cluster;
  setup.tenant = desired.tenant;
  setup.address = desired.controller_address;
  setup.index = desired.index;
  setup.users = desired.users;
  setup.munge_key = key_hex;
  setup.dbd_password = password;
  setup.files = item.render(desired);
  return agent::setup_slurm_controller(setup, {});
}

SetupNode node_setup(const engines::EngineDriver& item, const std::string& name) {
  SetupNode setup;
  setup.cluster = cluster;
  setup.node_name = name;
  setup.munge_key = key_hex;
  setup.files = item.render(desired_of({}));
  return setup;
}

Result<std::string> observe_text(const engines::EngineDriver& item) {
  const std::string text = TRY(agent::observe_engine(cluster, {}));
  const EngineObserved seen = TRY(item.parse_status(text));
  std::string out = "partition " + join(seen.partition_nodes, ",") + "\n";
  out += "checks " + join(seen.check_nodes, ",") + (seen.can_preempt ? " preempted\n" : " stay\n");
  for (const auto& node : seen.nodes) {
    out += "node " + node.name + " " + join(node.states, "+") +
           (node.registered ? " registered" : " silent") + " cpus=" +
           std::to_string(node.allocated_cpus) + " reason=" + node.reason + "\n";
  }
  for (const auto& job : seen.jobs) {
    out += "job " + job.id + " " + job.user + " " + job.state + " " + join(job.nodes, ",") +
           " restarts=" + std::to_string(job.restarts) + " requeue=" +
           std::to_string(job.requeueable) + " wait=" +
           std::to_string(job.begin_time_s - seen.at.us / 1000000) + " name=" + job.name + "\n";
  }
  return out;
}

/// One turn of the controller's loop: observe, plan, act.
Result<std::string> step(const engines::EngineDriver& item,
                         const std::vector<std::string>& words) {
  const std::string text = TRY(agent::observe_engine(cluster, {}));
  const EngineObserved seen = TRY(item.parse_status(text));
  const auto commands = item.plan(desired_of(words), seen);
  std::string out;
  for (const auto& command : commands) {
    out += std::string(enum_names(command.verb)[static_cast<std::size_t>(command.verb)]) + " " +
           command.state + " " + join(command.nodes, ",") + command.job + "; ";
  }
  const auto begin = std::chrono::steady_clock::now();
  out += TRY(agent::run_engine_commands(cluster, commands, {}));
  const auto took = std::chrono::steady_clock::now() - begin;
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(took).count();
  return out + " in " + std::to_string(ms) + " ms";
}

/// As the agent does for active checks; prints a line when the job holds the node.
Result<std::string> hold_node(const std::vector<std::string>& words) {
  process::Leash leash(seconds(60));
  agent::CheckJobPlan plan;
  plan.work = {"slurm", words.at(0)};
  plan.gpus = 8;
  plan.limit = minutes(10);
  const auto job = TRY(agent::CheckJob::begin(plan, agent::AgentConfig{}, leash));
  std::printf("job %s holds the node\n", job->id().c_str());
  std::fflush(stdout);
  if (words.size() > 1) {
    job->end(agent::CheckJobEnd::failed);
    return "gave it back";
  }
  while (leash.fault().empty()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  job->end(agent::CheckJobEnd::unknown);
  return job->ended_why();
}

Result<std::string> run(const std::string& verb, const std::vector<std::string>& words) {
  const engines::EngineDriver* const item = engines::find_engine("slurm");
  if (item == nullptr) return make_error(Code::internal, "no item slurm");
  const auto ended = [](const Result<>& done) -> Result<std::string> {
    if (!done) return done.error();
    return std::string("stopped");
  };
  if (verb == "controller") return set_up_controller(*item, words);
  if (verb == "node") return agent::start_slurm_node(node_setup(*item, words.at(0)), {});
  if (verb == "login") return agent::start_slurm_login(node_setup(*item, "login"), {});
  if (verb == "stop-node") return ended(agent::stop_slurm_node({}));
  if (verb == "stop-controller") return ended(agent::stop_slurm_controller(cluster, {}));
  if (verb == "hold") return hold_node(words);
  if (verb == "observe") return observe_text(*item);
  if (verb == "raw") return agent::observe_engine(cluster, {});
  if (verb == "step") return step(*item, words);
  if (verb == "add-user") {
    EngineCommand command;
    command.verb = EngineVerb::add_users;
    command.users = {{"bob", 20002, {}}};
    return agent::run_engine_commands(cluster, {command}, {});
  }
  return make_error(Code::invalid, "no such verb: " + verb);
}

}  // namespace
}  // namespace tundish

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty()) return 2;
  if (words[0] == "--hold-check") return tundish::agent::hold_check(words.at(1));
  const auto done = tundish::run(words[0], {words.begin() + 1, words.end()});
  std::printf("%s\n", done ? done->c_str() : done.error().message().c_str());
  return done ? 0 : 1;
}
