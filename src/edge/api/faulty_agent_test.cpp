// Reports of agents that lie or are broken: bounded, told, and never a reason to lose a fault.
#include <unistd.h>

#include <limits>
#include <thread>

#include "edge/api/agent_hub.hpp"
#include "edge/api/api_fixture_test.hpp"
#include "edge/api/report_check.hpp"
#include "runtime/net/http_client.hpp"

namespace tundish::edge {
namespace {

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

AgentSync faulty_report() {
  AgentSync report;
  report.boot_id = std::string("boot\x1b[2J\x07") + "\xc2\x9b";
  Witness& witness = report.witnesses.emplace_back();
  witness.seq = -7;
  witness.repeat = std::numeric_limits<std::int64_t>::min();
  witness.observed_at = Instant{largest};
  witness.event.text = std::string(1 << 20, 'x');
  report.hardware.emplace();
  report.hardware->memory_bytes = -1;
  report.gpus.emplace();
  report.gpus->gpus.emplace_back().temperature_c = -40;
  report.running_keys.resize(100000);
  return report;
}

TEST(CleanReport, every_field_is_brought_within_bounds) {
  const Instant now{1000000000};
  AgentSync report = faulty_report();
  const auto told = clean_report(report, now);
  EXPECT_FALSE(told.empty());
  EXPECT_EQ(report.boot_id, "boot?[2J??");
  EXPECT_EQ(report.witnesses[0].seq, 0);
  EXPECT_EQ(report.witnesses[0].repeat, 0);
  EXPECT_EQ(report.witnesses[0].observed_at, now);
  EXPECT_LE(report.witnesses[0].event.text.size(), 16384u);
  EXPECT_EQ(report.hardware->memory_bytes, 0);
  EXPECT_EQ(report.gpus->gpus[0].temperature_c, -40) << "it may be cold";
  EXPECT_LE(report.running_keys.size(), 4096u);
  EXPECT_TRUE(clean_report(report, now).empty()) << "clean is clean";
}

TEST(CleanReport, says_which_field_and_why) {
  AgentSync report;
  report.witnesses.emplace_back().seq = -7;
  const auto told = clean_report(report, Instant{1000000000});
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0], "witnesses.seq: -7 cannot be; taken as 0");
  report.witnesses[0].seq = 3;
  report.results.emplace_back().text = "NODES\n\tgpu1\n" + std::string(100000, 'x');
  EXPECT_TRUE(clean_report(report, Instant{1000000000}).empty()) << "an engine's answer is long";
}

class FaultyAgent : public ApiTest {
 protected:
  FaultyAgent() {
    hub_.connect(manager_);
    node_ = ledger_.view().find_named<Node>("gpu1")->id;
    Token token;
    token.meta.name = "agent-gpu1";
    token.hash = hash("gpu1");
    token.role = Role::agent;
    token.node = node_.str();
    put(token);
    settle();
  }

  /// One report over a real connection, for a net::Reply cannot be made otherwise.
  HttpResponse tell(const std::string& body) {
    net::Loop loop;
    const std::string path = "/tmp/tundish-hub-test-" + std::to_string(getpid());
    auto listening = net::HttpServer::listen(loop, {.url = "unix:" + path},
                                             [this](net::ServerRequest request, net::Reply reply) {
                                               hub_.handle(std::move(request), std::move(reply));
                                               manager_.pump();
                                               settle();
                                             });
    EXPECT_TRUE(listening) << listening.error().message();
    Result<HttpResponse> answer;
    std::thread client([&] {
      answer = net::http_call(
          {"POST", "unix:" + path + ":/v1/agent/sync", {{"Authorization", "Bearer gpu1"}}, body},
          seconds(5));
      loop.stop();
    });
    loop.run();
    client.join();
    unlink(path.c_str());
    EXPECT_TRUE(answer) << answer.error().message();
    return answer ? *answer : HttpResponse{};
  }

  AgentSyncReply reply_to(const AgentSync& report) {
    const auto answer = tell(render_json(report));
    EXPECT_EQ(answer.status, 200) << answer.body;
    AgentSyncReply reply;
    EXPECT_TRUE(parse_json(answer.body, reply));
    return reply;
  }

  AgentHub hub_{{ledger_, scheduler_, random_, hash}};
  NodeId node_;
};

TEST_F(FaultyAgent, a_number_that_cannot_be_loses_no_fault) {
  AgentSync report;
  report.boot_id = "boot";
  Witness& witness = report.witnesses.emplace_back();
  witness.id = "boot/kmsg/-7\x01";
  witness.source = "kmsg";
  witness.boot_id = "boot";
  witness.seq = -7;
  witness.event.kind = KernelEventKind::fallen_off_bus;
  witness.event.text = "GPU has fallen off the bus\x1b[31m";
  const auto reply = reply_to(report);
  ASSERT_EQ(reply.stored_witnesses.size(), 1u);
  EXPECT_EQ(reply.stored_witnesses[0], witness.id) << "named as the agent names it";
  EXPECT_EQ(hub_.counts().corrected, 1);
  ASSERT_EQ(ledger_.view().incidents_on(node_).size(), 1u);
  const Incident* incident = ledger_.view().find(*ledger_.view().incidents_on(node_).begin());
  EXPECT_EQ(incident->timeline[0].detail, "GPU has fallen off the bus?[31m");
}

TEST_F(FaultyAgent, what_cannot_be_read_is_refused_with_a_reason) {
  for (const char* body : {R"({"boot_id":"b","witnesses":[{"seq":NaN}]})",
                           R"({"boot_id":"b","witnesses":[{"seq":1e400}]})",
                           R"({"boot_id":"b","witnesses":[{"seq":9223372036854775808}]})"}) {
    const auto answer = tell(body);
    EXPECT_EQ(answer.status, 422) << body;
    EXPECT_NE(field(answer.body, "message"), "") << body;
  }
  EXPECT_EQ(hub_.counts().refused, 3);
}

TEST_F(FaultyAgent, a_result_that_nobody_asked_for_is_not_acknowledged) {
  int called = 0;
  VerbCall asked;
  asked.key = "asked#0";
  hub_.start(node_, asked, seconds(60), [&](const Result<VerbResult>& result) {
    EXPECT_TRUE(result);
    ++called;
  });
  AgentSync report;
  for (const char* key : {"asked#0", "forged#0"}) {
    VerbResult& result = report.results.emplace_back();
    result.key = key;
    result.ok = true;
  }
  const auto reply = reply_to(report);
  EXPECT_EQ(reply.stored_results, std::vector<std::string>{"asked#0"});
  EXPECT_EQ(reply.refused_results, std::vector<std::string>{"forged#0"});
  EXPECT_EQ(hub_.counts().unasked, 1);
  EXPECT_EQ(called, 1);
  report.results.pop_back();
  EXPECT_EQ(reply_to(report).stored_results.size(), 1u) << "told twice is no lie";
  EXPECT_EQ(hub_.counts().unasked, 1);
}

}  // namespace
}  // namespace tundish::edge
