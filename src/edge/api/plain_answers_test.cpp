// What a person is told: orders in force, checks, the past; and what is refused with its reason.
#include <gmock/gmock.h>

#include "edge/api/api_fixture_test.hpp"
#include "edge/api/explain_more.hpp"

namespace tundish::edge {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST_F(ApiTest, explain_shows_holds_checks_and_the_past) {
  const NodeId id = ledger_.view().find_named<Node>("gpu1")->id;
  Node node = *ledger_.view().find(id);
  Verdict warn;
  warn.check = "ecc_rate";
  warn.state = VerdictState::warn;
  warn.reason = "corrected memory errors";
  Verdict unseen = warn;
  unseen.check = "dram_ecc";
  unseen.state = VerdictState::unknown;
  node.status.verdicts = {warn, unseen};
  put(node);
  Incident past;
  past.node = id;
  past.fault = "xid 79";
  past.state = IncidentState::resolved;
  past.opened_at = scheduler_.now();
  past = put(past);
  ASSERT_EQ(status({"POST", "/v1/holds", R"({"scope":"node:gpu1","reason":"look"})"}), 201);
  ASSERT_EQ(status({"POST", "/v1/holds", R"({"scope":"node:gpu2","reason":"other"})"}), 201);
  const std::string told = call({"GET", "/v1/nodes/gpu1/explain"}).body;
  EXPECT_THAT(field(told, "next"), HasSubstr("(node:gpu1: look) stops automatic acts on it"));
  EXPECT_THAT(field(told, "next"), Not(HasSubstr("other")));
  EXPECT_THAT(field(told, "you_can"), HasSubstr("tundish hold release hold-"));
  EXPECT_EQ(field(told, "how_to_stop"), "") << "it is stopped";
  EXPECT_THAT(field(told, "shows"), HasSubstr("ecc_rate warn: corrected memory errors"));
  EXPECT_THAT(field(told, "shows"), HasSubstr("dram_ecc unknown"));
  EXPECT_THAT(field(told, "past"), HasSubstr(past.id.str() + " xid 79"));
}

TEST_F(ApiTest, explain_says_who_ends_a_maintenance) {
  const Instant end = scheduler_.now() + hours(2);
  const auto made = call({"POST", "/v1/maintenances",
                          R"({"scope":"node:gpu1","reason":"fans","end":")" + render_utc(end) +
                              R"("})"});
  ASSERT_EQ(made.status, 201) << made.body;
  settle();
  const std::string told = call({"GET", "/v1/nodes/gpu1/explain"}).body;
  EXPECT_THAT(field(told, "next"), HasSubstr("(fans)")) << told;
  EXPECT_THAT(field(told, "you_can"),
              HasSubstr("tundish maintenance end " + field(made.body, "id")));
}

TEST(WaitingWords, facts_become_words_and_are_said_once) {
  EXPECT_EQ(api::waiting_words("waits for action_failed or rebooted or rebooted"),
            "waits for the act to fail, or the node to start anew");
  EXPECT_EQ(api::waiting_words("waits for checks_passed or budget:revalidate"),
            "waits for its checks to pass");
  EXPECT_EQ(api::waiting_words("waits for wants_rma"), "waits for wants_rma") << "no word is known";
  EXPECT_EQ(api::waiting_words("state x is not in the policy"), "state x is not in the policy");
}

TEST_F(ApiTest, a_node_that_nobody_drained_is_not_returned) {
  const auto answer = call({"POST", "/v1/nodes/gpu1/return", ""});
  EXPECT_EQ(answer.status, 409) << answer.body;
  EXPECT_EQ(field(answer.body, "message"),
            "node gpu1 is not drained: nobody claims it, nothing to return");
}

TEST_F(ApiTest, lists_are_in_the_order_of_their_making) {
  std::string first, last;
  for (int i = 0; i < 120; ++i) {
    Incident incident;
    incident.fault = "xid 95";
    incident.state = IncidentState::closed;
    incident = put(incident);
    if (first.empty()) first = incident.id.str();
    last = incident.id.str();
  }
  ASSERT_LT(first.size(), last.size()) << "two digits and three: as text the last comes first";
  const auto whole = JsonValue::parse(call({"GET", "/v1/incidents"}).body);
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->at(std::size_t{0}).at("id").as_text(), first);
  EXPECT_EQ(whole->at(whole->size() - 1).at("id").as_text(), last);
  std::string page;
  std::size_t seen = 0;
  std::string at_end;
  do {
    std::map<std::string, std::string> query = {{"limit", "7"}};
    if (!page.empty()) query["page"] = page;
    auto answer = call({"GET", "/v1/incidents", "", "root", {}, query});
    const auto items = JsonValue::parse(answer.body);
    ASSERT_TRUE(items);
    seen += items->size();
    at_end = items->at(items->size() - 1).at("id").as_text().value_or("");
    page = answer.headers.contains("x-next-page") ? answer.headers["x-next-page"] : "";
  } while (!page.empty() && seen < 1000);
  EXPECT_EQ(seen, 120U);
  EXPECT_EQ(at_end, last);
}

TEST_F(ApiTest, nodes_that_are_not_ready_yet_are_no_shortage) {
  for (const char* name : {"gpu1", "gpu2", "gpu3"}) {
    Node node = *ledger_.view().find_named<Node>(name);
    node.status.phase = std::string(name) == "gpu3" ? NodePhase::inspecting : NodePhase::expected;
    put(node);
  }
  const auto refused = order("train", 2);
  EXPECT_EQ(refused.status, 409) << refused.body;
  EXPECT_THAT(field(refused.body, "message"), HasSubstr("not ready yet: 2 expected"));
  EXPECT_THAT(field(refused.body, "message"), HasSubstr("1 being looked at"));
  EXPECT_EQ(field(refused.body, "retry_after_ms"), "5000");
  EXPECT_THAT(field(refused.body, "remedy"), HasSubstr("--wait"));
}

TEST_F(ApiTest, a_real_shortage_is_not_waited_for) {
  ASSERT_EQ(order("first", 3).status, 201);
  const auto refused = order("second", 1);
  EXPECT_EQ(refused.status, 409) << refused.body;
  EXPECT_EQ(field(refused.body, "retry_after_ms"), "0");
}

TEST_F(ApiTest, a_service_that_a_shell_could_read_is_refused) {
  for (const char* bad : {"=;rm:22", "web=;rm:22", "web=a.example:22", "=10.0.0.1:22", "web=:22",
                          "web=10.0.0.1", "web=10.0.0.1:0", "web=10.0.0.1:70000", "10.0.0.1:22",
                          "web=10.0.0.1/32:22", "$(x)=10.0.0.1:22"}) {
    const auto answer = call({"POST", "/v1/network-probe",
                              R"({"clusters":[],"services":[")" + std::string(bad) + R"("]})"});
    EXPECT_EQ(answer.status, 422) << bad << answer.body;
    EXPECT_THAT(field(answer.body, "message"), HasSubstr("is not NAME=ADDRESS:PORT")) << bad;
  }
}

TEST_F(ApiTest, what_a_person_typed_is_cut_in_errors) {
  const std::string junk(5000, 'x');
  for (const Ask& ask : {Ask{"GET", "/v1/clusters/" + junk}, Ask{"GET", "/v1/nodes/" + junk},
                         Ask{"POST", "/v1/tenants", R"({"name":"9)" + junk + R"(","gpu_quota":1})"},
                         Ask{"POST", "/v1/holds", R"({"scope":")" + junk + R"(","reason":"r"})"}}) {
    const auto answer = call(ask);
    EXPECT_GE(answer.status, 400) << ask.path.substr(0, 20);
    EXPECT_LT(answer.body.size(), 600U) << answer.body;
    EXPECT_THAT(answer.body, HasSubstr("…"));
  }
}

TEST_F(ApiTest, a_report_on_a_job_that_no_engine_shows_is_refused) {
  ASSERT_EQ(order("train", 2).status, 201);
  const auto report = [&] {
    return call(
        {"POST", "/v1/node_reports", R"({"node":"","job":"99","text":"slow"})", "a-member"});
  };
  const ClusterId train = ledger_.view().find_named<Cluster>("train")->id;
  const auto show = [&](const std::string& job) {
    EngineObserved seen;
    seen.reachable = true;
    seen.at = scheduler_.now();
    EngineJob running;
    running.id = job;
    running.state = "RUNNING";
    running.nodes = {"gpu1"};
    seen.jobs = {running};
    manager_.on_engine(train, seen);
    settle();
  };
  show("7");
  const auto refused = report();
  EXPECT_EQ(refused.status, 404) << refused.body;
  EXPECT_EQ(field(refused.body, "message"),
            "no job \"99\" runs, or ran lately, on train");
  EXPECT_EQ(count_history("report_node", "done"), 0) << "nothing is counted";
  show("99_4");
  EXPECT_EQ(report().status, 201) << "a task of an array is of its job";
}

TEST_F(ApiTest, a_report_is_taken_while_no_engine_was_heard) {
  ASSERT_EQ(order("train", 2).status, 201);
  EXPECT_EQ(call({"POST", "/v1/node_reports", R"({"node":"","job":"99","text":"slow"})",
                  "a-member"})
                .status,
            201);
}

TEST_F(ApiTest, a_tenant_sees_acts_and_their_outcome_in_plain_words) {
  ASSERT_EQ(order("train", 2).status, 201);
  const Allocation held = ledger_.view().all<Allocation>().begin()->second;
  Incident incident;
  incident.node = held.status.nodes.front().node;
  incident.allocation = held.id;
  incident.fault = "xid 79";
  TimelineEntry entry;
  entry.what = "reboot";
  entry.key = "incident-9/reboot/1";
  entry.detail = "serial 12345 in rack r01";
  entry.outcome = StepOutcome::done;
  incident.timeline.push_back(entry);
  entry.what = "note";
  entry.key.clear();
  incident.timeline.push_back(entry);
  incident = put(incident);
  const std::string told =
      call({"GET", "/v1/incidents/" + incident.id.str(), "", "a-member"}).body;
  EXPECT_THAT(told, HasSubstr("\"detail\":\"the node is restarted\"")) << told;
  EXPECT_THAT(told, HasSubstr("\"key\":\"act\""));
  EXPECT_THAT(told, Not(HasSubstr("12345")));
  EXPECT_THAT(told, Not(HasSubstr("incident-9/reboot")));
}

TEST_F(ApiTest, a_tenant_sees_that_its_node_is_out_of_service) {
  ASSERT_EQ(order("train", 2).status, 201);
  const Allocation held = ledger_.view().all<Allocation>().begin()->second;
  const std::string name = ledger_.view().find(held.status.nodes.front().node)->meta.name;
  EXPECT_THAT(call({"GET", "/v1/nodes/" + name, "", "a-member"}).body,
              Not(HasSubstr("out_of_service")));
  ASSERT_EQ(status({"POST", "/v1/nodes/" + name + "/drain", R"({"reason":"rack r01 fan"})"}), 200);
  const std::string told = call({"GET", "/v1/nodes/" + name, "", "a-member"}).body;
  EXPECT_THAT(told, HasSubstr("out_of_service"));
  EXPECT_THAT(told, Not(HasSubstr("r01")));
  EXPECT_THAT(call({"GET", "/v1/nodes/" + name}).body, Not(HasSubstr("out_of_service")));
}

class ReceiverTest : public ApiTest {
 protected:
  void receiver(std::optional<std::string> where) {
    ApiParts parts = make_parts();
    parts.receiver = std::move(where);
    api_ = std::make_unique<Api>(std::move(parts));
  }
};

TEST_F(ReceiverTest, status_says_when_nobody_is_told) {
  receiver("");
  EXPECT_THAT(call({"GET", "/v1/status"}).body, HasSubstr("nobody is told of pages"));
  EXPECT_THAT(call({"GET", "/v1/status", "", "a-member"}).body, Not(HasSubstr("nobody is told")));
  receiver("https://alerts.example.com/");
  EXPECT_THAT(call({"GET", "/v1/status"}).body, Not(HasSubstr("nobody is told")));
}

TEST_F(ApiTest, a_shift_has_one_line_for_what_all_agents_told) {
  const std::string told = call({"GET", "/v1/shift-report"}).body;
  EXPECT_THAT(told, HasSubstr(R"("actor":"agents","operation":"record_boot","count":5)"));
  EXPECT_THAT(told, Not(HasSubstr("agent:")));
}

}  // namespace
}  // namespace tundish::edge
