// A node that the engine took out by itself: told, undone with its cause, else an incident.
#include "control/cluster/engine_drains.hpp"

#include "control/health/health_site_for_test.hpp"

namespace tundish::control {
namespace {

/// Plans as Slurm's item does: a drain of its own ends when the same reason is given back.
class EngineOfTest final : public Engine {
 public:
  std::vector<EngineCommand> plan(const DesiredEngine& desired,
                                  const EngineObserved& seen) const override {
    std::vector<EngineCommand> out;
    for (const auto& node : desired.nodes) {
      for (const auto& shown : seen.nodes) {
        const bool own = shown.reason.starts_with("Kill task failed");
        const bool over = !node.drained && node.reason == shown.reason;
        if (node.name != shown.name || !own || !over) continue;
        EngineCommand command;
        command.verb = EngineVerb::update_nodes;
        command.nodes = {node.name};
        command.state = "undrain";
        out.push_back(command);
      }
    }
    return out;
  }
  std::vector<EngineFile> render(const DesiredEngine&) const override { return {}; }
  void apply(const std::string&, const NodeId&, const std::string&, std::vector<EngineCommand>,
             Duration, Done) override {}
  void observe(const NodeId&, const std::string&, Duration, ObserveDone) override {}
};

class EngineDrains : public health::HealthSite {
 protected:
  void SetUp() override {
    HealthSite::SetUp();
    Cluster cluster = reg_.all<Cluster>().begin()->second;
    cluster.status.controller_ready = true;
    cluster.status.declared = {{node(1), "e1", ""}, {node(2), "e2", ""}};
    Txn txn(reg_, now_, "test");
    txn.put(cluster);
    id_ = cluster.id;
  }
  void shows(const std::string& reason) {
    EngineObserved seen;
    seen.reachable = true;
    seen.at = now_;
    seen.nodes = {{"e1", {"IDLE", "DRAIN"}, reason, 0, true}, {"e2", {"IDLE"}, "", 0, true}};
    seen_.engines[id_] = seen;
  }
  /// Time passes, the engine shows the same, the controller looks.
  Outcome follow(Duration passed, const std::string& reason = "Kill task failed") {
    now_ = now_ + passed;
    for (int i = 1; i <= nodes; ++i) hear(i);
    shows(reason);
    Outcome out;
    follow_engine_drains(view(), *reg_.find(id_), engine_, seen_.engines[id_], out);
    for (const auto& operation : out.operations) must(operation);
    return out;
  }
  std::string undone() { return drain_to_undo(view(), *reg_.find(id_), at(1), "e1"); }
  std::string told() {
    const Condition* known = find_condition(at(1), "engine_drained");
    return known ? known->reason : "";
  }

  EngineOfTest engine_;
  ClusterId id_;
};

TEST_F(EngineDrains, the_engines_own_drain_ends_when_nothing_explains_it_any_more) {
  const Outcome first = follow(seconds(1));
  EXPECT_NE(told().find("by the engine itself: Kill task failed"), std::string::npos) << told();
  EXPECT_TRUE(first.wake_at.is_set()) << "nothing else would look again";
  EXPECT_EQ(undone(), "") << "its checks have not looked since";
  follow(seconds(80));
  EXPECT_EQ(undone(), "Kill task failed");
  const DesiredEngine desired = desired_engine(view(), *reg_.find(id_));
  EXPECT_EQ(engine_.plan(desired, seen_.engines[id_]).size(), 1U) << "and the engine is told so";
  EXPECT_EQ(count_open(), 0);
}

TEST_F(EngineDrains, while_the_storage_hangs_it_stands_and_nobody_is_accused) {
  for (int i = 1; i <= 4; ++i) hangs(i);
  pass(seconds(6));
  ASSERT_EQ(count_open(), 1) << "the server's";
  follow(seconds(1));
  follow(minutes(6));
  EXPECT_EQ(undone(), "");
  EXPECT_EQ(count_open(), 1) << "no incident of the node beside it";
}

TEST_F(EngineDrains, one_that_nothing_shared_explains_becomes_an_incident_with_its_reason) {
  follow(seconds(1));
  says(1, "d_state", Resource::process, VerdictState::warn);
  follow(seconds(80));
  EXPECT_EQ(undone(), "") << "a task still waits in the kernel";
  EXPECT_EQ(count_open(), 0);
  follow(minutes(5));
  ASSERT_EQ(count_open(), 1);
  EXPECT_EQ(open()->node, node(1));
  EXPECT_NE(open()->blame.find("Kill task failed"), std::string::npos) << open()->blame;
}

TEST_F(EngineDrains, a_persons_drain_is_never_ours_to_end) {
  follow(seconds(1), "cable work, ask Ann");
  EXPECT_NE(told().find("by a person: cable work"), std::string::npos) << told();
  follow(minutes(10), "cable work, ask Ann");
  EXPECT_EQ(count_open(), 0);
  EXPECT_TRUE(engine_.plan(desired_engine(view(), *reg_.find(id_)), seen_.engines[id_]).empty());
}

}  // namespace
}  // namespace tundish::control
