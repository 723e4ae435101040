// Limits of the policy are enforced by the permit, from the incidents' own timelines.
#include "control/permit/blast.hpp"

#include <gtest/gtest.h>

#include "control/fault/budgets.hpp"
#include "control/fault/reconcile_incident.hpp"
#include "control/permit/permit.hpp"
#include "model/ops/governance_ops.hpp"
#include "model/ops/incident_ops.hpp"

namespace tundish::control {
namespace {

class Limited : public testing::Test {
 protected:
  Limited() {
    policy_.initial = "reset";
    policy_.states["reset"].action = "reset_gpus";
    policy_.states["reset"].budget = 3;
    policy_.states["reboot"].action = "reboot";
    policy_.limits.touch = "isolated";
    limits_.disruptive_floor = 100;
    run(*set_authority("*", "*", AuthorityLevel::act));
    for (const char* name : {"n1", "n2", "n3"}) put_node(name);
  }
  void run(const Operation& operation) {
    Txn txn(registry_, now_, "test");
    const auto done = operation.perform(txn);
    ASSERT_TRUE(done) << operation.name() << ": " << done.error().message();
  }
  template <class T>
  void put(T object) {
    run(*make_operation("put", "test", [&](Txn& txn) -> Result<> {
      txn.put(object);
      return {};
    }));
  }
  void put_node(const std::string& name) {
    Node node;
    node.id = NodeId(name);
    node.meta.name = name;
    node.spec.rack = name == "n3" ? "r2" : "r1";
    node.spec.nvlink_domain = name == "n3" ? "" : "d1";
    put(node);
  }
  /// An incident that is in a state, whose act began some time ago.
  Incident put_incident(const std::string& node, const std::string& state, Duration ago = {}) {
    Incident incident;
    incident.id = IncidentId("incident-" + node);
    incident.node = NodeId(node);
    incident.fault = "xid 95";
    incident.hardware_witness = true;
    incident.policy_state = state;
    incident.policy_since = incident.opened_at = now_ - ago;
    incident.entries[state] = 1;
    TimelineEntry entry;
    entry.at = now_ - ago;
    entry.what = state;
    entry.key = act_key(incident);
    entry.outcome = StepOutcome::done;
    incident.timeline.push_back(entry);
    put(incident);
    return incident;
  }
  Action act_on(const std::string& node, const std::string& name) {
    Action action;
    action.name = name;
    action.key = "new act on " + node;
    action.node = NodeId(node);
    action.action_class = name == "reset_gpus" ? ActionClass::reset : ActionClass::power;
    return action;
  }
  View view() const { return {registry_, seen_, policy_, limits_, now_}; }
  std::string refusal(const Action& action) const {
    const Permit answer = permit(action, view(), {});
    return answer.leave == Leave::execute ? "" : answer.reason;
  }

  Registry registry_;
  Observations seen_;
  RemediationPolicy policy_;
  Limits limits_;
  Instant now_{1'700'000'000'000'000};
};

TEST_F(Limited, resets_and_power_acts_are_counted_for_an_hour_each_by_itself) {
  policy_.limits.resets_per_hour = 1;
  EXPECT_EQ(refusal(act_on("n3", "reset_gpus")), "");
  put_incident("n1", "reset", minutes(59));
  EXPECT_NE(refusal(act_on("n3", "reset_gpus")).find("resets of the last hour: 1 of 1"),
            std::string::npos);
  EXPECT_EQ(refusal(act_on("n3", "reboot")), "");
  now_ = now_ + minutes(2);
  EXPECT_EQ(refusal(act_on("n3", "reset_gpus")), "");
}

TEST_F(Limited, a_rack_has_its_own_count) {
  policy_.limits.rack_per_hour = 1;
  put_incident("n1", "reboot", minutes(1));
  EXPECT_NE(refusal(act_on("n2", "reboot")).find("acts on rack r1"), std::string::npos);
  EXPECT_EQ(refusal(act_on("n3", "reboot")), "");
}

TEST_F(Limited, one_tray_of_a_domain_at_a_time) {
  policy_.limits.domain_at_once = 1;
  put_incident("n1", "reboot", hours(3));
  EXPECT_NE(refusal(act_on("n2", "reset_gpus")).find("trays of NVLink domain d1"),
            std::string::npos);
  EXPECT_EQ(refusal(act_on("n3", "reset_gpus")), "");
}

TEST_F(Limited, a_wet_tray_waits_for_no_other_tray_of_its_domain) {
  policy_.limits.domain_at_once = 1;
  policy_.states["power_off"].action = "power_off";
  put_incident("n1", "power_off");
  EXPECT_EQ(refusal(act_on("n2", "power_off")), "");
  EXPECT_NE(refusal(act_on("n2", "reboot")).find("trays of NVLink domain d1"), std::string::npos);
}

TEST_F(Limited, what_a_person_refused_or_nobody_began_does_not_count) {
  policy_.limits.resets_per_hour = 1;
  Incident waiting = put_incident("n1", "reset");
  waiting.timeline.back().outcome = StepOutcome::refused;
  put(waiting);
  EXPECT_EQ(refusal(act_on("n3", "reset_gpus")), "");
}

TEST_F(Limited, lines_of_a_tenants_own_users_take_only_so_many_of_its_nodes_an_hour) {
  policy_.limits.user_lines_per_hour = 1;
  policy_.states["permit"].action = "evacuate";
  for (const char* tenant : {"t1", "t2"}) {
    Allocation allocation;
    allocation.id = AllocationId(std::string("of-") + tenant);
    allocation.meta.tenant = TenantId(tenant);
    put(allocation);
  }
  const auto accuse = [&](const std::string& node, const std::string& tenant, Duration ago = {}) {
    Incident incident = put_incident(node, "permit", ago);
    incident.allocation = AllocationId("of-" + tenant);
    incident.hardware_witness = false;
    put(incident);
    return incident;
  };
  const auto evacuate = [&](const Incident& incident) {
    Action action;
    action.name = "evacuate";
    action.key = "evacuate " + incident.id.str();
    action.node = incident.node;
    action.incident = incident.id;
    action.action_class = ActionClass::stop_new_work;
    return refusal(action);
  };
  Incident first = accuse("n1", "t1", minutes(59));
  Incident second = accuse("n2", "t1");
  second.timeline.clear();
  put(second);
  EXPECT_EQ(evacuate(first), "") << "it does not stand in its own way";
  EXPECT_NE(evacuate(second).find("lines of a user took from this tenant in an hour: 1 of 1"),
            std::string::npos);
  EXPECT_EQ(evacuate(accuse("n3", "t2")), "") << "another tenant has its own";
  second.hardware_witness = true;
  put(second);
  EXPECT_EQ(evacuate(second), "") << "hardware says it as well";
  second.hardware_witness = false;
  second.drill = true;
  put(second);
  EXPECT_EQ(evacuate(second), "") << "an operator's drill";
  second.drill = false;
  put(second);
  now_ = now_ + minutes(2);
  EXPECT_EQ(evacuate(second), "") << "the hour is over";
  now_ = now_ - minutes(2);
  first.hardware_witness = true;
  put(first);
  EXPECT_EQ(evacuate(second), "") << "what hardware said in the end was no user's line";
}

TEST_F(Limited, a_node_that_is_not_known_to_have_left_is_not_touched) {
  Node node = *registry_.find(NodeId("n3"));
  node.status.allocation = AllocationId("allocation-1");
  put(node);
  EXPECT_NE(refusal(act_on("n3", "reboot")).find("not known to be isolated"), std::string::npos);
}

TEST_F(Limited, a_second_incident_of_the_same_fault_finds_spent_what_it_spent) {
  policy_.budgets.window_h = 1;
  Incident first = put_incident("n1", "reset", minutes(30));
  first.state = IncidentState::resolved;
  put(first);
  Incident second;
  second.id = IncidentId("incident-again");
  second.node = NodeId("n1");
  second.fault = "xid 95";
  second.hardware_witness = true;
  put(second);
  EXPECT_EQ(spent_before(view(), second), (std::map<std::string, int>{{"reset", 1}}));
  const Outcome begun = reconcile_incident(view(), second);
  for (const auto& operation : begun.operations) run(*operation);
  EXPECT_EQ(registry_.find(second.id)->entries.at("reset"), 2) << "its own and the one before";

  now_ = now_ + hours(2);
  EXPECT_TRUE(spent_before(view(), second).empty()) << "a quiet window ends it";
  now_ = now_ - hours(2);
  Incident other = second;
  other.fault = "xid 48";
  EXPECT_TRUE(spent_before(view(), other).empty()) << "another fault has its own";
  first.state = IncidentState::closed;
  put(first);
  EXPECT_TRUE(spent_before(view(), second).empty()) << "another part after an RMA";
}

TEST_F(Limited, only_the_same_part_and_no_drill_spends_what_is_there_to_repair_it) {
  policy_.budgets.window_h = 1;
  Incident first = put_incident("n1", "reset", minutes(30));
  first.state = IncidentState::resolved;
  first.device = "0000:3b:00";
  put(first);
  Incident second;
  second.id = IncidentId("incident-again");
  second.node = NodeId("n1");
  second.fault = "xid 95";
  second.device = "0000:5e:00";
  second.hardware_witness = true;
  put(second);
  EXPECT_TRUE(spent_before(view(), second).empty()) << "another GPU has its own";
  second.device = "0000:3b:00";
  second.fault = "xid 79";
  EXPECT_EQ(spent_before(view(), second).at("reset"), 1) << "another word of the same GPU";
  second.device.clear();
  EXPECT_TRUE(spent_before(view(), second).empty()) << "another fault, nobody knows where";
  second.fault = "xid 95";
  EXPECT_EQ(spent_before(view(), second).at("reset"), 1) << "it may be the same GPU";
  first.drill = true;
  put(first);
  EXPECT_TRUE(spent_before(view(), second).empty()) << "what a drill did is not charged";
  second.drill = true;
  EXPECT_EQ(spent_before(view(), second).at("reset"), 1) << "to another drill it is";
}

TEST_F(Limited, what_was_charged_is_not_charged_again_and_what_got_no_leave_not_at_all) {
  policy_.budgets.window_h = 1;
  Incident first = put_incident("n1", "reset", minutes(30));
  first.state = IncidentState::resolved;
  first.entries["reboot"] = 2;  // charged for others, by its entries alone
  put(first);
  Incident second;
  second.id = IncidentId("incident-again");
  second.node = NodeId("n1");
  second.fault = "xid 95";
  second.hardware_witness = true;
  put(second);
  EXPECT_EQ(spent_before(view(), second), (std::map<std::string, int>{{"reset", 1}}));
  first.timeline.back().outcome = StepOutcome::refused;
  put(first);
  EXPECT_TRUE(spent_before(view(), second).empty());
}

TEST_F(Limited, what_a_user_wrote_is_charged_nothing_until_hardware_says_it) {
  policy_.budgets.window_h = 1;
  policy_.states["reset"].next.push_back({{}, 0, "reboot", Escalation::log});
  Incident first = put_incident("n1", "reset", minutes(30));
  first.state = IncidentState::resolved;
  put(first);
  Incident second;
  second.id = IncidentId("incident-again");
  second.node = NodeId("n1");
  second.fault = "xid 95";
  second.witnesses.emplace_back();
  second.witnesses.back().provenance = Provenance::userspace;
  put(second);
  for (const auto& operation : reconcile_incident(view(), second).operations) run(*operation);
  Incident told = *registry_.find(second.id);
  EXPECT_EQ(told.entries, (std::map<std::string, int>{{"reset", 1}})) << "its own entry";
  told.hardware_witness = true;
  told.entries["reset"] = 0;
  put(told);
  for (const auto& operation : reconcile_incident(view(), told).operations) run(*operation);
  EXPECT_EQ(registry_.find(second.id)->entries.at("reset"), 1) << "charged before it goes on";
  EXPECT_EQ(registry_.find(second.id)->policy_state, "reset");
}

TEST_F(Limited, without_a_proved_policy_nothing_is_done) {
  Incident incident = put_incident("n1", "");
  policy_ = {};
  const Outcome out = reconcile_incident(view(), incident);
  EXPECT_TRUE(out.operations.empty());
  EXPECT_TRUE(out.actions.empty());
  EXPECT_NE(out.reason.find("no proved policy"), std::string::npos);
}

}  // namespace
}  // namespace tundish::control
