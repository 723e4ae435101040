#include "control/network/probe.hpp"

#include <gmock/gmock.h>

namespace tundish::control {
namespace {

using testing::HasSubstr;

ProbeParticipant participant(const std::string& name, const std::string& cluster) {
  ProbeParticipant one;
  one.id = name;
  one.node = NodeId(name);
  one.name = name;
  one.cluster = ClusterId(cluster);
  return one;
}

/// Two clusters of two nodes; the sightings of a network that works and leaks nothing.
struct Two {
  Registry reg;
  ProbePlan plan;
  std::map<std::string, ProbeAnswer> answers;
  Two() {
    for (const char* name : {"a1", "a2"}) plan.participants.push_back(participant(name, "a"));
    for (const char* name : {"b1", "b2"}) plan.participants.push_back(participant(name, "b"));
    hear("a1", "a2");
    hear("a2", "a1");
    hear("b1", "b2");
    hear("b2", "b1");
  }
  void hear(const std::string& listener, const std::string& sender, ProbeWay way = ProbeWay::ping) {
    ProbeAnswer& answer = answers[listener];
    answer.answered = true;
    answer.seen.received.push_back({sender, way});
  }
  const ProbePair& pair(const ProbeMatrix& matrix, const std::string& from, const std::string& to) {
    for (const auto& one : matrix.pairs) {
      if (one.from == from && one.to == to) return one;
    }
    ADD_FAILURE() << "no pair " << from << " " << to;
    return matrix.pairs.front();
  }
};

TEST(JudgeProbe, ClosedBothWaysIsIsolated) {
  Two two;
  const ProbeMatrix matrix = judge_probe(two.reg, two.plan, two.answers);
  EXPECT_TRUE(matrix.isolated);
  EXPECT_EQ(matrix.pairs.size(), 4U);
  EXPECT_TRUE(two.pair(matrix, "a", "a").good);
}

TEST(JudgeProbe, OneFrameOfOneKindIsALeakAndNamesTheNodes) {
  Two two;
  two.hear("b2", "a1", ProbeWay::unknown_unicast);
  const ProbeMatrix matrix = judge_probe(two.reg, two.plan, two.answers);
  EXPECT_FALSE(matrix.isolated);
  const ProbePair& leak = two.pair(matrix, "a", "b");
  EXPECT_FALSE(leak.good);
  const auto& way = leak.ways[static_cast<std::size_t>(ProbeWay::unknown_unicast)];
  EXPECT_EQ(way.cell, ProbeCell::open);
  EXPECT_THAT(way.detail, HasSubstr("a1 to b2"));
  EXPECT_TRUE(two.pair(matrix, "b", "a").good) << "the other direction was silent";
}

TEST(JudgeProbe, SilenceOfADeafListenerProvesNothing) {
  Two two;
  two.answers["b1"].seen.received.clear();  // its own mate was not heard either
  const ProbeMatrix matrix = judge_probe(two.reg, two.plan, two.answers);
  EXPECT_FALSE(matrix.isolated);
  EXPECT_EQ(two.pair(matrix, "a", "b").ways[0].cell, ProbeCell::unknown);
}

TEST(JudgeProbe, ANodeThatDidNotAnswerIsNamed) {
  Two two;
  two.answers.erase("a2");
  const ProbeMatrix matrix = judge_probe(two.reg, two.plan, two.answers);
  EXPECT_FALSE(matrix.isolated);
  ASSERT_EQ(matrix.left_out.size(), 1U);
  EXPECT_THAT(matrix.left_out[0], HasSubstr("a2"));
}

TEST(JudgeProbe, ANodeMayTakePartWithOnePortOfEachCluster) {
  Two two;
  for (const char* cluster : {"a", "b"}) {
    ProbeParticipant shared = participant(std::string("svc/") + cluster, cluster);
    shared.node = NodeId("svc");
    two.plan.participants.push_back(shared);
    two.hear(shared.id, std::string(cluster) + "1");
    two.hear(std::string(cluster) + "1", shared.id);
  }
  EXPECT_TRUE(judge_probe(two.reg, two.plan, two.answers).isolated);
  two.hear("svc/b", "a1");
  EXPECT_FALSE(judge_probe(two.reg, two.plan, two.answers).isolated);
}

TEST(JudgeProbe, OneClusterAloneIsNoProofOfIsolation) {
  Two two;
  two.plan.participants.resize(2);
  EXPECT_FALSE(judge_probe(two.reg, two.plan, two.answers).isolated);
}

}  // namespace
}  // namespace tundish::control
