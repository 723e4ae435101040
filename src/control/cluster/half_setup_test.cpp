// A cluster that is deleted before it was whole leaves nothing on the service node.
#include <gtest/gtest.h>

#include <algorithm>

#include "control/allocation/reconcile_allocation.hpp"
#include "control/cluster/reconcile_cluster.hpp"
#include "control/runner/runner.hpp"
#include "model/ops/allocation_ops.hpp"
#include "model/ops/node_ops.hpp"
#include "model/ops/tenancy_ops.hpp"

namespace tundish::control {
namespace {

struct PlainEngine final : Engine {
  std::vector<EngineCommand> plan(const DesiredEngine&, const EngineObserved&) const override {
    return {};
  }
  std::vector<EngineFile> render(const DesiredEngine&) const override { return {}; }
  void apply(const std::string&, const NodeId&, const std::string&, std::vector<EngineCommand>,
             Duration, Done) override {}
  void observe(const NodeId&, const std::string&, Duration, ObserveDone) override {}
};

struct PlainSecrets final : SecretSource {
  std::string munge_key(const Cluster&) override { return "00"; }
  std::string dbd_password(const Cluster&) override { return "00"; }
};

class HalfSetup : public testing::Test {
 protected:
  void run(const Operation& operation) {
    Txn txn(registry_, now_, "test");
    const auto done = operation.perform(txn);
    ASSERT_TRUE(done) << operation.name() << ": " << done.error().message();
  }
  void SetUp() override {
    run(*put_sku("gpu", {"GPU", "gpu", 8, 0, 8, 1, 2000}));
    NodeSpec spec;
    spec.sku = "gpu";
    spec.bmc_mac = "02:00:00:00:00:01";
    spec.ports.push_back({"eth0", PortRole::access, "", "leaf1", "swp1", -1});
    run(*admit_node("n1", spec));
    spec.role = NodeRole::service;
    spec.bmc_mac = "02:00:00:00:00:02";
    run(*admit_node("svc", spec));
    run(*set_node_phase(node("n1"), NodePhase::expected, NodePhase::ready));
    run(*create_tenant("acme", {8}));
    ClusterOrder order;
    order.tenant = registry_.find_named<Tenant>("acme")->id;
    order.name = "train";
    order.spec.sku = "gpu";
    order.spec.nodes = 1;
    order.members = {node("n1")};
    order.controller = node("svc");
    run(*create_cluster(order));
    run(*mark_attached(allocation().id, node("svc"), true));
  }
  NodeId node(const std::string& name) { return registry_.find_named<Node>(name)->id; }
  const Allocation& allocation() { return registry_.all<Allocation>().begin()->second; }
  const Cluster& cluster() { return registry_.all<Cluster>().begin()->second; }
  View view() const { return {registry_, seen_, policy_, limits_, now_}; }
  static int count(const Outcome& outcome, const std::string& act) {
    return static_cast<int>(std::count_if(outcome.actions.begin(), outcome.actions.end(),
                                          [&](const Action& a) { return a.name == act; }));
  }
  Outcome reconcile_cluster_once() {
    return reconcile_cluster(view(), cluster(), engine_, secrets_);
  }

  Registry registry_;
  Observations seen_;
  RemediationPolicy policy_;
  Limits limits_;
  Instant now_{1000000000};
  PlainEngine engine_;
  PlainSecrets secrets_;
};

TEST_F(HalfSetup, a_setup_that_never_ended_is_cleaned_up) {
  const Outcome begun = reconcile_cluster_once();
  ASSERT_EQ(count(begun, "setup_controller"), 1);
  for (const auto& operation : begun.operations) run(*operation);
  ASSERT_FALSE(find_member(allocation(), node("svc"))->joined) << "its end was never heard";
  run(*begin_delete_cluster(cluster().id));
  EXPECT_EQ(count(reconcile_allocation(view(), allocation()), "stop_controller"), 1);
  run(*mark_joined(allocation().id, node("svc"), false));
  EXPECT_EQ(count(reconcile_allocation(view(), allocation()), "stop_controller"), 0);
}

TEST_F(HalfSetup, what_was_never_begun_needs_no_cleaning) {
  run(*begin_delete_cluster(cluster().id));
  EXPECT_EQ(count(reconcile_allocation(view(), allocation()), "stop_controller"), 0);
}

struct NotingAgents final : Agents {
  void start(const NodeId&, VerbCall call, Duration, Done done) override {
    asked.push_back(call.verb);
    waiting.push_back(std::move(done));
  }
  void stop(const NodeId&, const std::string&) override {}
  std::vector<Verb> asked;
  std::vector<Done> waiting;
};
struct NoBmc final : Bmc {
  void start(const std::string&, PowerVerb, Duration, Done) override {}
};
struct NoSwitches final : SwitchDriver {
  void attach(const PortRef&, const PortIntent&, Duration, Done) override {}
  void read(const PortRef&, const SwitchOwnership&, Duration, ReadDone) override {}
};
struct NoFabrics final : FabricManager {
  void apply(const FabricRef&, const FabricState&, Duration, Done) override {}
  void read(const FabricRef&, Duration, ReadDone) override {}
};
struct NoStore final : Store {
  StoreHead head() const override { return {}; }
  Result<> load(const std::function<Result<>(const ObjectBase&)>&) override { return {}; }
  Result<> commit(const Batch&) override { return {}; }
  Result<std::vector<HistoryEntry>> history(const HistoryQuery&) override {
    return std::vector<HistoryEntry>();
  }
  Result<VerifyReport> verify_history() override { return VerifyReport{}; }
  Result<> backup(const std::string&) override { return {}; }
};
struct StillClock final : Scheduler {
  Instant now() const override { return Instant{1000000000}; }
  void at(Instant, std::function<void()>) override {}
};
struct Deaf final : RunnerListener {
  void on_switch(const std::string&, SwitchReading, Instant) override {}
  void on_switch_silent(const std::string&, const Error&) override {}
  void on_fabric(const std::string&, FabricReading, Instant) override {}
  void on_fabric_silent(const std::string&, const Error&) override {}
  void on_storage(const std::string&, Result<StorageSeen>, Instant) override {}
  void on_engine(const ClusterId&, EngineObserved) override {}
  void on_port_unknown(const PortRef&) override {}
  void on_finished(const Action&) override {}
  void on_hook(const std::string&) override {}
  void on_permit(const Action&, const Permit&) override {}
};

Action verb_act(const std::string& name, Verb verb) {
  Action action;
  action.key = action.name = name;
  action.action_class = ActionClass::look;  // needs no authority
  action.node = NodeId("node-1");
  action.cluster = ClusterId("cluster-1");
  VerbCall call;
  call.verb = verb;
  action.act = VerbAct{call};
  return action;
}

TEST_F(HalfSetup, a_stop_does_not_overtake_the_setup_that_runs) {
  NotingAgents agents;
  NoBmc bmc;
  NoSwitches switches;
  NoFabrics fabrics;
  NoStore store;
  StillClock clock;
  Deaf deaf;
  Ledger ledger(store, clock);
  Runner runner(ledger, clock, {agents, bmc, switches, fabrics, engine_}, deaf);
  runner.submit(verb_act("setup_controller", Verb::setup_controller), view());
  runner.submit(verb_act("stop_controller", Verb::stop_controller), view());
  ASSERT_EQ(agents.asked, std::vector<Verb>{Verb::setup_controller});
  agents.waiting[0](make_error(Code::timeout, "half way"));
  runner.submit(verb_act("stop_controller", Verb::stop_controller), view());
  EXPECT_EQ(agents.asked.size(), 2u);
}

}  // namespace
}  // namespace tundish::control
