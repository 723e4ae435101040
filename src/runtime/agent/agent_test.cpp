// The whole agent against a small tundishd on the loopback.
#include "runtime/agent/agent.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <thread>

#include "codec/json.hpp"
#include "runtime/net/http_server.hpp"
#include "runtime/process/process.hpp"

namespace tundish::agent {
namespace {
namespace fs = std::filesystem;

/// Plays tundishd. State is behind one mutex, the loop runs in a thread of its own.
class FakeTundishd {
 public:
  explicit FakeTundishd(int port = 0) {
    net::ListenOptions options;
    options.url = "http://127.0.0.1:" + std::to_string(port);
    auto listening = net::HttpServer::listen(
        loop_, options,
        [this](net::ServerRequest request, net::Reply reply) { handle(request, reply); });
    server_ = std::move(*listening);
    port_ = server_->port();
    thread_ = std::thread([this] { loop_.run(); });
  }
  ~FakeTundishd() {
    loop_.post([this] {
      server_.reset();
      loop_.stop();
    });
    thread_.join();
  }
  int port() const { return port_; }

  struct State {
    bool admit = true;
    bool reject = false;
    std::string token = "token-1";
    int enrolments = 0;
    int syncs = 0;
    AgentSync last;
    std::map<std::string, Witness> witnesses;
    std::map<std::string, VerbResult> results;
    std::map<std::string, VerbCall> calls;
  };

  template <class Predicate>
  bool wait(Predicate holds) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(10), [&] { return holds(state_); });
  }
  /// A copy: the agent goes on talking meanwhile.
  State now() {
    const std::lock_guard lock(mutex_);
    return state_;
  }
  template <class Change>
  void change(Change change) {
    const std::lock_guard lock(mutex_);
    change(state_);
  }
  void call(VerbCall call) {
    change([&](State& state) { state.calls[call.key] = std::move(call); });
  }

 private:
  void handle(const net::ServerRequest& request, const net::Reply& reply) {
    const std::lock_guard lock(mutex_);
    if (request.path == "/v1/agent/enrol") return enrol(request, reply);
    const auto secret = request.headers.find("authorization");
    if (state_.reject || secret == request.headers.end() || secret->second != "Bearer secret-1") {
      return reply.send(401, "{}");
    }
    if (request.path == "/v1/agent/sync") return sync(request, reply);
    AgentVerbs verbs;
    for (const auto& [key, call] : state_.calls) verbs.verbs.push_back(call);
    reply.send(200, render_json(verbs));
  }
  void enrol(const net::ServerRequest& request, const net::Reply& reply) {
    EnrolRequest wanted;
    ++state_.enrolments;
    changed_.notify_all();
    if (!parse_json(request.body, wanted) || wanted.token != state_.token)
      return reply.send(401, "{}");
    EnrolReply answer;
    answer.admitted = state_.admit;
    answer.retry_after_ms = 100;
    if (state_.admit) answer.node = "n-1";
    if (state_.admit) answer.secret = "secret-1";
    reply.send(200, render_json(answer));
  }
  void sync(const net::ServerRequest& request, const net::Reply& reply) {
    state_.last = {};
    ASSERT_TRUE(parse_json(request.body, state_.last).has_value());
    ++state_.syncs;
    AgentSyncReply answer;
    for (const auto& witness : state_.last.witnesses) {
      state_.witnesses[witness.id] = witness;
      answer.stored_witnesses.push_back(witness.id);
    }
    for (const auto& result : state_.last.results) {
      state_.results[result.key] = result;
      state_.calls.erase(result.key);
      answer.stored_results.push_back(result.key);
    }
    changed_.notify_all();
    reply.send(200, render_json(answer));
  }

  net::Loop loop_;
  std::unique_ptr<net::HttpServer> server_;
  int port_ = 0;
  std::mutex mutex_;
  State state_;
  std::condition_variable changed_;
  std::thread thread_;
};

class AgentTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/tundish-agent-XXXXXX";
    folder_ = ::mkdtemp(name);
    fs::create_directories(folder_ + "/sys/class/dmi/id");
    fs::create_directories(folder_ + "/sys/class/net/eth0");
    write("sys/class/dmi/id/product_serial", "SER-1\n");
    write("sys/class/net/eth0/address", "02:00:00:00:00:0A\n");
    write("token", "token-1\n");
    write("boot_id", "boot-1\n");
    write("kmsg", "");
    write("etc_passwd", "");
  }
  void TearDown() override {
    agent_.reset();
    fs::remove_all(folder_);
  }
  void write(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ + "/" + name) << content;
  }
  AgentConfig config(int port) const {
    AgentConfig config;
    config.api = "http://127.0.0.1:" + std::to_string(port);
    config.enrol_token_file = folder_ + "/token";
    config.hold_file = folder_ + "/hold";
    config.kernel_log = folder_ + "/kmsg";
    config.boot_id_file = folder_ + "/boot_id";
    config.nvml_library = folder_ + "/no-such-library.so";
    config.probe_program = "/bin/false";
    config.sys_dir = folder_ + "/sys";
    config.state_dir = folder_ + "/state";
    config.run_dir = folder_ + "/run";
    config.log_dir = folder_ + "/log";
    config.etc_dir = folder_ + "/etc";
    config.heartbeat_ms = 100;
    config.pull_wait_ms = 50;
    config.snapshot_interval_ms = 1000;
    return config;
  }
  void start(int port) {
    agent_.reset();
    auto agent = Agent::start(config(port), [](const CheckSample& sample, const auto&) {
      Verdict verdict;
      verdict.check = "seen";
      verdict.state = sample.gpus ? VerdictState::ok : VerdictState::unknown;
      verdict.reason = sample.gpus_fault;
      return std::vector<Verdict>{verdict};
    });
    ASSERT_TRUE(agent.has_value()) << agent.error().message();
    agent_ = std::move(*agent);
  }
  static VerbCall call_of(const std::string& key, Verb verb) {
    VerbCall call;
    call.key = key;
    call.verb = verb;
    return call;
  }

  std::string folder_;
  std::unique_ptr<Agent> agent_;
};

TEST_F(AgentTest, EnrolsOnceAndTellsItsHardware) {
  FakeTundishd tundishd;
  start(tundishd.port());
  ASSERT_TRUE(tundishd.wait([](auto& t) { return t.last.hardware.has_value(); }));
  EXPECT_EQ(tundishd.now().last.hardware->serial, "SER-1");
  EXPECT_EQ(tundishd.now().last.hardware->nic_macs, std::vector<std::string>{"02:00:00:00:00:0a"});
  EXPECT_EQ(tundishd.now().last.boot_id, "boot-1");
  EXPECT_EQ(fs::status(folder_ + "/state/identity.json").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
  start(tundishd.port());
  const int before = tundishd.now().syncs;
  ASSERT_TRUE(tundishd.wait([&](auto& t) { return t.syncs > before + 1; }));
  EXPECT_EQ(tundishd.now().enrolments, 1);
}

TEST_F(AgentTest, WaitsUntilItIsAdmitted) {
  FakeTundishd tundishd;
  tundishd.change([](auto& state) { state.admit = false; });
  start(tundishd.port());
  ASSERT_TRUE(tundishd.wait([](auto& t) { return t.enrolments >= 2; }));
  EXPECT_EQ(tundishd.now().syncs, 0);
  tundishd.change([](auto& state) { state.admit = true; });
  ASSERT_TRUE(tundishd.wait([](auto& t) { return t.syncs > 0; }));
}

TEST_F(AgentTest, ARejectedIdentityNeedsANewerToken) {
  FakeTundishd tundishd;
  start(tundishd.port());
  ASSERT_TRUE(tundishd.wait([](auto& t) { return t.syncs > 0; }));
  tundishd.change([](auto& state) { state.reject = true; });
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  EXPECT_EQ(tundishd.now().enrolments, 1) << "a spent token is not tried again";
  write("token", "token-1\n");  // newer than the identity now
  ASSERT_TRUE(tundishd.wait([](auto& t) { return t.enrolments == 2; }));
  tundishd.change([](auto& state) { state.reject = false; });
  const int before = tundishd.now().syncs;
  ASSERT_TRUE(tundishd.wait([&](auto& t) { return t.syncs > before; }));
}

TEST_F(AgentTest, RunsAVerbOnceAndTellsItsResult) {
  FakeTundishd tundishd;
  start(tundishd.port());
  VerbCall call = call_of("inject-1", Verb::inject);
  call.line = "<4>NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.";
  tundishd.call(call);
  ASSERT_TRUE(tundishd.wait([](auto& t) { return t.results.count("inject-1") == 1; }));
  EXPECT_TRUE(tundishd.now().results["inject-1"].ok) << tundishd.now().results["inject-1"].what;
  EXPECT_EQ(*process::read_file(folder_ + "/kmsg"), call.line + "\n");
  tundishd.change([](auto& state) { state.results.clear(); });
  tundishd.call(call);  // as after a restored store
  ASSERT_TRUE(tundishd.wait([](auto& t) { return t.results.count("inject-1") == 1; }));
  EXPECT_EQ(*process::read_file(folder_ + "/kmsg"), call.line + "\n") << "not done twice";
}

TEST_F(AgentTest, ChecksAnswerUnknownWhenTheProbeFails) {
  FakeTundishd tundishd;
  start(tundishd.port());
  VerbCall call = call_of("checks-1", Verb::run_checks);
  call.run_checks.emplace();
  tundishd.call(call);
  ASSERT_TRUE(tundishd.wait([](auto& t) { return t.results.count("checks-1") == 1; }));
  ASSERT_EQ(tundishd.now().results["checks-1"].verdicts.size(), 1U);
  EXPECT_EQ(tundishd.now().results["checks-1"].verdicts[0].state, VerdictState::unknown);
  EXPECT_FALSE(tundishd.now().results["checks-1"].verdicts[0].reason.empty());
}

TEST_F(AgentTest, TheHoldFileStopsActsButNotChecks) {
  write("hold", "");
  FakeTundishd tundishd;
  start(tundishd.port());
  for (const Verb verb : {Verb::setup_node, Verb::leave_cluster, Verb::setup_controller,
                          Verb::reset_gpus, Verb::wipe}) {
    tundishd.call(call_of("hold-" + std::to_string(static_cast<int>(verb)), verb));
  }
  VerbCall checks = call_of("checks", Verb::run_checks);
  checks.run_checks.emplace();
  tundishd.call(checks);
  ASSERT_TRUE(tundishd.wait([](auto& t) { return t.results.size() == 6; }));
  const auto results = tundishd.now().results;
  for (const auto& [key, result] : results) {
    if (key == "checks") {
      EXPECT_TRUE(result.ok);
      continue;
    }
    EXPECT_EQ(result.code, "denied") << key;
    EXPECT_EQ(result.what, "hold file");
  }
  EXPECT_TRUE(tundishd.now().last.on_hold);
}

TEST_F(AgentTest, HostileCallsAreAnsweredNotObeyed) {
  FakeTundishd tundishd;
  start(tundishd.port());
  VerbCall reset = call_of("reset", Verb::reset_gpus);
  reset.devices = {"0; rm -rf /"};
  tundishd.call(reset);
  VerbCall observe = call_of("observe", Verb::engine_observe);
  observe.cluster = "../x";
  tundishd.call(observe);
  tundishd.call(call_of("bare", Verb::setup_node));
  ASSERT_TRUE(tundishd.wait([](auto& t) { return t.results.size() == 3; }));
  const auto results = tundishd.now().results;
  for (const auto& [key, result] : results) EXPECT_EQ(result.code, "invalid") << key;
}

TEST_F(AgentTest, SpoolsWhileTundishdIsAwayAndTellsAfterwards) {
  int port = 0;
  {
    FakeTundishd tundishd;
    port = tundishd.port();
    start(port);
    ASSERT_TRUE(tundishd.wait([](auto& t) { return t.syncs > 0; }));
  }
  {
    std::ofstream log(folder_ + "/kmsg", std::ios::app);
    log << "4,0,1000,-;NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n";
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  agent_.reset();
  FakeTundishd tundishd(port);
  start(port);
  ASSERT_TRUE(tundishd.wait([](auto& t) { return t.witnesses.count("boot-1/kmsg/0") == 1; }));
  EXPECT_EQ(tundishd.now().witnesses["boot-1/kmsg/0"].event.code, 79);
}

TEST_F(AgentTest, OneAgentPerState) {
  FakeTundishd tundishd;
  start(tundishd.port());
  const auto second = Agent::start(config(tundishd.port()), {});
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, Code::conflict);
}

TEST(AgentConfigFile, RefusesWhatItDoesNotKnow) {
  const std::string file = "/tmp/tundish-agent-config-" + std::to_string(::getpid()) + ".yaml";
  std::ofstream(file) << "api: https://10.88.0.1:7443\nheartbeat_ms: 5000\n";
  EXPECT_TRUE(load_agent_config(file).has_value());
  std::ofstream(file) << "api: https://10.88.0.1:7443\nhartbeat_ms: 5000\n";
  EXPECT_FALSE(load_agent_config(file).has_value());
  std::ofstream(file) << "api: ftp://x\n";
  EXPECT_FALSE(load_agent_config(file).has_value());
  std::ofstream(file) << "workers: 0\n";
  EXPECT_FALSE(load_agent_config(file).has_value());
  fs::remove(file);
}

}  // namespace
}  // namespace tundish::agent
