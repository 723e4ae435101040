#include "control/network/probe_storage.hpp"

#include <gtest/gtest.h>

namespace tundish::control::network {
namespace {

/// Two clusters of two nodes each; everybody is let into its own export and nowhere else.
class ProbeStorageTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"a1", "a2"}) add(name, "a", "b");
    for (const char* name : {"b1", "b2"}) add(name, "b", "a");
  }
  void add(const std::string& name, const std::string& own, const std::string& other) {
    ProbeParticipant one;
    one.id = one.name = name;
    one.node = NodeId(name);
    one.cluster = ClusterId(own);
    one.probe.exports = {{own, "e" + own, "10.200.0.10", ""},
                         {other, "e" + other, "10.200.0.10", "100.64.0.9"}};
    plan.participants.push_back(one);
    ProbeAnswer& answer = answers[name];
    answer.answered = true;
    answer.seen.exports = {{own, ProbeReach::reached, ProbeReach::failed, ""},
                           {other, ProbeReach::refused, ProbeReach::silent, ""}};
  }
  ProbeExportSeen& seen(const std::string& name, std::size_t at) {
    return answers[name].seen.exports.at(at);
  }
  ProbeStorage row(const std::string& from, const std::string& to) {
    for (const auto& one : judge_exports(reg, plan, answers)) {
      if (one.from == from && one.to == to) return one;
    }
    ADD_FAILURE() << "no row " << from << " " << to;
    return {};
  }

  Registry reg;
  ProbePlan plan;
  std::map<std::string, ProbeAnswer> answers;
};

TEST_F(ProbeStorageTest, OwnOpenAndOthersClosedIsGood) {
  EXPECT_EQ(judge_exports(reg, plan, answers).size(), 4U);
  EXPECT_EQ(row("a", "a").cell, ProbeCell::open);
  EXPECT_EQ(row("a", "b").cell, ProbeCell::closed);
  EXPECT_TRUE(row("a", "a").good && row("b", "a").good);
}

TEST_F(ProbeStorageTest, OneLoginOrOneTakenAddressIsALeak) {
  seen("b2", 1).login = ProbeReach::reached;
  EXPECT_EQ(row("b", "a").cell, ProbeCell::open);
  EXPECT_FALSE(row("b", "a").good);
  EXPECT_NE(row("b", "a").detail.find("b2"), std::string::npos);
  seen("b2", 1).login = ProbeReach::refused;
  seen("b1", 1).address = ProbeReach::reached;
  EXPECT_EQ(row("b", "a").cell, ProbeCell::open);
  EXPECT_NE(row("b", "a").detail.find("100.64.0.9"), std::string::npos);
}

TEST_F(ProbeStorageTest, WhoIsNotLetInAtHomeProvesNothing) {
  seen("a1", 0).login = ProbeReach::silent;
  EXPECT_EQ(row("a", "a").cell, ProbeCell::unknown);
  EXPECT_EQ(row("a", "b").cell, ProbeCell::unknown);
  EXPECT_FALSE(row("a", "b").good);
  EXPECT_TRUE(row("b", "a").good) << "the others' proof stands";
}

TEST_F(ProbeStorageTest, WhoTimesOutIsSaidToTimeOut) {
  seen("a1", 0).login = ProbeReach::silent;
  EXPECT_EQ(row("a", "a").detail, "a1 is not let in: timed out");
  seen("a2", 1).login = ProbeReach::silent;
  EXPECT_NE(row("a", "b").detail.find("a2 could not try: timed out"), std::string::npos);
}

TEST_F(ProbeStorageTest, WhatWasNotTriedIsUnknown) {
  seen("a1", 1).login = ProbeReach::failed;
  EXPECT_EQ(row("a", "b").cell, ProbeCell::unknown);
  seen("a1", 1).login = ProbeReach::refused;
  seen("a1", 1).address = ProbeReach::failed;
  EXPECT_EQ(row("a", "b").cell, ProbeCell::unknown);
  answers["a1"].answered = false;
  EXPECT_EQ(row("a", "b").cell, ProbeCell::unknown);
  EXPECT_EQ(row("a", "a").cell, ProbeCell::unknown);
}

TEST_F(ProbeStorageTest, ClustersOfOneTenantShareAnExportAndNoAddress) {
  plan.participants[0].probe.exports[1].export_name.clear();
  plan.participants[1].probe.exports[1].export_name.clear();
  seen("a1", 1).login = seen("a2", 1).login = ProbeReach::failed;
  EXPECT_EQ(row("a", "b").cell, ProbeCell::closed);
}

}  // namespace
}  // namespace tundish::control::network
