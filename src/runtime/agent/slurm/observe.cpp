// What the controller shows, as one text. The format is described at the engine item's parser.
#include <sys/random.h>

#include <array>
#include <chrono>

#include "base/text.hpp"
#include "runtime/agent/slurm/controller_parts.hpp"

namespace tundish::agent {
using namespace slurm;
namespace {

constexpr Duration observe_limit = seconds(10);

/// Users choose names of jobs, line breaks included. They cannot know this.
Result<std::string> make_mark() {
  std::array<char, 12> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return make_error(Code::internal, "no random bytes");
  }
  // squeue would take digits at the start for the width of a column.
  return "m" + render_hex({bytes.data(), bytes.size()});
}

std::string section(const std::string& kind, const std::string& body, const std::string& mark) {
  return "== " + kind + " " + std::to_string(body.size()) + (mark.empty() ? "" : " " + mark) +
         "\n" + body;
}

Error silent(const std::string& cluster, const std::string& why) {
  return make_error(Code::unavailable, "slurmctld of " + cluster + " does not answer: " + why);
}

Result<std::string> run_client(const ClusterPlace& place, process::Command command) {
  command.env = cluster_env(place);
  command.limit = observe_limit;
  auto output = TRY(process::run(command));
  if (!output.ok()) return silent(place.cluster, output.summary());
  return std::move(output.out);
}

}  // namespace

Result<std::string> observe_engine(const std::string& cluster, const AgentPaths& paths) {
  const ClusterPlace place = TRY(place_of(cluster, paths));
  const int pid = process::read_live_pid(place.ctld_pid(), "slurmctld");
  if (pid <= 0) return silent(cluster, "it does not run");
  process::Command control;
  control.argv = in_network(place, {"scontrol", "-o"});
  control.input = "show config\nshow partition\nshow node\n";
  const std::string shown = TRY(run_client(place, control));
  const std::string mark = TRY(make_mark());
  process::Command queue;
  // In the controller's mount namespace the tenant's users have names.
  queue.argv = {"nsenter",
                "--target",
                std::to_string(pid),
                "--mount",
                "--net",
                "--",
                "squeue",
                "--noheader",
                "--Format=JobID:" + mark +
                    "|,UserName:|,State:|,RestartCnt:|,Requeue:|,EligibleTime:|,StartTime:|,"
                    "NodeList:|,Name:"};
  const std::string jobs = TRY(run_client(place, queue));
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto now_s = std::chrono::duration_cast<std::chrono::seconds>(now).count();
  return "tundish-slurm 1 " + std::to_string(now_s) + "\n" + section("control", shown, "") +
         section("jobs", jobs, mark);
}

}  // namespace tundish::agent
