#include "control/network/probe.hpp"

#include <gmock/gmock.h>

#include "base/text.hpp"

namespace tundish::control::network {
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
    hear_all("a1", "a2");
    hear_all("a2", "a1");
    hear_all("b1", "b2");
    hear_all("b2", "b1");
  }
  void hear_all(const std::string& listener, const std::string& sender) {
    for (int way = 0; way < probe_ways; ++way) {
      hear(listener, sender, static_cast<ProbeWay>(way));
    }
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

TEST(JudgeProbe, AFrameOfOneKindProvesNothingOfAnother) {
  Two two;
  auto& heard = two.answers["b1"].seen.received;
  std::erase_if(heard, [](const ProbeSighting& one) { return one.way == ProbeWay::tcp; });
  const ProbeMatrix matrix = judge_probe(two.reg, two.plan, two.answers);
  EXPECT_FALSE(matrix.isolated);
  const auto& ways = two.pair(matrix, "a", "b").ways;
  EXPECT_EQ(ways[static_cast<std::size_t>(ProbeWay::tcp)].cell, ProbeCell::unknown);
  EXPECT_EQ(ways[static_cast<std::size_t>(ProbeWay::ping)].cell, ProbeCell::closed);
}

/// The same, with a free node that took part and a spare that did not.
struct TwoAndOutside : Two {
  TwoAndOutside() {
    plan.participants.push_back(participant("free", ""));
    answers["free"].answered = true;
    answers["free"].seen.sent = 9;
    answers["free"].seen.heard_self = 3;
    answers["free"].seen.link = ProbeLink::up;
    plan.beside.push_back(participant("gone", ""));
    plan.beside.back().shut = "in quarantine on leaf1";
  }
  ProbeMatrix judge() { return judge_probe(reg, plan, answers); }
  NetProbeSeen& free() { return answers["free"].seen; }
};

TEST(JudgeOutside, FreeNodesThatSentListenedAndWereSilentAreProvedClosed) {
  TwoAndOutside two;
  const ProbeMatrix matrix = two.judge();
  EXPECT_TRUE(matrix.isolated);
  EXPECT_EQ(matrix.pairs.size(), 8U);
  EXPECT_TRUE(two.pair(matrix, "a", "free nodes").good);
  EXPECT_TRUE(two.pair(matrix, "free nodes", "b").good);
}

TEST(JudgeOutside, AFrameEitherWayIsALeak) {
  TwoAndOutside two;
  two.hear("free", "a1", ProbeWay::broadcast);
  two.hear("b2", "free", ProbeWay::tcp);
  const ProbeMatrix matrix = two.judge();
  EXPECT_EQ(matrix.verdict, ProbeVerdict::leak);
  ASSERT_EQ(matrix.open_ways.size(), 2U);
  EXPECT_EQ(matrix.open_ways[0].to, "free nodes");
  EXPECT_EQ(matrix.open_ways[0].detail, "a1 to free");
  EXPECT_EQ(matrix.open_ways[1].from, "free nodes");
  EXPECT_EQ(matrix.open_ways[1].detail, "free to b2");
}

TEST(JudgeOutside, SilenceOfOneThatCouldNotSendOrHearProvesNothing) {
  const auto doubt = [](const auto& change) {
    TwoAndOutside two;
    change(two);
    const ProbeMatrix matrix = two.judge();
    EXPECT_EQ(matrix.verdict, ProbeVerdict::unproved);
    return join(matrix.doubts, "; ");
  };
  const std::string half = "14 cells between clusters and free nodes unknown";
  EXPECT_EQ(doubt([](TwoAndOutside& two) { two.free().sent = 0; }), half);
  EXPECT_EQ(doubt([](TwoAndOutside& two) { two.free().heard_self = 0; }), half);
  EXPECT_EQ(doubt([](TwoAndOutside& two) { two.answers.erase("free"); }),
            "28 cells between clusters and free nodes unknown");
  EXPECT_EQ(doubt([](TwoAndOutside& two) { two.plan.beside.front().shut.clear(); }),
            "28 cells between clusters and free nodes unknown");
}

TEST(JudgeOutside, APortWithoutALinkLetsNothingThroughWhoeverSends) {
  TwoAndOutside two;
  two.free() = {};
  two.free().link = ProbeLink::down;
  EXPECT_TRUE(two.judge().isolated);
}

TEST(JudgeOutside, TheSwitchsWordStandsForOneThatGaveNoAnswer) {
  TwoAndOutside two;
  two.answers.erase("free");
  two.plan.participants.back().shut = "in quarantine on leaf1";
  EXPECT_TRUE(two.judge().isolated);
}

/// The same, where every node called its leaf.
struct TwoOnLeaf : Two {
  TwoOnLeaf() {
    for (auto& one : plan.participants) {
      one.switch_name = "leaf1";
      one.probe.leaf = {{"gateway ICMP", "10.70.0.1", 0},
                        {"gateway port 179", "10.70.0.1", 179},
                        {"tunnel end ICMP", "10.255.0.1", 0}};
      answers[one.id].seen.leaf = {{"gateway ICMP", ProbeReach::reached},
                                   {"gateway port 179", ProbeReach::silent},
                                   {"tunnel end ICMP", ProbeReach::silent}};
    }
  }
  ProbeMatrix judge() { return judge_probe(reg, plan, answers); }
};

TEST(JudgeLeaf, TheGatewaysIcmpAndNothingElseIsClosed) {
  TwoOnLeaf two;
  const ProbeMatrix matrix = two.judge();
  EXPECT_TRUE(matrix.isolated);
  ASSERT_EQ(matrix.leaf.size(), 2U);
  EXPECT_EQ(matrix.leaf[0].cell, ProbeCell::closed);
  EXPECT_EQ(matrix.leaf[0].tried, 4);
}

TEST(JudgeLeaf, AnyOtherAnswerOfTheLeafIsAnOpenWay) {
  for (const ProbeReach answer : {ProbeReach::reached, ProbeReach::refused}) {
    TwoOnLeaf two;
    two.answers["a1"].seen.leaf[1].reach = answer;
    const ProbeMatrix matrix = two.judge();
    EXPECT_EQ(matrix.verdict, ProbeVerdict::leak);
    ASSERT_EQ(matrix.open_ways.size(), 1U);
    EXPECT_EQ(matrix.open_ways[0].to, "leaf1");
    EXPECT_EQ(matrix.open_ways[0].way, "gateway port 179 to a1");
  }
}

TEST(JudgeLeaf, WithoutTheGatewaysAnswerSilenceProvesNothing) {
  TwoOnLeaf two;
  two.answers["b1"].seen.leaf[0].reach = ProbeReach::silent;
  const ProbeMatrix matrix = two.judge();
  EXPECT_EQ(matrix.verdict, ProbeVerdict::unproved);
  EXPECT_EQ(join(matrix.doubts, "; "), "1 cell of the leaves' own addresses unknown");
}

/// The same, where every node tried two addresses on the out-of-band network.
struct TwoOutOfBand : Two {
  TwoOutOfBand() {
    for (auto& one : plan.participants) {
      one.probe.out_of_band = {{"BMC of x", "10.88.1.1", 443}, {"switch y", "10.88.2.1", 22}};
      auto& seen = answers[one.id].seen.out_of_band;
      seen = {{std::string(probe_controller), ProbeReach::reached},
              {"tundishd port 22", ProbeReach::silent},
              {"BMC of x", ProbeReach::silent},
              {"switch y", ProbeReach::silent}};
    }
  }
  ProbeServiceSeen& seen(const std::string& node, std::size_t at) {
    return answers[node].seen.out_of_band.at(at);
  }
  ProbeMatrix judge() { return judge_probe(reg, plan, answers); }
};

TEST(JudgeOutOfBand, TundishdAndNothingElseIsClosed) {
  TwoOutOfBand two;
  const ProbeMatrix matrix = two.judge();
  EXPECT_TRUE(matrix.isolated);
  ASSERT_EQ(matrix.out_of_band.size(), 4U);
  EXPECT_EQ(matrix.out_of_band[0].cell, ProbeCell::closed);
  EXPECT_EQ(matrix.out_of_band[0].tried, 2);
}

TEST(JudgeOutOfBand, AnAnswerOfAnyKindIsAnOpenWay) {
  for (const ProbeReach answer : {ProbeReach::reached, ProbeReach::refused}) {
    for (const std::size_t at : {1U, 2U}) {
      TwoOutOfBand two;
      two.seen("a1", at).reach = answer;
      const ProbeMatrix matrix = two.judge();
      EXPECT_FALSE(matrix.isolated);
      EXPECT_EQ(matrix.out_of_band[0].cell, ProbeCell::open);
      EXPECT_THAT(matrix.out_of_band[0].open, testing::ElementsAre(two.seen("a1", at).name));
    }
  }
}

TEST(JudgeOutOfBand, SilenceOfADeadPortProvesNothing) {
  TwoOutOfBand dead;
  dead.seen("a1", 0).reach = ProbeReach::silent;
  EXPECT_EQ(dead.judge().out_of_band[0].cell, ProbeCell::unknown);
  EXPECT_FALSE(dead.judge().isolated);
  TwoOutOfBand untried;
  untried.seen("a1", 3).reach = ProbeReach::failed;
  EXPECT_EQ(untried.judge().out_of_band[0].cell, ProbeCell::unknown);
  TwoOutOfBand short_answer;
  short_answer.answers["a1"].seen.out_of_band.pop_back();
  EXPECT_EQ(short_answer.judge().out_of_band[0].cell, ProbeCell::unknown);
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
    two.hear_all(shared.id, std::string(cluster) + "1");
    two.hear_all(std::string(cluster) + "1", shared.id);
  }
  EXPECT_TRUE(judge_probe(two.reg, two.plan, two.answers).isolated);
  two.hear("svc/b", "a1");
  EXPECT_FALSE(judge_probe(two.reg, two.plan, two.answers).isolated);
}

TEST(JudgeProbe, OneClusterAloneIsNoProofOfIsolation) {
  Two two;
  two.plan.participants.resize(2);
  const ProbeMatrix matrix = judge_probe(two.reg, two.plan, two.answers);
  EXPECT_EQ(matrix.verdict, ProbeVerdict::unproved);
  ASSERT_EQ(matrix.doubts.size(), 1U);
  EXPECT_THAT(matrix.doubts[0], HasSubstr("nobody to be separated from"));
}

TEST(JudgeProbe, ALeakIsALeakWhateverElseIsUnknown) {
  TwoOutOfBand two;
  EXPECT_EQ(two.judge().verdict, ProbeVerdict::isolated);
  two.answers["b1"].seen.received.clear();
  EXPECT_EQ(two.judge().verdict, ProbeVerdict::unproved);
  EXPECT_FALSE(two.judge().doubts.empty());
  two.hear("b2", "a1", ProbeWay::unknown_unicast);
  two.seen("a2", 2).reach = ProbeReach::refused;
  const ProbeMatrix matrix = two.judge();
  EXPECT_EQ(matrix.verdict, ProbeVerdict::leak);
  const ProbeOpenWay frame{"a", "b", "unknown unicast", "a1 to b2"};
  const ProbeOpenWay call{"a2", "BMC of x", "out of band", ""};
  EXPECT_THAT(matrix.open_ways, testing::ElementsAre(frame, call));
}

TEST(JudgeProbe, AServiceThatNobodyMayReachIsALeakAndOthersAreNotJudged) {
  Two two;
  Switch leaf;
  leaf.id = Id<Switch>("s1");
  leaf.meta.name = "leaf1";
  leaf.spec.management_url = "ssh://root@10.88.2.1";
  Txn txn(two.reg, Instant{1}, "test");
  txn.put(leaf);
  auto& asked = two.plan.participants[0].probe.services;
  asked = {{"web", "203.0.113.9", 443}, {"leaf", "10.88.2.1", 22}};
  auto& seen = two.answers["a1"].seen.services;
  seen = {{"web", ProbeReach::reached}, {"leaf", ProbeReach::silent}};
  EXPECT_EQ(judge_probe(two.reg, two.plan, two.answers).verdict, ProbeVerdict::isolated);
  seen[1].reach = ProbeReach::refused;
  const ProbeMatrix matrix = judge_probe(two.reg, two.plan, two.answers);
  EXPECT_EQ(matrix.verdict, ProbeVerdict::leak);
  EXPECT_THAT(matrix.open_ways,
              testing::ElementsAre(ProbeOpenWay{"a", "switch leaf1", "service leaf", "a1"}));
}

}  // namespace
}  // namespace tundish::control::network
