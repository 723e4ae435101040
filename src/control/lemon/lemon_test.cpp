#include "control/lemon/lemon.hpp"

#include <gtest/gtest.h>

#include "model/ops/governance_ops.hpp"

namespace tundish::control {
namespace {

constexpr Instant now{hours(24 * 200).us};

class LemonTest : public testing::Test {
 protected:
  LemonTest() {
    for (int i = 0; i < 20; ++i) put_node("n" + std::to_string(i));
  }
  template <class T>
  T put(T object) {
    Txn txn(registry_, Instant{1}, "test");
    if (object.id.empty()) object.id = txn.make_id<T>();
    txn.put(object);
    return object;
  }
  void put_node(const std::string& name) {
    Node node;
    node.meta.name = name;
    node.status.phase = NodePhase::ready;
    nodes_[name] = put(node).id;
  }
  Incident fault(const std::string& node, Duration ago) {
    Incident incident;
    incident.node = nodes_[node];
    incident.fault = "xid 79";
    incident.hardware_witness = true;
    incident.state = IncidentState::resolved;
    incident.opened_at = now - ago;
    return incident;
  }
  View view() const { return {registry_, seen_, policy_, limits_, now}; }
  std::vector<std::string> lemons() const {
    std::vector<std::string> out;
    for (const auto& score : score_lemons(view())) {
      if (score.lemon) out.push_back(score.node);
    }
    return out;
  }

  Registry registry_;
  Observations seen_;
  RemediationPolicy policy_;
  Limits limits_;
  std::map<std::string, NodeId> nodes_;
};

TEST_F(LemonTest, a_fleet_without_history_has_none) { EXPECT_TRUE(lemons().empty()); }

TEST_F(LemonTest, a_node_that_breaks_far_more_often_than_the_fleet_is_one) {
  for (int i = 0; i < 5; ++i) put(fault("n3", hours(24 * (10 + i))));
  put(fault("n4", hours(24 * 5)));
  EXPECT_EQ(lemons(), (std::vector<std::string>{"n3"}));
  const auto scores = score_lemons(view());
  EXPECT_EQ(scores.front().node, "n3");
  EXPECT_NE(scores.front().why.find("5 incidents with a hardware witness"), std::string::npos);
}

TEST_F(LemonTest, where_everybody_breaks_nobody_is_one) {
  for (const auto& [name, id] : nodes_) {
    for (int i = 0; i < 5; ++i) put(fault(name, hours(24 * (10 + i))));
  }
  EXPECT_TRUE(lemons().empty());
}

TEST_F(LemonTest, lines_of_users_drills_windows_and_old_times_do_not_count) {
  for (int i = 0; i < 6; ++i) {
    Incident forged = fault("n3", hours(24 * 10));
    forged.hardware_witness = false;
    put(forged);
    Incident drill = fault("n4", hours(24 * 10));
    drill.drill = true;
    put(drill);
    put(fault("n5", hours(24 * 120)));
    const Incident worked_on = put(fault("n6", hours(24 * 10)));
    Maintenance window;
    window.recorded.push_back(worked_on.id);
    put(window);
    Incident leaf = fault("n7", hours(24 * 10));
    leaf.subject_kind = SubjectKind::network_switch;
    put(leaf);
  }
  EXPECT_TRUE(lemons().empty());
}

TEST_F(LemonTest, retirement_is_proposed_once_and_never_done) {
  for (int i = 0; i < 5; ++i) put(fault("n3", hours(24 * (10 + i))));
  const auto proposal = propose_retirement(view(), nodes_["n3"]);
  ASSERT_TRUE(proposal);
  EXPECT_EQ(proposal->action, "retire_node");
  EXPECT_EQ(proposal->object, "node/n3");
  EXPECT_FALSE(propose_retirement(view(), nodes_["n4"]));
  Txn txn(registry_, now, "test");
  ASSERT_TRUE(open_proposal(*proposal)->perform(txn));
  EXPECT_FALSE(propose_retirement(view(), nodes_["n3"])) << "a person was asked already";
  EXPECT_EQ(registry_.find(nodes_["n3"])->status.phase, NodePhase::ready);
}

TEST(Lemon, chance_is_poisson) {
  EXPECT_DOUBLE_EQ(chance_of(0, 2), 1);
  EXPECT_NEAR(chance_of(1, 1), 0.632121, 1e-6);
  EXPECT_NEAR(chance_of(5, 1), 0.003660, 1e-6);
}

}  // namespace
}  // namespace tundish::control
