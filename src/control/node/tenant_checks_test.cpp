// Active checks inside a tenant's cluster: who may be put under load, when, and what ends it.
#include "control/node/tenant_checks.hpp"

#include <gtest/gtest.h>

#include "control/cluster/reconcile_cluster.hpp"
#include "control/node/active.hpp"
#include "control/permit/permit.hpp"
#include "model/ops/active_ops.hpp"
#include "model/ops/allocation_ops.hpp"
#include "model/ops/governance_ops.hpp"

namespace tundish::control {
namespace {

/// Cluster train of tenant acme: n1 and n2 serve, n3 is a spare.
class TenantChecks : public testing::Test {
 protected:
  TenantChecks() {
    policy_.active.light = {"gpu_work"};
    policy_.active.heavy = {"gpu_burn"};
    run(*set_authority("*", "*", AuthorityLevel::act));
    Cluster cluster;
    cluster.id = cluster_;
    cluster.meta.name = "train";
    cluster.status.phase = ClusterPhase::active;
    cluster.status.controller_ready = true;
    cluster.status.allocation = AllocationId("a1");
    Allocation held;
    held.id = AllocationId("a1");
    held.meta.name = "train";
    held.cluster = cluster.id;
    held.status.phase = AllocationPhase::active;
    for (const char* name : {"n1", "n2", "n3"}) {
      AllocationNode member;
      member.node = put_node(name);
      member.role = member.node == NodeId("n3") ? MemberRole::spare : MemberRole::member;
      member.attached = member.joined = true;
      held.status.nodes.push_back(member);
      cluster.status.declared.push_back({member.node, std::string("e-") + name, ""});
    }
    put(cluster);
    put(held);
    show_idle();
  }
  void run(const Operation& operation) {
    Txn txn(registry_, now_, "user:bob");
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
  NodeId put_node(const std::string& name) {
    Node node;
    node.id = NodeId(name);
    node.meta.name = name;
    node.meta.created_at = now_;
    node.status.phase = NodePhase::assigned;
    node.status.allocation = AllocationId("a1");
    put(node);
    seen_.presence[node.id] = {now_, "", false};
    return node.id;
  }
  void allow() { run(*set_checks_consent(cluster_, ChecksConsent::allow)); }
  void deny() { run(*set_checks_consent(cluster_, ChecksConsent::deny)); }
  /// The engine as it is when nothing runs.
  void show_idle() {
    EngineObserved seen;
    seen.reachable = seen.can_preempt = true;
    seen.at = now_;
    for (const char* name : {"e-n1", "e-n2"}) {
      seen.nodes.push_back({name, {"IDLE"}, "", 0, true});
      seen.check_nodes.emplace_back(name);
    }
    seen.nodes.push_back({"e-n3", {"IDLE", "DRAIN"}, "tundish: spare", 0, true});
    engine() = seen;
  }
  EngineObserved& engine() { return seen_.engines[cluster_]; }
  EngineNode& seen_node(std::size_t index) { return engine().nodes.at(index); }
  void pass_time(Duration by) {
    now_ = now_ + by;
    engine().at = now_;
    for (auto& [node, presence] : seen_.presence) presence.last_heard = now_;
  }
  const Node& node(const std::string& name) { return *registry_.find(NodeId(name)); }
  View view() const { return {registry_, seen_, policy_, limits_, now_}; }
  std::string busy(const std::string& name) { return tenant_busy(view(), node(name)); }
  ActiveRun run_on(const std::string& name) {
    ActiveRun out;
    out.key = out.call_key = "key-" + name;
    out.node = NodeId(name);
    out.checks = {"gpu_work"};
    out.in_cluster = true;
    return out;
  }
  /// Names of the nodes that begin now.
  std::vector<std::string> begins(const std::vector<ActiveRun>& runs = {}) {
    std::vector<std::string> out;
    for (const auto& action : reconcile_active(view(), runs).actions) {
      EXPECT_EQ(permit(action, view(), {}).leave, Leave::execute);
      out.push_back(action.node.str());
    }
    return out;
  }

  using Names = std::vector<std::string>;
  const ClusterId cluster_{"c1"};
  Registry registry_;
  Observations seen_;
  RemediationPolicy policy_;
  Limits limits_;
  Instant now_{1'700'000'000'000'000};
};

TEST_F(TenantChecks, without_consent_nobody_runs_one) {
  pass_time(hours(25));
  EXPECT_TRUE(begins().empty());
  EXPECT_NE(busy("n1").find("allows no active checks"), std::string::npos);
  const Action asked = make_active(view(), node("n1"), {{"gpu_work"}, "key", "alice"});
  EXPECT_EQ(permit(asked, view(), {}).leave, Leave::refuse) << "nor a person";
  allow();
  EXPECT_EQ(permit(asked, view(), {}).leave, Leave::execute);
}

TEST_F(TenantChecks, consent_tells_who_gave_it_and_when) {
  allow();
  const Cluster& allowed = *registry_.find(cluster_);
  EXPECT_TRUE(allowed.spec.allow_checks);
  EXPECT_EQ(allowed.status.checks_by, "user:bob");
  EXPECT_EQ(allowed.status.checks_at, now_);
  EXPECT_EQ(desired_engine(view(), allowed).checks_since, now_);
  const Instant given = now_;
  pass_time(hours(1));
  allow();
  EXPECT_EQ(registry_.find(cluster_)->status.checks_at, given) << "a repeat changes nothing";
  deny();
  EXPECT_EQ(registry_.find(cluster_)->status.checks_at, now_);
  EXPECT_FALSE(desired_engine(view(), *registry_.find(cluster_)).checks_since.is_set());
}

TEST_F(TenantChecks, an_idle_member_runs_light_ones_as_work_of_the_engine) {
  allow();
  pass_time(hours(24 * 8));
  policy_.active.idle_percent = 100;
  EXPECT_EQ(begins(), (Names{"n1", "n2"})) << "no spare";
  const Action first = reconcile_active(view(), {}).actions.at(0);
  const RunChecks& call = *leased_checks(first);
  EXPECT_EQ(call.active, Names{"gpu_work"});
  ASSERT_TRUE(call.work);
  EXPECT_EQ(call.work->engine, "slurm");
  EXPECT_EQ(call.work->node_name, "e-n1");
  EXPECT_EQ(first.cluster, cluster_);
  Verdict done;
  done.check = "gpu_work";
  done.state = VerdictState::ok;
  done.at = now_;
  run(*record_active_run(NodeId("n1"), {done}));
  run(*record_active_run(NodeId("n2"), {done}));
  EXPECT_TRUE(begins().empty()) << "heavy ones are a person's to ask for";
}

TEST_F(TenantChecks, at_most_a_share_of_the_idle_ones_at_once) {
  allow();
  pass_time(hours(25));
  EXPECT_EQ(begins(), Names{"n1"});
  EXPECT_TRUE(begins({run_on("n1")}).empty());
}

TEST_F(TenantChecks, a_member_at_work_is_left_alone_and_looked_at_again) {
  allow();
  pass_time(hours(25));
  engine().jobs = {{"5", "alice", "train", "RUNNING", {"e-n1", "e-n2"}, 0, true, 0}};
  EXPECT_NE(busy("n1").find("is at work"), std::string::npos);
  const Outcome out = reconcile_active(view(), {});
  EXPECT_TRUE(out.actions.empty());
  EXPECT_LE(out.wake_at, now_ + minutes(1));
  engine().jobs = {};
  for (const auto& states : {Names{"ALLOCATED"}, Names{"IDLE", "PLANNED"}, Names{"IDLE", "DRAIN"},
                             Names{"DOWN"}, Names{"IDLE", "NOT_RESPONDING"}, Names{"AMBIGUOUS"}}) {
    seen_node(0).states = seen_node(1).states = states;
    EXPECT_TRUE(begins().empty()) << states.back();
  }
  show_idle();
  seen_node(0).allocated_cpus = seen_node(1).allocated_cpus = 1;
  EXPECT_TRUE(begins().empty());
  show_idle();
  seen_node(0).registered = seen_node(1).registered = false;
  EXPECT_TRUE(begins().empty());
}

TEST_F(TenantChecks, what_the_engine_shows_decides_and_no_answer_is_no_leave) {
  allow();
  pass_time(hours(25));
  engine().can_preempt = false;
  EXPECT_NE(busy("n1").find("ends no work for other work"), std::string::npos);
  EXPECT_TRUE(begins().empty());
  const Action asked = make_active(view(), node("n1"), {{"gpu_work"}, "key", "alice"});
  EXPECT_EQ(permit(asked, view(), {}).leave, Leave::refuse) << "nor a person";
  show_idle();
  engine().check_nodes = {"e-n2"};
  EXPECT_EQ(begins(), Names{"n2"}) << "not yet in the queue of checks";
  show_idle();
  engine().reachable = false;
  EXPECT_TRUE(begins().empty());
  show_idle();
  engine().nodes.clear();
  EXPECT_TRUE(begins().empty());
}

TEST_F(TenantChecks, its_own_work_does_not_end_a_run) {
  allow();
  engine().jobs = {{"7", "root", "tundish-check", "RUNNING", {"e-n1"}, 0, false, 0}};
  seen_node(0).states = {"ALLOCATED"};
  seen_node(0).allocated_cpus = 8;
  EXPECT_EQ(reason_to_end(view(), run_on("n1")), "");
  EXPECT_EQ(busy("n1"), "an active check runs on e-n1 of cluster train already");
  engine().reachable = false;
  EXPECT_EQ(reason_to_end(view(), run_on("n1")), "") << "the engine still holds the node for it";
}

TEST_F(TenantChecks, a_run_ends_with_consent_membership_a_claim_or_an_incident) {
  allow();
  const ActiveRun run_now = run_on("n1");
  deny();
  EXPECT_NE(reason_to_end(view(), run_now), "");
  allow();
  EXPECT_EQ(reason_to_end(view(), run_now), "");
  Claim claim;
  claim.id = Id<Claim>("claim-1");
  claim.node = NodeId("n1");
  claim.holder = "incident";
  put(claim);
  EXPECT_NE(reason_to_end(view(), run_now), "");
  claim.state = ClaimState::released;
  put(claim);
  EXPECT_EQ(reason_to_end(view(), run_now), "");
  Allocation held = *registry_.find(AllocationId("a1"));
  held.status.nodes.at(0).role = MemberRole::leaving;
  put(held);
  EXPECT_NE(reason_to_end(view(), run_now), "") << "it leaves the cluster";
  held.status.nodes.at(0).role = MemberRole::member;
  put(held);
  Cluster cluster = *registry_.find(cluster_);
  cluster.status.phase = ClusterPhase::deleting;
  put(cluster);
  EXPECT_NE(reason_to_end(view(), run_now), "");
  cluster.status.phase = ClusterPhase::active;
  put(cluster);
  Node freed = node("n1");
  freed.status.allocation = {};
  freed.status.phase = NodePhase::ready;
  put(freed);
  EXPECT_NE(reason_to_end(view(), run_now), "") << "free now, and no engine holds it for the run";
}

TEST_F(TenantChecks, a_scope_that_may_not_act_runs_none) {
  allow();
  pass_time(hours(25));
  run(*set_authority("cluster:train", "*", AuthorityLevel::observe));
  const auto wanted = reconcile_active(view(), {}).actions;
  ASSERT_EQ(wanted.size(), 1U);
  EXPECT_EQ(permit(wanted[0], view(), {}).leave, Leave::refuse);
}

TEST_F(TenantChecks, a_pair_never_meets_on_a_tenants_node) {
  allow();
  ActiveWish wish{{"ib_write_bw"}, "key", "alice"};
  wish.pair.role = PairRole::server;
  const Action action = make_active(view(), node("n1"), wish);
  EXPECT_FALSE(leased_checks(action)->work);
  EXPECT_EQ(permit(action, view(), {}).leave, Leave::refuse);
}

}  // namespace
}  // namespace tundish::control
