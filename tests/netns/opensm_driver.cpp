// Runs the shipped opensm driver against a real opensm over ibsim, for opensm_driver.sh. Commands
// run here instead of over SSH. KILL_AFTER=n ends the process after its n-th step, KILL_IN=n,MS in
// the middle of it.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <queue>
#include <random>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "families/fabrics/driver_opensm.hpp"
#include "families/fabrics/fabric_item.hpp"
#include "families/fabrics/opensm_parts/partition_text.hpp"
#include "families/fabrics/opensm_parts/remote.hpp"
#include "families/fabrics/opensm_parts/scripts.hpp"
#include "families/fabrics/parts/rules.hpp"
#include "runtime/process/process.hpp"

namespace tundish {
namespace {

using Clock = std::chrono::steady_clock;

class LocalScheduler final : public Scheduler {
 public:
  Instant now() const override {
    const auto since = Clock::now() - begin_;
    return {1 + std::chrono::duration_cast<std::chrono::microseconds>(since).count()};
  }
  void at(Instant, std::function<void()> task) override { tasks_.push(std::move(task)); }
  void run() {
    for (; !tasks_.empty(); tasks_.pop()) tasks_.front()();
  }

 private:
  Clock::time_point begin_ = Clock::now();
  std::queue<std::function<void()>> tasks_;
};

int number_in(const char* variable, std::size_t which) {
  const char* const text = std::getenv(variable);
  if (text == nullptr) return 0;
  const auto parts = split(text, ',');
  return which < parts.size() ? static_cast<int>(parse_integer(parts[which]).value_or(0)) : 0;
}

class LocalExec final : public Exec {
 public:
  explicit LocalExec(LocalScheduler& scheduler) : scheduler_(scheduler) {}
  void start(ExecRequest request, Duration limit, Done done) override {
    const Instant begin = scheduler_.now();
    ++steps_;
    const bool is_last = number_in("KILL_IN", 0) == steps_;
    process::Command command;
    command.argv = std::move(request.argv);
    command.input = std::move(request.input);
    command.limit = is_last ? milliseconds(number_in("KILL_IN", 1)) : limit;
    const auto output = process::run(command);
    if (is_last || number_in("KILL_AFTER", 0) == steps_) std::raise(SIGKILL);
    std::fprintf(stderr, "  step %d: %lld ms at %lld ms\n", steps_,
                 static_cast<long long>((scheduler_.now() - begin).ms()),
                 static_cast<long long>(scheduler_.now().us / 1000));
    scheduler_.at({}, [output, done = std::move(done)] {
      if (!output) return done(output.error());
      if (output->timed_out) return done(make_error(Code::timeout, output->summary()));
      done(ExecOutput{output->exit_code, output->out, output->err});
    });
  }

 private:
  LocalScheduler& scheduler_;
  int steps_ = 0;
};

std::string variable(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? "" : text;
}

families::OpensmSite site() {
  families::OpensmSite out;
  out.file = variable("OSM_FILE");
  out.pid_file = variable("OSM_PID");
  out.tool_environment = {"SIM_HOST=" + variable("OSM_NODE"), "LD_PRELOAD=" + variable("OSM_LIB")};
  out.settle_limit = seconds(3);
  return out;
}

/// t00010=0x0110:GUID=full,GUID=limited
FabricState state_of(const std::vector<std::string>& words) {
  FabricState out;
  for (const auto& word : words) {
    IbPartitionState partition;
    const auto colon = word.find(':');
    partition.name = word.substr(0, word.find('='));
    partition.pkey = static_cast<int>(
        parse_integer(word.substr(word.find('=') + 3, colon - word.find('=') - 3), 16).value_or(0));
    for (const auto& member : split(word.substr(colon + 1), ',')) {
      if (member.empty()) continue;
      const bool limited = member.ends_with("=limited");
      partition.members.push_back({member.substr(0, member.find('=')),
                                   limited ? IbMembership::limited : IbMembership::full});
    }
    out.partitions.push_back(std::move(partition));
  }
  return out;
}

const FabricRef ref{"ib1", "ssh://root@local", {}};

int apply(const std::vector<std::string>& words) {
  LocalScheduler scheduler;
  LocalExec exec(scheduler);
  families::OpensmManager manager(exec, scheduler, site());
  int rc = 1;
  manager.apply(ref, state_of(words), seconds(30), [&](const Result<>& done) {
    rc = done ? 0 : 3;
    std::printf("%s in %lld ms\n", done ? "applied" : done.error().message().c_str(),
                static_cast<long long>(scheduler.now().us / 1000));
  });
  scheduler.run();
  return rc;
}

void print(const FabricReading& reading) {
  for (const auto& partition : reading.seen.own.partitions) {
    std::printf("partition %s %s", partition.name.c_str(),
                fabrics::pkey_text(partition.pkey).c_str());
    for (const auto& member : partition.members) std::printf(" %s", member.guid.c_str());
    std::printf("\n");
  }
  std::printf("default %s\n", reading.seen.default_is_full ? "full" : "limited");
  for (const auto& line : reading.seen.unclear) std::printf("unclear %s\n", line.c_str());
  for (const auto& port : reading.ports) {
    std::printf("port %s%s", port.guid.c_str(), port.is_manager ? " manager" : "");
    for (const auto& entry : port.pkeys) {
      const bool full = entry.membership == IbMembership::full;
      std::printf(" %s", fabrics::pkey_text(entry.pkey | (full ? 0x8000 : 0)).c_str());
    }
    std::printf("\n");
  }
  for (const auto& cable : reading.cables) {
    std::printf("cable %s %s\n", cable.a.c_str(), cable.b.c_str());
  }
}

int read() {
  LocalScheduler scheduler;
  LocalExec exec(scheduler);
  families::OpensmManager manager(exec, scheduler, site());
  int rc = 1;
  manager.read(ref, seconds(20), [&](const Result<FabricReading>& reading) {
    if (!reading) return void(std::printf("%s\n", reading.error().message().c_str()));
    print(*reading);
    rc = 0;
  });
  scheduler.run();
  return rc;
}

/// FROM,TO ...: what the subnet manager tells of each path.
int paths(const std::vector<std::string>& words) {
  std::vector<FabricPath> asked;
  for (const auto& word : words) {
    const auto comma = word.find(',');
    asked.push_back({word.substr(0, comma), word.substr(comma + 1), false, {}});
  }
  LocalScheduler scheduler;
  LocalExec exec(scheduler);
  families::OpensmManager manager(exec, scheduler, site());
  int rc = 1;
  manager.find_paths(ref, asked, seconds(20), [&](const Result<std::vector<FabricPath>>& told) {
    if (!told) return void(std::printf("%s\n", told.error().message().c_str()));
    for (const auto& path : *told) {
      std::printf("%s %s %s", path.answered ? "path" : "silent", path.from.c_str(),
                  path.to.c_str());
      for (const int pkey : path.pkeys) std::printf(" %s", fabrics::pkey_text(pkey).c_str());
      std::printf("\n");
    }
    rc = 0;
  });
  scheduler.run();
  return rc;
}

/// Whether the canary takes a file as it is, past every check of ours: 0 or 3.
int canary(const std::string& path) {
  const auto text = process::read_file(path);
  if (!text) return 2;
  const auto seen = fabrics::find_fabric_item("opensm")->parse(*text, ref.ownership);
  LocalScheduler scheduler;
  LocalExec exec(scheduler);
  fabrics::RemoteManager remote(exec, scheduler, ref, site(), scheduler.now() + seconds(20));
  int rc = 1;
  remote.try_on_canary(*text, seen->own, [&](const Result<std::string>& sum) {
    std::printf("%s\n", sum ? "taken" : sum.error().message().c_str());
    rc = sum ? 0 : 3;
  });
  scheduler.run();
  return rc;
}

/// Good rules, some of them spoilt in a place or two by a careless or hostile writer.
std::string hostile_text(std::mt19937& random) {
  static const std::vector<std::string> rules = {
      "t00010=0x0110, mtu=5, sl=0, defmember=limited :\n  0x20001=full,\n  0x20011 ;\n",
      "x=0x5 : 0x20001, SELF=full ;\n",
      "y=0x6, ipoib : ALL=limited ; # all\n",
      "z=0x7 :\n mgid=ff12:401b::0707,sl=1\n 0x1 ;\n",
      "w=10 : 0x1 ; v = 010 : 0x2=f, 0x3= ;\n",
      "auto : ;\n"};
  static const std::vector<std::string> pieces = {
      "=",       " : ",         "ALL", ",",  ";",  ":",  "#",  "A", "\n", "0xzz",
      "0x10110", "-1",          "z",   "\t", "\f", "\r", "0x", "",  " ",  "defmember=full",
      "7fff",    "mgid=ff12::1"};
  const auto pick = [&](const auto& list) {
    return list[std::uniform_int_distribution<std::size_t>(0, list.size() - 1)(random)];
  };
  std::string out = "Default=0x7fff : ALL=limited, SELF=full ;\n";
  for (int i = 0; i < 2; ++i) out += pick(rules);
  const int spoilt = std::uniform_int_distribution<int>(0, 2)(random);
  for (int i = 0; i < spoilt; ++i) {
    out.insert(std::uniform_int_distribution<std::size_t>(42, out.size())(random), pick(pieces));
  }
  return out;
}

/// What our reader takes, opensm must take; the other way round may differ.
int differ(int count) {
  std::mt19937 random(7);
  int taken = 0, stricter = 0, looser = 0;
  for (int i = 0; i < count; ++i) {
    const std::string text = hostile_text(random);
    const auto made = fabrics::make_canary({}, text, 0);
    const auto output =
        process::run({.argv = {"sh", "-c", std::string(fabrics::canary_script), "tundish",
                               std::to_string(made.net.size()), made.manager_node},
                      .input = made.net + text});
    if (!output || output->out.find("opensm SUBNET UP") == std::string::npos) return 2;
    const bool theirs = output->out.find("PARSE ERROR") == std::string::npos &&
                        output->out.find("in error") == std::string::npos;
    const auto mine = fabrics::read_partition_text(text);
    taken += theirs ? 1 : 0;
    stricter += theirs && !mine.rejected.empty() ? 1 : 0;
    if (theirs || !mine.rejected.empty()) continue;
    ++looser;
    std::printf("opensm rejects what we take:\n%s---\n", text.c_str());
  }
  std::printf("%d files: opensm takes %d, we are stricter in %d, looser in %d\n", count, taken,
              stricter, looser);
  return looser == 0 ? 0 : 3;
}

}  // namespace
}  // namespace tundish

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty()) return 2;
  if (words[0] == "apply") return tundish::apply({words.begin() + 1, words.end()});
  if (words[0] == "read") return tundish::read();
  if (words[0] == "paths") return tundish::paths({words.begin() + 1, words.end()});
  if (words[0] == "canary" && words.size() == 2) return tundish::canary(words[1]);
  if (words[0] == "differ" && words.size() == 2) {
    return tundish::differ(static_cast<int>(tundish::parse_integer(words[1]).value_or(0)));
  }
  return 2;
}
