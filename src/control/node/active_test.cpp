// Where active checks may run, when idle nodes run them, and when a run must end.
#include "control/node/active.hpp"

#include <gtest/gtest.h>

#include <set>

#include "control/permit/permit.hpp"
#include "model/ops/active_ops.hpp"
#include "model/ops/governance_ops.hpp"

namespace tundish::control {
namespace {

class ActiveTest : public testing::Test {
 protected:
  ActiveTest() {
    policy_.active.light = {"gpu_work"};
    policy_.active.heavy = {"gpu_burn"};
    run(*set_authority("*", "*", AuthorityLevel::act));
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
  Node make_node(const std::string& name) {
    Node node;
    node.id = NodeId(name);
    node.meta.name = name;
    node.meta.created_at = now_;
    node.status.phase = NodePhase::ready;
    return node;
  }
  Node put_node(const std::string& name) {
    const Node node = make_node(name);
    put(node);
    seen_.presence[node.id] = {now_, "", false};
    return node;
  }
  void claim(const std::string& node) {
    Claim claim;
    claim.id = Id<Claim>("claim-" + node);
    claim.node = NodeId(node);
    claim.holder = "incident";
    put(claim);
  }
  void pass_time(Duration by) {
    now_ = now_ + by;
    for (auto& [node, presence] : seen_.presence) presence.last_heard = now_;
  }
  View view() const { return {registry_, seen_, policy_, limits_, now_}; }
  ActiveRun run_on(const std::string& node, const std::string& asked_by = "") {
    ActiveRun out;
    out.key = out.call_key = "key-" + node;
    out.node = NodeId(node);
    out.checks = {"gpu_work"};
    out.asked_by = asked_by;
    return out;
  }
  std::string refused(const Node& node) {
    put(node);
    const Permit answer = permit(make_active(view(), node, {{"gpu_work"}, "key", "alice"}), view(),
                                 {});
    return answer.leave == Leave::execute ? "" : answer.reason;
  }

  Registry registry_;
  Observations seen_;
  RemediationPolicy policy_;
  Limits limits_;
  Instant now_{1'700'000'000'000'000};
};

TEST_F(ActiveTest, only_a_free_or_a_claimed_node_is_put_under_load) {
  Node node = make_node("n1");
  EXPECT_EQ(refused(node), "");
  for (const NodePhase phase : {NodePhase::reserved, NodePhase::provisioning, NodePhase::assigned,
                                NodePhase::wiping, NodePhase::expected, NodePhase::retired}) {
    node.status.phase = phase;
    EXPECT_NE(refused(node), "") << static_cast<int>(phase);
  }
  node.status.phase = NodePhase::assigned;
  node.status.allocation = AllocationId("a1");
  EXPECT_NE(refused(node).find("belongs to"), std::string::npos);
  // Claimed is not enough while a tenant's job may still run on it.
  claim("n1");
  EXPECT_NE(refused(node), "");
  node.status.allocation = {};
  EXPECT_EQ(refused(node), "");
}

TEST_F(ActiveTest, what_runs_by_itself_needs_authority_and_a_person_needs_none) {
  const Node node = put_node("n1");
  run(*set_authority("node:n1", "*", AuthorityLevel::observe));
  const Action scheduled = make_active(view(), node, {{"gpu_work"}, "key"});
  EXPECT_EQ(permit(scheduled, view(), {}).leave, Leave::refuse);
  const Action asked = make_active(view(), node, {{"gpu_work"}, "key", "alice"});
  EXPECT_EQ(permit(asked, view(), {}).leave, Leave::execute);
}

TEST_F(ActiveTest, the_lease_ends_at_the_moment_at_which_the_node_is_taken) {
  Node node = put_node("n1");
  const ActiveRun run = run_on("n1");
  EXPECT_EQ(reason_to_end(view(), run), "");
  node.status.phase = NodePhase::reserved;
  node.status.allocation = AllocationId("a1");
  put(node);
  EXPECT_NE(reason_to_end(view(), run).find("belongs to"), std::string::npos);
  EXPECT_NE(reason_to_end(view(), run_on("n1", "alice")), "") << "nor does a person's run go on";
  EXPECT_NE(reason_to_end(view(), run_on("gone")), "");
}

TEST_F(ActiveTest, a_leased_call_is_known_as_one) {
  const Node node = put_node("n1");
  const Action action = make_active(view(), node, {{"gpu_work"}, "key"});
  const RunChecks* checks = leased_checks(action);
  ASSERT_NE(checks, nullptr);
  EXPECT_TRUE(checks->only_active);
  EXPECT_EQ(checks->lease_ms, active_lease.ms());
  EXPECT_EQ(action.result_to, ResultTo::active_checks);
}

TEST_F(ActiveTest, every_node_has_its_own_turn_once_a_period) {
  std::set<std::int64_t> slots;
  for (int i = 0; i < 200; ++i) {
    const NodeId node("node-" + std::to_string(i));
    const Instant first = next_turn(node, now_, hours(24));
    EXPECT_GT(first, now_);
    EXPECT_LE(first, now_ + hours(24));
    EXPECT_EQ(next_turn(node, first, hours(24)), first + hours(24));
    EXPECT_EQ(next_turn(node, first - microseconds(1), hours(24)), first);
    slots.insert((first - now_).us / hours(1).us);
  }
  EXPECT_EQ(slots.size(), 24U) << "spread over the day";
}

TEST_F(ActiveTest, an_idle_node_runs_when_its_turn_came_and_not_again) {
  Node node = put_node("n1");
  EXPECT_TRUE(reconcile_active(view(), {}).actions.empty());
  const Instant wake = reconcile_active(view(), {}).wake_at;
  EXPECT_GT(wake, now_) << "it says when";
  pass_time(hours(25));
  const auto due = reconcile_active(view(), {});
  ASSERT_EQ(due.actions.size(), 1U);
  EXPECT_EQ(leased_checks(due.actions[0])->active, std::vector<std::string>{"gpu_work"});
  EXPECT_TRUE(reconcile_active(view(), {run_on("n1")}).actions.empty()) << "it runs already";
  Verdict done;
  done.check = "gpu_work";
  done.state = VerdictState::ok;
  done.at = now_;
  run(*record_active_run(node.id, {done}));
  EXPECT_TRUE(reconcile_active(view(), {}).actions.empty());
  pass_time(hours(24 * 7));
  done.at = now_;
  run(*record_active_run(node.id, {done}));
  const auto heavy = reconcile_active(view(), {});
  ASSERT_EQ(heavy.actions.size(), 1U);
  EXPECT_EQ(leased_checks(heavy.actions[0])->active, std::vector<std::string>{"gpu_burn"});
}

TEST_F(ActiveTest, a_preempted_run_counts_for_nothing) {
  const Node node = put_node("n1");
  pass_time(hours(25));
  run(*record_active_run(node.id, {make_preempted("gpu_work", "placement took the node", now_)}));
  EXPECT_TRUE(registry_.find(node.id)->status.active_verdicts.empty());
  EXPECT_EQ(reconcile_active(view(), {}).actions.size(), 1U);
}

TEST_F(ActiveTest, at_most_a_share_of_the_idle_nodes_runs_at_once) {
  policy_.active.idle_percent = 10;
  for (int i = 0; i < 40; ++i) put_node("n" + std::to_string(i));
  pass_time(hours(25));
  EXPECT_EQ(reconcile_active(view(), {}).actions.size(), 4U);
  EXPECT_EQ(reconcile_active(view(), {run_on("n1"), run_on("n2")}).actions.size(), 2U);
  EXPECT_EQ(reconcile_active(view(), {run_on("n1", "alice")}).actions.size(), 4U)
      << "what people ask for is theirs";
  policy_.active.idle_percent = 0;
  EXPECT_EQ(reconcile_active(view(), {}).actions.size(), 1U) << "one at least";
}

TEST_F(ActiveTest, nodes_that_are_not_idle_are_left_alone) {
  Node used = put_node("used");
  used.status.phase = NodePhase::assigned;
  used.status.allocation = AllocationId("a1");
  put(used);
  put_node("claimed");
  claim("claimed");
  put_node("silent");
  pass_time(hours(25));
  seen_.presence.erase(NodeId("silent"));
  EXPECT_TRUE(reconcile_active(view(), {}).actions.empty());
  policy_.active = {};
  EXPECT_FALSE(reconcile_active(view(), {}).wake_at.is_set()) << "no schedule costs nothing";
}

TEST_F(ActiveTest, a_fault_is_cleared_by_the_check_that_found_it) {
  Incident incident;
  Verdict light, heavy, fine;
  light.check = "gpu_work";
  heavy.check = "gpu_burn";
  fine.check = "nvbandwidth";
  light.state = heavy.state = VerdictState::fail;
  fine.state = VerdictState::ok;
  incident.verdicts = {light, heavy, fine};
  PolicyState state;
  EXPECT_EQ(proving_checks(incident, state), std::vector<std::string>{"gpu_work"});
  state.active = {"nccl_local"};
  EXPECT_EQ(proving_checks(incident, state),
            (std::vector<std::string>{"nccl_local", "gpu_work"}));
}

}  // namespace
}  // namespace tundish::control
