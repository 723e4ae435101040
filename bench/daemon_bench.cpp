// The shipped tundishd under load: daemon_bench TUNDISHD CATALOG FOLDER agents|restart [N]
// [SECONDS].
//   agents:  N simulated agents, each with a long poll and a report every 5 s; then calls that
//            record an intent, one and 64 in flight.
//   restart: from exec to the first answer, over a store with N nodes.
#include "base/log.hpp"
#include "bench/daemon.hpp"
#include "codec/json.hpp"
#include "model/verbs.hpp"
#include "sim/catalogues.hpp"

namespace {

using namespace tundish;
using namespace tundish::bench;

constexpr double heartbeat_s = 5;

void quiet(LogLevel, std::string_view, const std::vector<LogField>&) {}

/// The reports and long polls of a fleet.
class Agents {
 public:
  Agents(int port, int count) : load_(port), count_(count) {
    for (int i = 1; i <= count; ++i) {
      AgentSync sync;
      sync.boot_id = boot_id(i);
      sync.version = "0.1.0";
      syncs_.push_back(make_request("POST /v1/agent/sync", agent_secret(i), render_json(sync)));
      polls_.push_back(make_request("GET /v1/agent/verbs?wait_ms=20000", agent_secret(i), ""));
      load_.open();
      load_.open();
    }
  }
  HttpLoad& load() { return load_; }
  std::vector<double>& took_ms() { return took_ms_; }
  int refused() const { return refused_; }

  /// Everything that is due now; then what arrives.
  void turn() {
    if (!begun_) begin();
    const double now = wall_s();
    // Evenly spread over the heartbeat, as start times of a fleet are.
    while (next_at_ <= now) {
      report(next_);
      next_ = (next_ + 1) % count_;
      next_at_ += heartbeat_s / count_;
    }
    load_.turn(std::max(0, static_cast<int>(1000 * (next_at_ - wall_s()))));
  }

 private:
  void begin() {
    begun_ = true;
    next_at_ = wall_s();
    for (int i = 0; i < count_; ++i) poll(i);
  }
  void poll(int agent) {
    load_.send(static_cast<std::size_t>(2 * agent + 1), polls_[static_cast<std::size_t>(agent)],
               [this, agent](const Answer& answer) {
                 if (answer.status != 200) ++refused_;
                 poll(agent);
               });
  }
  void report(int agent) {
    load_.send(static_cast<std::size_t>(2 * agent), syncs_[static_cast<std::size_t>(agent)],
               [this](const Answer& answer) {
                 if (answer.status != 200) ++refused_;
                 took_ms_.push_back(1000 * answer.took_s);
               });
  }

  HttpLoad load_;
  int count_;
  int next_ = 0;
  double next_at_ = 0;
  bool begun_ = false;
  std::vector<std::string> syncs_, polls_;
  std::vector<double> took_ms_;
  int refused_ = 0;
};

/// `calls` requests with `width` in flight at a time, while the agents go on.
class Calls {
 public:
  Calls(Agents& agents, std::function<std::string(int)> body, std::string call)
      : agents_(agents), body_(std::move(body)), call_(std::move(call)) {}

  std::vector<double> run(int width, int calls) {
    took_ms_.clear();
    left_ = calls;
    while (static_cast<int>(connections_.size()) < width) {
      connections_.push_back(agents_.load().open());
    }
    for (int i = 0; i < width; ++i) next(connections_[static_cast<std::size_t>(i)]);
    const double limit = wall_s() + 20;
    while (static_cast<int>(took_ms_.size()) < calls && wall_s() < limit) agents_.turn();
    return took_ms_;
  }
  int refused() const { return refused_; }

 private:
  void next(std::size_t connection) {
    if (left_-- <= 0) return;
    agents_.load().send(connection, make_request(call_, operator_token, body_(++number_)),
                        [this, connection](const Answer& answer) {
                          if (answer.status >= 300 && refused_++ == 0) {
                            std::fprintf(stderr, "%s: %s\n", call_.c_str(), answer.body.c_str());
                          }
                          took_ms_.push_back(1000 * answer.took_s);
                          next(connection);
                        });
  }

  Agents& agents_;
  std::function<std::string(int)> body_;
  std::string call_;
  std::vector<std::size_t> connections_;
  std::vector<double> took_ms_;
  int number_ = 0;
  int left_ = 0;
  int refused_ = 0;
};

void print_calls(const char* name, Calls& calls, int alone, int together) {
  const std::string prefix = name;
  const auto one = calls.run(1, alone);
  const auto many = calls.run(64, together);
  print_figure((prefix + "_1_p50_ms").c_str(), quantile(one, 0.5));
  print_figure((prefix + "_1_p99_ms").c_str(), quantile(one, 0.99));
  print_figure((prefix + "_64_p50_ms").c_str(), quantile(many, 0.5));
  print_figure((prefix + "_64_p99_ms").c_str(), quantile(many, 0.99));
  print_figure((prefix + "_refused").c_str(), calls.refused());
}

void measure_agents(Daemon& daemon, int count, double seconds) {
  print_figure("agents_start_s", daemon.wait_until_answering());
  Agents agents(daemon.port(), count);
  const auto run_for = [&](double s) {
    for (const double end = wall_s() + s; wall_s() < end;) agents.turn();
  };
  run_for(heartbeat_s + 1);  // every agent was heard once
  agents.took_ms().clear();
  const double cpu = daemon.used_cpu_s();
  const double own = cpu_s();
  const double begin = wall_s();
  run_for(seconds);
  const double wall = wall_s() - begin;
  print_figure("agents_cpu_percent", 100 * (daemon.used_cpu_s() - cpu) / wall);
  print_figure("agents_load_cpu_percent", 100 * (cpu_s() - own) / wall);
  print_figure("agents_rss_mib", daemon.rss_mib());
  print_figure("agents_syncs_per_s", static_cast<double>(agents.took_ms().size()) / wall);
  print_figure("agents_sync_p50_ms", quantile(agents.took_ms(), 0.5));
  print_figure("agents_sync_p99_ms", quantile(agents.took_ms(), 0.99));
  print_figure("agents_refused", agents.refused());

  Calls tenants(
      agents, [](int i) { return "{\"name\": \"t" + std::to_string(i) + "\", \"gpu_quota\": 8}"; },
      "POST /v1/tenants");
  print_calls("tenant_create", tenants, 200, 2000);
  Calls clusters(
      agents,
      [](int i) {
        return "{\"name\": \"c" + std::to_string(i) +
               "\", \"tenant\": \"acme\", \"nodes\": 1, \"login\": false}";
      },
      "POST /v1/clusters");
  print_calls("cluster_create", clusters, 30, 128);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 5) return 2;
  set_log_sink(quiet);
  const std::string mode = arguments[4];
  const int nodes = count > 5 ? std::atoi(arguments[5]) : 2000;
  const double seconds = count > 6 ? std::atof(arguments[6]) : 30;
  const rlimit files{20000, 20000};
  ::setrlimit(RLIMIT_NOFILE, &files);
  const auto xids = sim::load_xids(arguments[2]);
  check(xids.has_value(), "the catalogue of the bench must load");
  const BenchFolder folder(arguments[3]);
  if (mode == "restart") {
    make_store(folder.path, {nodes, 8, nodes / 20}, *xids);
    for (int i = 0; i < 3; ++i) {
      Daemon daemon({arguments[1], arguments[2], folder.path});
      print_figure("restart_s", daemon.wait_until_answering());
      print_figure("restart_cpu_s", daemon.used_cpu_s());
      print_figure("restart_rss_mib", daemon.rss_mib());
    }
    return 0;
  }
  // Agents of service nodes speak too: numbers above those of the GPU nodes.
  const int service = 40;
  make_store(folder.path, {nodes - service, service, 0}, *xids);
  Daemon daemon({arguments[1], arguments[2], folder.path});
  measure_agents(daemon, nodes, seconds);
  return 0;
}
