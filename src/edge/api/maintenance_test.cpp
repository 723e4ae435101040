// Maintenance as an operator meets it: refused when it makes no sense, begun by the clock, ended by
// checks and by nothing else.
#include <algorithm>

#include "edge/api/api_fixture_test.hpp"
#include "model/ops/allocation_ops.hpp"
#include "model/ops/incident_ops.hpp"
#include "model/ops/maintenance_ops.hpp"

namespace tundish::edge {
namespace {

class MaintenanceTest : public ApiTest {
 protected:
  MaintenanceTest() {
    Rack rack;
    rack.meta.name = "rack1";
    put(rack);
  }
  /// From now in `begin_h` hours, two hours long.
  std::string window(const std::string& scope, int begin_h, int length_h = 2) {
    MaintenanceRequest request;
    request.scope = scope;
    request.reason = "fans";
    if (begin_h > 0) request.begin = scheduler_.now() + hours(begin_h);
    request.end = scheduler_.now() + hours(begin_h + length_h);
    return render_json(request);
  }
  HttpResponse create(const std::string& body) {
    return call({"POST", "/v1/maintenances", body, "oncall"});
  }
  const Maintenance& only() { return ledger_.view().all<Maintenance>().begin()->second; }
  const Node& node(const std::string& name) { return *ledger_.view().find_named<Node>(name); }
  std::string placeable(const std::string& name) {
    return control::placeable(manager_.view(), node(name)).reason;
  }
  void witness(const std::string& name) {
    Witness one;
    one.id = name + "-w" + std::to_string(++seq_);
    one.source = "kmsg";
    one.boot_id = "boot";
    one.seq = seq_;
    one.observed_at = scheduler_.now();
    one.event.kind = KernelEventKind::fallen_off_bus;
    one.event.device = "0000:3b:00";
    one.event.text = "NVRM: GPU 0000:3b:00.0: GPU has fallen off the bus.";
    ASSERT_TRUE(ledger_.perform(*record_witnesses(node(name).id, {one}, catalogue_), "agent", ""));
    settle();
  }
  /// All that must be measured of a node, and what proves a GPU that the kernel log accused.
  void checks(const std::string& name, VerdictState state) {
    std::vector<Verdict> verdicts(2);
    verdicts[0].check = "gpu_count";
    verdicts[1].check = "recovery_action";
    for (auto& verdict : verdicts) {
      verdict.state = state;
      if (state != VerdictState::ok) verdict.reason = "7 of 8 GPUs";
    }
    ASSERT_TRUE(ledger_.perform(*record_maintenance_checks(only().id, node(name).id, verdicts),
                                "controller", ""));
    settle();
  }
  int seq_ = 0;
};

TEST_F(MaintenanceTest, what_makes_no_sense_is_refused_and_changes_nothing) {
  MaintenanceRequest backwards;
  backwards.scope = "node:gpu1";
  backwards.reason = "fans";
  backwards.begin = scheduler_.now() + hours(2);
  backwards.end = scheduler_.now() + hours(1);
  MaintenanceRequest past = backwards;
  past.begin = scheduler_.now() - seconds(900);
  past.end = scheduler_.now() - seconds(800);
  MaintenanceRequest endless = backwards;
  endless.end = scheduler_.now() + hours(24 * 400);
  const std::vector<std::pair<std::string, int>> bad = {
      {render_json(backwards), 422},
      {render_json(past), 422},
      {render_json(endless), 422},
      {window("node:nowhere", 1), 404},
      {window("rack:nowhere", 1), 404},
      {window("tenant:a", 1), 422},
      {window("*", 1), 422},
      {R"({"scope":"node:gpu1","end":"2099-01-01T00:00:00Z","reason":"x","owner":"me"})", 422},
      {R"({"scope":"node:gpu1","reason":"fans"})", 422},
      {R"({"scope":"node:gpu1","until":"tomorrow"})", 422}};
  for (const auto& [body, status] : bad) {
    const auto told = create(body);
    EXPECT_EQ(told.status, status) << body << told.body;
    EXPECT_NE(told.body.find("message"), std::string::npos);
  }
  EXPECT_TRUE(ledger_.view().all<Maintenance>().empty());
  EXPECT_EQ(call({"POST", "/v1/maintenances", window("node:gpu1", 1), "a-admin"}).status, 403);
  EXPECT_TRUE(ledger_.view().all<Maintenance>().empty());
}

TEST_F(MaintenanceTest, windows_that_meet_are_refused_others_are_not) {
  ASSERT_EQ(create(window("node:gpu1", 30)).status, 201);
  const auto again = create(window("rack:rack1", 31));
  EXPECT_EQ(again.status, 409);
  EXPECT_NE(again.body.find("gpu1"), std::string::npos);
  EXPECT_EQ(create(window("node:gpu1", 33)).status, 201);
  EXPECT_EQ(create(window("node:gpu2", 30)).status, 201);
  EXPECT_EQ(ledger_.view().all<Maintenance>().size(), 3U);
}

TEST_F(MaintenanceTest, a_dry_run_leaves_nothing) {
  Ask ask{"POST", "/v1/maintenances", window("node:gpu1", 0), "oncall"};
  ask.query["dry_run"] = "true";
  EXPECT_EQ(call(ask).status, 201);
  EXPECT_TRUE(ledger_.view().all<Maintenance>().empty());
  EXPECT_TRUE(ledger_.view().all<Claim>().empty());
}

TEST_F(MaintenanceTest, nodes_are_handed_out_no_more_before_the_window_and_claimed_in_it) {
  ASSERT_EQ(create(window("node:gpu1", 30)).status, 201);
  EXPECT_EQ(only().state, MaintenanceState::planned);
  EXPECT_EQ(placeable("gpu1"), "");
  scheduler_.advance(hours(7));
  for (const char* name : {"gpu1", "gpu2", "gpu3"}) manager_.heard(node(name).id, "boot", false);
  settle();
  EXPECT_EQ(only().state, MaintenanceState::near);
  EXPECT_NE(placeable("gpu1").find("maintenance window"), std::string::npos);
  EXPECT_EQ(placeable("gpu2"), "");
  EXPECT_TRUE(ledger_.view().all<Claim>().empty());
  scheduler_.advance(hours(24));
  EXPECT_EQ(only().state, MaintenanceState::active);
  ASSERT_EQ(ledger_.view().claims_on(node("gpu1").id).size(), 1U);
  EXPECT_EQ(only().nodes[0].state, MaintenanceNodeState::empty) << only().nodes[0].reason;
}

TEST_F(MaintenanceTest, one_that_did_not_begin_is_cancelled_without_checks) {
  ASSERT_EQ(create(window("node:gpu1", 30)).status, 201);
  const std::string path = "/v1/maintenances/" + only().id.str() + "/end";
  EXPECT_EQ(call({"POST", path, "", "oncall"}).status, 200);
  EXPECT_EQ(only().state, MaintenanceState::cancelled);
  EXPECT_EQ(call({"POST", path, "", "oncall"}).status, 409);
  EXPECT_EQ(create(window("node:gpu1", 30)).status, 201) << "its place is free again";
}

TEST_F(MaintenanceTest, time_alone_never_ends_it) {
  ASSERT_EQ(create(window("node:gpu1", 0)).status, 201);
  scheduler_.advance(hours(1));
  EXPECT_FALSE(only().overrun_since.is_set());
  scheduler_.advance(hours(200));
  EXPECT_EQ(only().state, MaintenanceState::active);
  EXPECT_EQ(only().overrun_since, only().end);
  EXPECT_EQ(ledger_.view().claims_on(node("gpu1").id).size(), 1U);
  ASSERT_EQ(status({"POST", "/v1/maintenances/" + only().id.str() + "/end", "", "oncall"}), 200);
  scheduler_.advance(hours(1));
  EXPECT_EQ(only().state, MaintenanceState::revalidating) << "nobody's word is a proof";
  checks("gpu1", VerdictState::unknown);
  EXPECT_EQ(only().state, MaintenanceState::revalidating) << "no answer is no proof";
  checks("gpu1", VerdictState::ok);
  EXPECT_EQ(only().state, MaintenanceState::ended);
  EXPECT_TRUE(ledger_.view().claims_on(node("gpu1").id).empty());
}

TEST_F(MaintenanceTest, a_fault_in_the_window_is_recorded_and_over_with_the_proof) {
  ASSERT_EQ(create(window("node:gpu1", 0)).status, 201);
  witness("gpu1");
  ASSERT_EQ(ledger_.view().incidents_on(node("gpu1").id).size(), 1U);
  const IncidentId id = *ledger_.view().incidents_on(node("gpu1").id).begin();
  ASSERT_EQ(only().recorded, std::vector<IncidentId>{id});
  control::Action reset;
  reset.action_class = ActionClass::reset;
  reset.node = node("gpu1").id;
  reset.incident = id;
  reset.act = control::PowerAct{};
  const auto leave = control::permit(reset, manager_.view(), {});
  EXPECT_EQ(leave.leave, control::Leave::refuse);
  EXPECT_NE(leave.reason.find("recorded, not acted on"), std::string::npos);
  ASSERT_EQ(status({"POST", "/v1/maintenances/" + only().id.str() + "/end", "", "oncall"}), 200);
  checks("gpu1", VerdictState::ok);
  EXPECT_EQ(ledger_.view().find(id)->state, IncidentState::closed);
  EXPECT_EQ(only().state, MaintenanceState::ended);
  EXPECT_TRUE(ledger_.view().claims_on(node("gpu1").id).empty());
}

TEST_F(MaintenanceTest, what_broke_before_the_window_leaves_the_node_and_is_not_repaired_in_it) {
  witness("gpu1");
  const IncidentId before = *ledger_.view().incidents_on(node("gpu1").id).begin();
  scheduler_.advance(seconds(1));
  ASSERT_EQ(create(window("node:gpu1", 0)).status, 201);
  witness("gpu2");
  const IncidentId other = *ledger_.view().incidents_on(node("gpu2").id).begin();
  scheduler_.advance(seconds(1));
  ASSERT_EQ(status({"PUT", "/v1/authorities", R"({"scope":"*","level":"act"})"}), 200);
  const auto leave = [&](ActionClass action_class, auto act, const IncidentId& incident) {
    control::Action action;
    action.action_class = action_class;
    action.incident = incident;
    action.node = ledger_.view().find(incident)->node;
    action.act = std::move(act);
    return control::permit(action, manager_.view(), {});
  };
  const auto evacuate = [&](const IncidentId& id) {
    return leave(ActionClass::stop_new_work, control::PermitClaimsAct{id}, id);
  };
  EXPECT_EQ(evacuate(before).leave, control::Leave::execute) << evacuate(before).reason;
  EXPECT_EQ(leave(ActionClass::power, control::PowerAct{}, before).leave, control::Leave::refuse)
      << "people have their hands in it";
  EXPECT_TRUE(only().recorded.empty()) << "it is no fault of the work";
  Maintenance second = only();
  second.nodes.front().node = node("gpu2").id;
  second.begun_at = ledger_.view().find(other)->opened_at - seconds(1);
  put(second);
  EXPECT_EQ(evacuate(other).leave, control::Leave::refuse) << "seen while people worked";
  EXPECT_EQ(leave(ActionClass::requeue, control::EngineAct{}, other).leave,
            control::Leave::execute)
      << "the job that lost its device goes on elsewhere";
}

TEST_F(MaintenanceTest, a_node_that_fails_twice_becomes_an_incident) {
  ASSERT_EQ(create(window("node:gpu1", 0)).status, 201);
  ASSERT_EQ(status({"POST", "/v1/maintenances/" + only().id.str() + "/end", "", "oncall"}), 200);
  checks("gpu1", VerdictState::fail);
  EXPECT_EQ(only().state, MaintenanceState::revalidating);
  EXPECT_EQ(only().nodes[0].reason, "gpu_count: 7 of 8 GPUs");
  checks("gpu1", VerdictState::fail);
  EXPECT_EQ(only().state, MaintenanceState::ended);
  EXPECT_EQ(only().nodes[0].state, MaintenanceNodeState::faulty);
  EXPECT_EQ(ledger_.view().incidents_on(node("gpu1").id).size(), 1U);
  EXPECT_FALSE(ledger_.view().claims_on(node("gpu1").id).empty());
}

TEST_F(MaintenanceTest, a_tenant_is_asked_as_its_consent_says_and_loses_no_spare) {
  const auto with_consent = [&](const std::string& consent) {
    return call(
        {"POST", "/v1/clusters",
         R"({"name":"t)" + consent + R"(","nodes":1,"login":false,"replace":")" + consent + "\"}",
         "a-admin"});
  };
  ASSERT_EQ(with_consent("ask").status, 201);
  ASSERT_EQ(with_consent("never").status, 201);
  ASSERT_EQ(with_consent("auto").status, 201);
  settle();
  std::map<std::string, Consent> consents;
  for (const auto& [id, held] : ledger_.view().all<Allocation>()) {
    for (const auto& member : held.status.nodes) {
      if (member.role == MemberRole::member) consents[member.node.str()] = held.spec.replace;
    }
  }
  ASSERT_EQ(consents.size(), 3U);
  ASSERT_EQ(create(window("rack:rack1", 0)).status, 201);
  settle();
  for (const auto& one : only().nodes) {
    const auto found = consents.find(one.node.str());
    if (found == consents.end()) continue;
    const Claim* claim = ledger_.view().find(*ledger_.view().claims_on(one.node).begin());
    EXPECT_EQ(claim->permitted, found->second == Consent::automatic);
    if (found->second == Consent::never) {
      EXPECT_EQ(one.reason, "the tenant does not consent to a drain");
    }
  }
  const auto& proposals = ledger_.view().all<Proposal>();
  ASSERT_EQ(proposals.size(), 1U) << "only who wants to be asked is asked";
  ASSERT_EQ(status({"POST", "/v1/proposals/" + proposals.begin()->first.str() + "/approve", "",
                    "oncall"}),
            200);
  scheduler_.advance(seconds(3));
  int permitted = 0;
  for (const auto& [id, claim] : ledger_.view().all<Claim>()) permitted += claim.permitted;
  EXPECT_EQ(permitted, static_cast<int>(only().nodes.size()) - 1) << "all but never";
  for (const auto& [id, held] : ledger_.view().all<Allocation>()) {
    EXPECT_EQ(count_role(held, MemberRole::member), 1) << "nobody took its place";
    EXPECT_EQ(count_role(held, MemberRole::leaving), 0);
  }
}

TEST_F(MaintenanceTest, a_member_that_was_switched_off_is_set_up_again) {
  ASSERT_EQ(order("train", 1).status, 201);
  Allocation held = ledger_.view().all<Allocation>().begin()->second;
  std::string name;
  for (auto& member : held.status.nodes) {
    if (member.role != MemberRole::member) continue;
    member.joined = true;
    name = ledger_.view().find(member.node)->meta.name;
  }
  put(held);
  const auto joined = [&] {
    const Allocation& now = ledger_.view().all<Allocation>().begin()->second;
    return find_member(now, node(name).id)->joined;
  };
  ASSERT_EQ(create(window("node:" + name, 0)).status, 201);
  manager_.heard(node(name).id, "second boot", false);
  settle();
  EXPECT_TRUE(joined());
  ASSERT_EQ(status({"POST", "/v1/maintenances/" + only().id.str() + "/end", "", "oncall"}), 200);
  checks(name, VerdictState::ok);
  EXPECT_FALSE(joined()) << "what ran on it for its cluster went with the boot";
}

}  // namespace
}  // namespace tundish::edge
