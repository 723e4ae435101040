// An engine that does not answer shows, and is nobody's fault.
#include <gmock/gmock.h>

#include "edge/api/api_fixture_test.hpp"
#include "model/ops/allocation_ops.hpp"

namespace tundish::edge {
namespace {

using testing::HasSubstr;
using testing::Not;

class EngineSilence : public ApiTest {
 protected:
  EngineSilence() {
    EXPECT_EQ(order("train", 1).status, 201);
    const Cluster& made = *ledger_.view().find_named<Cluster>("train");
    id_ = made.id;
    EXPECT_TRUE(ledger_.perform(*record_controller(id_, true, "hash", {}), "test", ""));
    settle();
  }
  void show(EngineObserved observed) {
    observed.at = scheduler_.now();
    manager_.on_engine(id_, std::move(observed));
    settle();
  }
  void show_answer() {
    EngineObserved observed;
    observed.reachable = true;
    show(std::move(observed));
  }
  void show_silence() {
    EngineObserved observed;
    observed.fault = "unable to contact at 10.1.2.3";
    show(std::move(observed));
  }
  std::string reason(const std::string& token) {
    return field(call({"GET", "/v1/clusters/train", "", token}).body, "status.reason");
  }
  std::string notices() { return call({"GET", "/v1/status"}).body; }

  ClusterId id_;
};

TEST_F(EngineSilence, shows_at_once_when_a_look_failed) {
  show_answer();
  scheduler_.advance(seconds(4));
  EXPECT_THAT(reason("a-member"), Not(HasSubstr("not answered")));
  show_silence();
  EXPECT_THAT(reason("a-member"), HasSubstr("not answered for 4 s: unknown, no fault"));
  EXPECT_THAT(reason("a-member"), Not(HasSubstr("10.1.2.3"))) << "the operator's";
  EXPECT_THAT(notices(), HasSubstr("cluster train: its engine has not answered for 4 s"));
  EXPECT_THAT(notices(), HasSubstr("10.1.2.3"));
  show_answer();
  EXPECT_THAT(reason("a-member"), Not(HasSubstr("not answered")));
  EXPECT_THAT(notices(), Not(HasSubstr("not answered")));
}

TEST_F(EngineSilence, shows_when_no_look_ends) {
  show_answer();
  scheduler_.advance(seconds(14));
  EXPECT_THAT(notices(), Not(HasSubstr("not answered")));
  scheduler_.advance(seconds(2));
  EXPECT_THAT(notices(), HasSubstr("not answered for 16 s"));
}

TEST_F(EngineSilence, is_not_counted_from_before_the_cluster_was_there) {
  scheduler_.advance(seconds(100));
  Cluster young = *ledger_.view().find(id_);
  young.meta.created_at = scheduler_.now();
  put(young);
  const auto look = [&](Duration later) {
    scheduler_.advance(later);
    show_silence();
    return notices();
  };
  EXPECT_THAT(look(seconds(11)), Not(HasSubstr("not answered"))) << "it is being started";
  EXPECT_THAT(look(seconds(9)), HasSubstr("its engine has not answered for 20 s"));
}

TEST_F(EngineSilence, is_not_told_of_an_engine_that_is_not_set_up) {
  EXPECT_TRUE(ledger_.perform(*record_controller(id_, false, "", {}), "test", ""));
  show_silence();
  EXPECT_THAT(notices(), Not(HasSubstr("not answered")));
}

TEST_F(EngineSilence, is_nothing_that_a_node_is_blamed_for) {
  show_answer();
  show_silence();
  scheduler_.advance(seconds(600));
  EXPECT_EQ(length(call({"GET", "/v1/incidents"}).body), 0u);
  EXPECT_EQ(length(call({"GET", "/v1/claims"}).body), 0u);
}

}  // namespace
}  // namespace tundish::edge
