// Who is told what, and how often: a receiver that fails, people who acknowledge, a restart.
#include "control/notice/classify.hpp"
#include "control/notice/desk.hpp"
#include "edge/api/api_fixture_test.hpp"
#include "model/ops/drill_ops.hpp"
#include "model/ops/incident_ops.hpp"
#include "model/ops/maintenance_ops.hpp"

namespace tundish::edge {
namespace {

NoticeRules make_rules() {
  NoticeRules rules;
  rules.runbooks = "docs/runbooks/";
  rules.most_tries = 4;
  rules.first_pause_s = 1;
  rules.longest_pause_s = 3;
  for (const auto name : enum_names(NoticeClass{})) {
    NoticeRule rule;
    rule.channel = NoticeChannel::page;
    rule.repeat_s = 600;
    rule.runbook = std::string(name) + ".md";
    if (name == "maintenance" || name == "job") {
      rule.channel = NoticeChannel::log;
      rule.repeat_s = 0;
    }
    if (name == "drill") {
      rule.channel = NoticeChannel::ticket;
      rule.repeat_s = 0;
    }
    rules.classes[std::string(name)] = rule;
  }
  return rules;
}

struct Receiver final : Notifier {
  void start(const NoticeMessage& message, Done done) override {
    got.push_back(message);
    done(broken ? Result<>(make_error(Code::unavailable, "503")) : Result<>());
  }
  std::vector<std::string> keys() const {
    std::vector<std::string> out;
    for (const auto& message : got) {
      out.push_back(message.key.substr(message.key.find('/', message.key.find('/') + 1) + 1));
    }
    return out;
  }
  bool broken = false;
  std::vector<NoticeMessage> got;
};

class NoticeTest : public ApiTest {
 protected:
  NoticeTest() { desk_ = open_desk(); }
  std::unique_ptr<control::NoticeDesk> open_desk() {
    auto desk = std::make_unique<control::NoticeDesk>(
        control::DeskParts{ledger_, scheduler_, &receiver_, [this] { manager_.pump_soon(); }},
        make_rules());
    desk->start();
    settle();
    return desk;
  }
  void fault(const std::string& name, const std::string& drill = "") {
    const Node* node = ledger_.view().find_named<Node>(name);
    if (!drill.empty()) {
      const DrillMark mark{drill, "fallen off bus", "0000:3b:00"};
      ASSERT_TRUE(ledger_.perform(*announce_drill(node->id, mark), "test", ""));
    }
    Witness one;
    one.id = name + "-w" + std::to_string(++seq_);
    one.source = "kmsg";
    one.boot_id = "boot";
    one.seq = seq_;
    one.observed_at = scheduler_.now();
    one.event.kind = KernelEventKind::fallen_off_bus;
    one.event.device = "0000:3b:00";
    ASSERT_TRUE(ledger_.perform(*record_witnesses(node->id, {one}, catalogue_), "agent", ""));
    settle();
  }
  const Incident& incident() { return ledger_.view().all<Incident>().begin()->second; }
  const Notice& notice() { return ledger_.view().all<Notice>().begin()->second; }
  void act(const std::string& verb) {
    ASSERT_EQ(status({"POST", "/v1/incidents/" + incident().id.str() + "/" + verb,
                      R"({"reason":"seen"})", "oncall"}),
              200);
  }

  Receiver receiver_;
  std::unique_ptr<control::NoticeDesk> desk_;
  int seq_ = 0;
};

TEST_F(NoticeTest, a_page_is_repeated_until_it_is_acknowledged_and_its_end_is_told) {
  fault("gpu1");
  EXPECT_EQ(receiver_.keys(), (std::vector<std::string>{"opened/hardware"}));
  EXPECT_EQ(receiver_.got[0].notice.runbook, "docs/runbooks/hardware.md");
  ASSERT_TRUE(receiver_.got[0].incident.has_value());
  scheduler_.advance(minutes(25));
  EXPECT_EQ(receiver_.keys(),
            (std::vector<std::string>{"opened/hardware", "repeated/1", "repeated/2"}));
  act("ack");
  EXPECT_EQ(receiver_.keys().back(), "acknowledged");
  EXPECT_EQ(notice().acknowledged_by, "oncall");
  scheduler_.advance(hours(5));
  EXPECT_EQ(receiver_.got.size(), 4U) << "nobody is called any more";
  act("close");
  EXPECT_EQ(receiver_.keys().back(), "resolved");
  scheduler_.advance(hours(5));
  EXPECT_EQ(receiver_.got.size(), 5U);
}

TEST_F(NoticeTest, many_witnesses_of_one_incident_are_one_notice) {
  for (int i = 0; i < 20; ++i) fault("gpu1");
  EXPECT_EQ(receiver_.got.size(), 1U);
  EXPECT_EQ(ledger_.view().all<Notice>().size(), 1U);
}

TEST_F(NoticeTest, tries_are_bounded_spaced_and_have_one_key) {
  receiver_.broken = true;
  fault("gpu1");
  scheduler_.advance(seconds(500));
  ASSERT_EQ(receiver_.got.size(), 4U) << "four tries, then it is given up until the next page";
  for (const auto& key : receiver_.keys()) EXPECT_EQ(key, "opened/hardware");
  EXPECT_EQ(notice().given_up, 1);
  EXPECT_EQ(notice().last_fault, "503");
  const auto told = [&] {
    return field(call({"GET", "/v1/status"}).body, "notices").find("takes no notices") !=
           std::string::npos;
  };
  EXPECT_TRUE(told()) << "who looks at the site learns that nobody was told";
  receiver_.broken = false;
  scheduler_.advance(seconds(200));
  EXPECT_EQ(receiver_.keys().back(), "repeated/1") << "a page is not lost with its first delivery";
  EXPECT_EQ(notice().told, 1);
  EXPECT_FALSE(told());
}

TEST_F(NoticeTest, a_receiver_that_refuses_is_said_from_the_first_try) {
  receiver_.broken = true;
  fault("gpu1");
  ASSERT_EQ(notice().given_up, 0);
  const std::string status = call({"GET", "/v1/status"}).body;
  EXPECT_NE(status.find("1 not told, the last try failed: 503"), std::string::npos) << status;
  const std::string metrics = call({"GET", "/metrics"}).body;
  EXPECT_NE(metrics.find("tundish_notices_untold 1"), std::string::npos) << metrics;
  const std::string tenant = call({"GET", "/v1/status", "", "a-admin"}).body;
  EXPECT_EQ(tenant.find("not told"), std::string::npos) << "the operator's";
}

TEST(Notice, pauses_double_up_to_the_longest) {
  const NoticeRules rules = make_rules();
  EXPECT_EQ(pause_after(rules, 1), seconds(1));
  EXPECT_EQ(pause_after(rules, 2), seconds(2));
  EXPECT_EQ(pause_after(rules, 3), seconds(3));
  EXPECT_EQ(pause_after(rules, 60), seconds(3));
}

TEST_F(NoticeTest, a_restart_goes_on_where_it_stopped) {
  receiver_.broken = true;
  fault("gpu1");
  ASSERT_EQ(receiver_.got.size(), 1U);
  desk_.reset();
  receiver_.broken = false;
  receiver_.got.clear();
  scheduler_.advance(seconds(30));
  EXPECT_TRUE(receiver_.got.empty());
  desk_ = open_desk();
  EXPECT_EQ(receiver_.keys(), (std::vector<std::string>{"opened/hardware"}));
  desk_.reset();
  desk_ = open_desk();
  EXPECT_EQ(receiver_.got.size(), 1U) << "what arrived is not told again";
}

TEST_F(NoticeTest, a_drill_is_a_ticket_and_is_marked) {
  fault("gpu1", "off_bus injected by ann");
  ASSERT_EQ(receiver_.keys(), (std::vector<std::string>{"opened/drill"}));
  EXPECT_TRUE(receiver_.got[0].notice.drill);
  EXPECT_TRUE(receiver_.got[0].notice.summary.starts_with("DRILL "));
  scheduler_.advance(hours(5));
  EXPECT_EQ(receiver_.got.size(), 1U) << "a ticket is told once";
}

TEST_F(NoticeTest, inside_a_window_nobody_is_called_and_an_overrun_is) {
  MaintenanceRequest request;
  request.scope = "node:gpu1";
  request.reason = "fans";
  request.end = scheduler_.now() + hours(2);
  ASSERT_EQ(call({"POST", "/v1/maintenances", render_json(request), "oncall"}).status, 201);
  fault("gpu1");
  EXPECT_TRUE(receiver_.got.empty());
  EXPECT_EQ(notice().notice_class, NoticeClass::maintenance);
  scheduler_.advance(hours(3));
  ASSERT_FALSE(receiver_.got.empty());
  EXPECT_EQ(receiver_.keys().front(), "opened/overrun");
  EXPECT_TRUE(receiver_.got[0].notice.object.starts_with("maintenance/"));
}

TEST_F(NoticeTest, a_fault_that_outlives_its_window_is_told_then) {
  MaintenanceRequest request;
  request.scope = "node:gpu1";
  request.reason = "fans";
  request.end = scheduler_.now() + hours(2);
  ASSERT_EQ(call({"POST", "/v1/maintenances", render_json(request), "oncall"}).status, 201);
  fault("gpu1");
  const MaintenanceId id = ledger_.view().all<Maintenance>().begin()->first;
  ASSERT_EQ(status({"POST", "/v1/maintenances/" + id.str() + "/end", "", "oncall"}), 200);
  Verdict failed;
  failed.check = "gpu_count";
  failed.state = VerdictState::fail;
  failed.reason = "7 of 8";
  const NodeId node = ledger_.view().find_named<Node>("gpu1")->id;
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(ledger_.perform(*record_maintenance_checks(id, node, {failed}), "controller", ""));
    settle();
  }
  EXPECT_EQ(receiver_.keys(), (std::vector<std::string>{"opened/hardware"}));
}

TEST(Notice, rules_that_would_call_nobody_or_everybody_are_refused) {
  EXPECT_TRUE(control::check_rules(make_rules()));
  NoticeRules rules = make_rules();
  rules.classes.erase("blind");
  EXPECT_FALSE(control::check_rules(rules));
  rules = make_rules();
  rules.classes["coffee"] = rules.classes["blind"];
  EXPECT_FALSE(control::check_rules(rules));
  rules = make_rules();
  rules.classes["fabric"].repeat_s = 5;
  EXPECT_FALSE(control::check_rules(rules));
  rules = make_rules();
  rules.classes["fabric"].runbook.clear();
  EXPECT_FALSE(control::check_rules(rules));
  rules = make_rules();
  rules.most_tries = 0;
  EXPECT_FALSE(control::check_rules(rules));
}

}  // namespace
}  // namespace tundish::edge
