// When a node of a cluster is known to be empty, and how an incident waits for that. Reports that
// these tests are made from: docs/health-issues.md.
#include "control/cluster/drained.hpp"

#include <gtest/gtest.h>

#include "control/allocation/reconcile_allocation.hpp"
#include "control/cluster/reconcile_cluster.hpp"
#include "control/fault/reconcile_incident.hpp"
#include "control/health/health_site_for_test.hpp"
#include "control/verify/policies_for_test.hpp"
#include "model/ops/governance_ops.hpp"
#include "model/ops/maintenance_ops.hpp"

namespace tundish::control {
namespace {

class Drained : public health::HealthSite {
 protected:
  void SetUp() override {
    HealthSite::SetUp();
    Cluster cluster = reg_.all<Cluster>().begin()->second;
    cluster.status.controller_ready = true;
    cluster.status.declared = {{node(1), "e1", ""}, {node(2), "e2", ""}};
    Txn txn(reg_, now_, "test");
    txn.put(cluster);
    id_ = cluster.id;
    policy_ = verify::shipped_policy();
  }
  /// What the engine answers now.
  void shows(std::vector<std::string> states, std::vector<EngineJob> jobs, int cpus = 0) {
    EngineObserved seen;
    seen.reachable = true;
    seen.at = now_;
    seen.nodes = {{"e1", std::move(states), "tundish: xid 95", cpus, true},
                  {"e2", {"ALLOCATED"}, "", 8, true}};
    seen.jobs = std::move(jobs);
    seen_.engines[id_] = seen;
  }
  static EngineJob job(const std::string& state) {
    return {"5", "alice", "a", state, {"e1", "e2"}, 0, true, 0};
  }
  void take_lost_device() {
    catalogue_.xid.entries.push_back({});
    catalogue_.xid.entries.back().code = 79;
    catalogue_.xid.entries.back().action = FaultAction::reboot;
    catalogue_.xid.entries.back().device_lost = true;
  }
  static KernelEvent lost_device() {
    KernelEvent out;
    out.kind = KernelEventKind::xid;
    out.code = 79;
    out.device = "0000:3b:00";
    return out;
  }
  bool is_empty() { return is_drained(view(), at(1)); }

  ClusterId id_;
};

TEST_F(Drained, a_drain_flag_with_a_job_behind_it_is_not_drained) {
  for (const char* state : {"RUNNING", "COMPLETING", "SUSPENDED", "STAGE_OUT", "QUANTUM_LEAP"}) {
    shows({"MIXED", "DRAIN"}, {job(state)});
    EXPECT_FALSE(is_empty()) << state;
  }
  shows({"MIXED", "DRAIN"}, {}, 1);
  EXPECT_FALSE(is_empty()) << "processors are held for a step that no job is listed for";
  shows({"IDLE"}, {});
  EXPECT_FALSE(is_empty()) << "idle, but the next job may come";
  for (const char* state : {"PENDING", "COMPLETED", "NODE_FAIL"}) {
    shows({"IDLE", "DRAIN"}, {job(state)});
    EXPECT_TRUE(is_empty()) << state;
  }
}

TEST_F(Drained, in_a_window_a_job_on_a_lost_device_does_not_wait_and_takes_no_spare) {
  take_lost_device();
  writes(1, lost_device());
  const auto wanted = [&] { return desired_engine(view(), *reg_.find(id_)).nodes.front(); };
  EXPECT_FALSE(wanted().device_lost) << "nobody gave leave to act on it";
  MaintenanceOrder order;
  order.scope = "node:n1";
  order.reason = "fans";
  order.begin = now_;
  order.end = now_ + hours(1);
  must(create_maintenance(order));
  const MaintenanceId window = reg_.all<Maintenance>().begin()->first;
  must(advance_maintenance(window, MaintenanceState::planned, MaintenanceState::active));
  EXPECT_FALSE(wanted().device_lost) << "the tenant may not consent to the drain";
  must(permit_maintenance(window, node(1)));
  EXPECT_TRUE(wanted().device_lost);
  EXPECT_TRUE(wanted().drained);
  EXPECT_EQ(wanted().group, open()->id.str());
  const Allocation before = allocation();
  for (const auto& operation : reconcile_allocation(view(), before).operations) must(operation);
  EXPECT_EQ(find_member(allocation(), node(1))->role, MemberRole::member);
}

TEST_F(Drained, a_job_that_began_after_a_users_line_lost_nothing) {
  take_lost_device();
  const auto wanted = [&] { return desired_engine(view(), *reg_.find(id_)).nodes.front(); };
  writes(1, lost_device(), Provenance::userspace);
  const Instant line = now_;
  now_ = now_ + minutes(5);
  must(permit_claims(open()->id));
  EXPECT_TRUE(wanted().device_lost);
  EXPECT_EQ(wanted().spares_after, line);
  EngineJob before = job("RUNNING"), after = job("RUNNING");
  before.started_at = line - seconds(1);
  after.started_at = line + seconds(1);
  shows({"ALLOCATED"}, {after}, 8);
  for (const auto& op : reconcile_incident(view(), *open()).operations) must(op);
  EXPECT_TRUE(open()->jobs.empty());
  shows({"ALLOCATED"}, {before}, 8);
  for (const auto& op : reconcile_incident(view(), *open()).operations) must(op);
  EXPECT_EQ(open()->jobs.size(), 1u);
  writes(1, lost_device());
  EXPECT_FALSE(wanted().spares_after.is_set()) << "now hardware says it, in this boot";
}

TEST_F(Drained, a_job_that_began_after_the_node_was_restarted_lost_nothing) {
  take_lost_device();
  const auto wanted = [&] { return desired_engine(view(), *reg_.find(id_)).nodes.front(); };
  writes(1, lost_device());
  must(permit_claims(open()->id));
  EXPECT_FALSE(wanted().spares_after.is_set()) << "it lands on what is gone";
  const Instant line = now_;
  now_ = now_ + minutes(5);
  must(record_boot(node(1), "boot-2"));
  EXPECT_EQ(wanted().spares_after, line);
}

TEST_F(Drained, what_is_drained_by_us_stays_so_while_an_incident_waits_for_leave) {
  const auto wanted = [&] { return desired_engine(view(), *reg_.find(id_)).nodes.front(); };
  shows({"IDLE", "DRAIN"}, {});
  EXPECT_FALSE(wanted().drained) << "nobody claims it";
  catalogue_.xid.entries.push_back({});
  catalogue_.xid.entries.back().code = 95;
  catalogue_.xid.entries.back().action = FaultAction::reset;
  KernelEvent fault;
  fault.kind = KernelEventKind::xid;
  fault.code = 95;
  fault.device = "0000:3b:00";
  writes(1, fault);
  ASSERT_TRUE(open());
  shows({"IDLE"}, {});
  EXPECT_FALSE(wanted().drained) << "not before it has leave";
  shows({"IDLE", "DRAIN"}, {});
  EXPECT_TRUE(wanted().drained);
  EXPECT_EQ(wanted().reason, "tundish: xid 95") << "as it is: no command is needed";
  EXPECT_TRUE(wanted().group.empty()) << "its end is not taken for a person's resume";
}

TEST_F(Drained, an_epilog_that_runs_keeps_the_node) {
  shows({"IDLE", "COMPLETING", "DRAIN"}, {});
  EXPECT_FALSE(is_empty());
  shows({"IDLE", "COMPLETING", "DRAIN"}, {job("PENDING")});
  EXPECT_FALSE(is_empty()) << "its job waits again already";
  shows({"IDLE", "DRAIN"}, {job("PENDING")});
  EXPECT_TRUE(is_empty());
}

TEST_F(Drained, a_query_that_failed_is_never_empty) {
  EXPECT_FALSE(is_empty()) << "nobody looked yet";
  shows({"IDLE", "DRAIN"}, {});
  seen_.engines[id_].reachable = false;
  EXPECT_FALSE(is_empty()) << "no answer";
  shows({"IDLE", "DRAIN"}, {});
  seen_.engines[id_].nodes.erase(seen_.engines[id_].nodes.begin());
  EXPECT_FALSE(is_empty()) << "an answer without the node";
  shows({"AMBIGUOUS"}, {});
  EXPECT_FALSE(is_empty()) << "two answers";
  shows({"IDLE", "DRAIN"}, {});
  EXPECT_TRUE(is_empty());
  now_ = now_ + limits_.engine_stale;
  EXPECT_FALSE(is_empty()) << "an old answer";
}

/// Claim, drain, epilog, and only then an act on the node.
class Order : public Drained {
 protected:
  void SetUp() override {
    Drained::SetUp();
    XidEntry code;
    code.code = 95;
    code.action = FaultAction::reset;
    catalogue_.xid.entries.push_back(code);
    must(set_authority("*", "*", AuthorityLevel::act));
    KernelEvent event;
    event.kind = KernelEventKind::xid;
    event.code = 95;
    event.device = "0000:3b:00";
    writes(1, event);
    ASSERT_TRUE(open());
    incident_ = open()->id;
  }
  /// As the manager: until the policy waits. The acts it then wants.
  std::vector<Action> step(Duration passed = seconds(1)) {
    now_ = now_ + passed;
    Outcome out;
    for (int round = 0; round < 20; ++round) {
      out = reconcile_incident(view(), *reg_.find(incident_));
      if (out.operations.empty()) break;
      for (const auto& operation : out.operations) must(operation);
    }
    return out.actions;
  }
  std::string state() { return reg_.find(incident_)->policy_state; }
  bool is_paged() {
    for (const auto& entry : reg_.find(incident_)->timeline) {
      if (entry.what == "escalated: page") return true;
    }
    return false;
  }

  IncidentId incident_;
};

TEST_F(Order, an_act_waits_for_the_job_and_its_epilog) {
  shows({"MIXED", "DRAIN"}, {job("RUNNING")}, 8);
  const auto first = step();
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0].name, "evacuate") << "the claim alone touches nothing";
  EXPECT_EQ(claims(), 1);
  must(permit_claims(incident_));
  for (const char* job_state : {"RUNNING", "COMPLETING"}) {
    shows({"MIXED", "DRAIN"}, {job(job_state)}, 8);
    EXPECT_TRUE(step().empty()) << job_state;
    EXPECT_EQ(state(), "evacuate");
  }
  now_ = now_ + seconds(1);
  shows({"IDLE", "COMPLETING", "DRAIN"}, {});
  EXPECT_TRUE(step().empty());
  EXPECT_EQ(state(), "evacuate") << "the epilog runs";
  shows({"IDLE", "DRAIN"}, {});
  EXPECT_TRUE(step().empty());
  EXPECT_EQ(state(), "isolate") << "the tenant's network still has it";
  must(detach_node(allocation().id, node(1), NodePhase::wiping));
  const auto last = step();
  ASSERT_EQ(last.size(), 1u);
  EXPECT_EQ(last[0].name, "reset_gpus");
}

TEST_F(Order, a_deadline_of_a_drain_calls_a_person_and_kills_no_job) {
  shows({"MIXED", "DRAIN"}, {job("RUNNING")}, 8);
  (void)step();
  must(permit_claims(incident_));
  (void)step();
  ASSERT_EQ(state(), "evacuate");
  for (int times = 0; times < 3; ++times) {
    now_ = now_ + hours(5);
    shows({"MIXED", "DRAIN"}, {job("RUNNING")}, 8);
    EXPECT_TRUE(step().empty()) << "no act";
    EXPECT_EQ(state(), "evacuate");
  }
  EXPECT_TRUE(is_paged()) << "and it does not stay so in silence";
}

TEST_F(Order, what_heals_in_the_drain_is_not_acted_on_when_the_drain_ends) {
  shows({"MIXED", "DRAIN"}, {job("RUNNING")}, 8);
  (void)step();
  must(permit_claims(incident_));
  (void)step();
  ASSERT_EQ(state(), "evacuate");
  must(override_claims(node(1), "a person resumed it"));
  shows({"IDLE", "DRAIN"}, {});
  EXPECT_TRUE(step().empty()) << "the node is empty, and nobody wants anything of it";
  EXPECT_TRUE(step(hours(5)).empty());
  EXPECT_EQ(state(), "evacuate");
  EXPECT_EQ(claims(), 0);
  EXPECT_EQ(at(1).status.allocation, allocation().id);
}

TEST_F(Order, a_fault_after_that_begins_anew_and_what_was_before_does_not_speak_for_it) {
  shows({"MIXED", "DRAIN"}, {job("RUNNING")}, 8);
  (void)step();
  must(permit_claims(incident_));
  (void)step();
  const IncidentId before = incident_;
  const std::string old_act = act_key(*reg_.find(before));
  must(override_claims(node(1), "a person resumed it"));
  KernelEvent event;
  event.kind = KernelEventKind::xid;
  event.code = 95;
  event.device = "0000:3b:00";
  writes(1, event);
  ASSERT_EQ(count_open(), 1);
  incident_ = open()->id;
  ASSERT_NE(incident_, before);
  // What the first one still had under way ends now.
  must(finish_act(before, old_act, StepOutcome::done, "", {}));
  must(permit_claims(before));
  must(return_node(before));
  ASSERT_EQ(claims(), 1);
  const Claim* claim = reg_.find(*reg_.claims_on(node(1)).begin());
  ASSERT_TRUE(claim);
  EXPECT_EQ(claim->incident, incident_);
  EXPECT_FALSE(claim->permitted) << "leave was given for the one before";
  shows({"MIXED", "DRAIN"}, {job("RUNNING")}, 8);
  const auto acts = step();
  ASSERT_EQ(acts.size(), 1u);
  EXPECT_EQ(acts[0].name, "evacuate");
  EXPECT_EQ(acts[0].incident, incident_);
}

}  // namespace
}  // namespace tundish::control
