// What a node is to have reaches every call of checks, whoever asks.
#include "control/node/checks.hpp"

#include "control/health/health_site_for_test.hpp"

namespace tundish::control {
namespace {

class NodeChecks : public health::HealthSite {
 protected:
  Expectation asked(int i) {
    const Action action = make_checks(view(), at(i), {"*"}, "key");
    return std::get<VerbAct>(action.act).call.run_checks->expect;
  }
};

TEST_F(NodeChecks, a_hand_run_check_compares_with_what_the_nodes_own_loop_compares_with) {
  const Expectation loop = expectation_in_service(view(), at(1));
  ASSERT_EQ(loop.exports.size(), 1U) << "n1 serves a cluster";
  const Expectation hand = asked(1);
  ASSERT_EQ(hand.exports.size(), 1U);
  EXPECT_EQ(hand.exports[0].target, loop.exports[0].target);
  EXPECT_EQ(hand.services, loop.services);
  EXPECT_EQ(hand.pkeys, loop.pkeys);
  EXPECT_TRUE(asked(6).exports.empty()) << "a free node has no storage";
  EXPECT_FALSE(asked(6).in_use);
}

TEST_F(NodeChecks, nothing_is_expected_of_a_cluster_that_is_deleted) {
  must(begin_delete_cluster(allocation().cluster));
  const Expectation loop = expectation_in_service(view(), at(1));
  EXPECT_TRUE(loop.services.empty());
  EXPECT_TRUE(loop.exports.empty());
}

}  // namespace
}  // namespace tundish::control
