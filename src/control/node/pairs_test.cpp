#include "control/node/pairs.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace tundish::control {
namespace {

std::vector<NodeId> make_nodes(int count) {
  std::vector<NodeId> out;
  for (int i = 0; i < count; ++i) out.emplace_back("n" + std::to_string(i));
  return out;
}

PairResult meet(const NodePair& pair, const std::set<NodeId>& bad) {
  const bool fails = bad.contains(pair.first) || bad.contains(pair.second);
  return {pair, fails ? VerdictState::fail : VerdictState::ok, fails ? "12 GB/s, limit 100" : ""};
}

/// Meets in pairs until nothing is open; counts the rounds.
PairJudgement settle(const std::vector<NodeId>& nodes, const std::set<NodeId>& bad, int& rounds,
                     int first_round = 0) {
  std::vector<PairResult> results;
  auto next = plan_pairs(nodes, first_round);
  PairJudgement judgement;
  for (rounds = 0; !next.empty() && rounds < 200; ++rounds) {
    std::set<NodeId> busy;
    for (const auto& pair : next) {
      EXPECT_TRUE(busy.insert(pair.first).second) << "pairs of one round are disjoint";
      EXPECT_TRUE(busy.insert(pair.second).second) << "pairs of one round are disjoint";
      results.push_back(meet(pair, bad));
    }
    judgement = judge_pairs(nodes, results);
    next = judgement.next;
  }
  return judgement;
}

TEST(Pairs, over_all_rounds_each_meets_each_once) {
  for (const int count : {2, 6, 7, 16}) {
    const auto nodes = make_nodes(count);
    std::set<std::pair<std::string, std::string>> met;
    const int rounds = count % 2 == 0 ? count - 1 : count;
    for (int round = 0; round < rounds; ++round) {
      for (const auto& pair : plan_pairs(nodes, round)) {
        const auto key = std::minmax(pair.first.str(), pair.second.str());
        EXPECT_TRUE(met.insert({key.first, key.second}).second) << key.first << key.second;
      }
    }
    EXPECT_EQ(met.size(), static_cast<std::size_t>(count * (count - 1) / 2)) << count;
  }
  EXPECT_TRUE(plan_pairs(make_nodes(1), 0).empty());
  EXPECT_TRUE(plan_pairs({}, 0).empty());
}

TEST(Pairs, the_culprit_is_named_and_its_partner_cleared) {
  const auto nodes = make_nodes(6);
  int rounds = 0;
  const auto judged = settle(nodes, {nodes[2]}, rounds);
  EXPECT_EQ(judged.verdicts.at(nodes[2]).state, VerdictState::fail);
  EXPECT_NE(judged.verdicts.at(nodes[2]).reason.find("12 GB/s"), std::string::npos);
  for (const auto& node : nodes) {
    if (node != nodes[2]) {
      EXPECT_EQ(judged.verdicts.at(node).state, VerdictState::ok) << node.str();
    }
  }
  const NodeId partner = plan_pairs(nodes, 0)[2].other(nodes[2]);
  EXPECT_NE(judged.verdicts.at(partner).reason.find("cleared"), std::string::npos);
}

TEST(Pairs, two_bad_ones_in_one_pair_are_both_found) {
  const auto nodes = make_nodes(6);
  const NodePair first = plan_pairs(nodes, 0)[0];
  int rounds = 0;
  const auto judged = settle(nodes, {first.first, first.second}, rounds);
  EXPECT_EQ(judged.verdicts.at(first.first).state, VerdictState::fail);
  EXPECT_EQ(judged.verdicts.at(first.second).state, VerdictState::fail);
}

TEST(Pairs, without_a_good_node_nobody_is_accused) {
  const auto nodes = make_nodes(2);
  const auto judged = judge_pairs(nodes, {meet({nodes[0], nodes[1]}, {nodes[0]})});
  EXPECT_TRUE(judged.next.empty());
  for (const auto& [node, verdict] : judged.verdicts) {
    EXPECT_EQ(verdict.state, VerdictState::unknown);
    EXPECT_NE(verdict.reason.find("no node is known to be good"), std::string::npos);
  }
}

TEST(Pairs, a_bad_way_between_two_good_nodes_accuses_none) {
  const auto nodes = make_nodes(4);
  const auto judged = judge_pairs(
      nodes, {{{nodes[0], nodes[1]}, VerdictState::fail, "slow"},
              {{nodes[0], nodes[2]}, VerdictState::ok, ""},
              {{nodes[1], nodes[3]}, VerdictState::ok, ""}});
  EXPECT_TRUE(judged.next.empty());
  EXPECT_EQ(judged.verdicts.at(nodes[0]).state, VerdictState::warn);
  EXPECT_EQ(judged.verdicts.at(nodes[1]).state, VerdictState::warn);
  EXPECT_EQ(judged.verdicts.at(nodes[2]).state, VerdictState::ok);
}

TEST(Pairs, a_pair_that_gave_no_answer_says_nothing) {
  const auto nodes = make_nodes(4);
  std::vector<PairResult> results = {{{nodes[0], nodes[1]}, VerdictState::unknown, "preempted"},
                                     {{nodes[2], nodes[3]}, VerdictState::ok, ""}};
  auto judged = judge_pairs(nodes, results);
  EXPECT_EQ(judged.verdicts.at(nodes[0]).state, VerdictState::unknown);
  EXPECT_EQ(judged.verdicts.at(nodes[0]).reason, "preempted");
  EXPECT_TRUE(judged.next.empty()) << "nobody failed";
  // A suspect whose good partners never answer is not accused, and not tried for ever.
  results[0].state = VerdictState::fail;
  for (int i = 0; i < 20; ++i) {
    judged = judge_pairs(nodes, results);
    if (judged.next.empty()) break;
    for (const auto& pair : judged.next) results.push_back({pair, VerdictState::unknown, "away"});
  }
  EXPECT_TRUE(judged.next.empty());
  EXPECT_EQ(judged.verdicts.at(nodes[0]).state, VerdictState::unknown);
}

TEST(Pairs, whoever_is_bad_is_found_in_random_draws) {
  std::mt19937 draw(7);
  for (int run = 0; run < 2000; ++run) {
    const auto nodes = make_nodes(2 + static_cast<int>(draw() % 23));
    std::set<NodeId> bad;
    for (const auto& node : nodes) {
      if (draw() % 6 == 0) bad.insert(node);
    }
    const int round = static_cast<int>(draw() % 30);
    const auto pairs = plan_pairs(nodes, round);
    const bool any_good = std::any_of(pairs.begin(), pairs.end(), [&](const NodePair& pair) {
      return !bad.contains(pair.first) && !bad.contains(pair.second);
    });
    int rounds = 0;
    const auto judged = settle(nodes, bad, rounds, round);
    EXPECT_LT(rounds, 60) << nodes.size();
    for (const auto& node : nodes) {
      const auto state = judged.verdicts.at(node).state;
      if (!any_good) {
        EXPECT_EQ(state, VerdictState::unknown);
      } else {
        EXPECT_EQ(state, bad.contains(node) ? VerdictState::fail : VerdictState::ok) << node.str();
      }
    }
  }
}

}  // namespace
}  // namespace tundish::control
