#include "runtime/agent/told_verdicts.hpp"

#include <gtest/gtest.h>

namespace tundish::agent {
namespace {

using S = VerdictState;

Verdict says(S state, const std::string& reason, const std::string& device = "") {
  Verdict out;
  out.check = "ib_port";
  out.state = state;
  out.reason = reason;
  out.device = device;
  return out;
}

PassiveCheck check_of(int looks) {
  PassiveCheck out;
  out.name = "ib_port";
  out.looks = looks;
  return out;
}

TEST(ToldVerdicts, OnlyChangesAreTold) {
  ToldVerdicts told;
  EXPECT_TRUE(told.take(check_of(1), {says(S::ok, "fine")}, {}).empty());
  EXPECT_EQ(told.take(check_of(1), {says(S::fail, "down", "a")}, {}).size(), 1U);
  EXPECT_TRUE(told.take(check_of(1), {says(S::fail, "down", "a")}, {}).empty());
  EXPECT_EQ(told.all().size(), 1U);
  const auto back = told.take(check_of(1), {says(S::ok, "fine")}, Instant{7});
  ASSERT_EQ(back.size(), 1U);
  EXPECT_EQ(back[0].state, S::ok);
  EXPECT_EQ(back[0].device, "a");
  EXPECT_TRUE(told.all().empty());
}

TEST(ToldVerdicts, ASymptomMustLast) {
  ToldVerdicts told;
  const auto check = check_of(3);
  EXPECT_TRUE(told.take(check, {says(S::warn, "hot")}, {}).empty());
  EXPECT_TRUE(told.take(check, {says(S::ok, "cool")}, {}).empty());
  EXPECT_TRUE(told.take(check, {says(S::warn, "hot")}, {}).empty());
  EXPECT_TRUE(told.take(check, {says(S::warn, "hot")}, {}).empty());
  EXPECT_EQ(told.take(check, {says(S::warn, "hot")}, {}).size(), 1U);
}

TEST(ToldVerdicts, ADeviceThatIsNamedNoMoreDoesNotCount) {
  ToldVerdicts told;
  const auto check = check_of(2);
  EXPECT_TRUE(told.take(check, {says(S::fail, "down", "a")}, {}).empty());
  EXPECT_TRUE(told.take(check, {says(S::fail, "down", "b")}, {}).empty());
  EXPECT_TRUE(told.take(check, {says(S::fail, "down", "a")}, {}).empty());  // a begins anew
}

TEST(ToldVerdicts, UnknownIsToldAtOnceAndIsNoFault) {
  ToldVerdicts told;
  EXPECT_EQ(told.take(check_of(5), {says(S::unknown, "no driver")}, {}).size(), 1U);
}

TEST(ToldVerdicts, AFloodOfDevicesIsBounded) {
  ToldVerdicts told;
  std::vector<Verdict> many;
  for (int i = 0; i < 5000; ++i) many.push_back(says(S::fail, "down", std::to_string(i)));
  EXPECT_LE(told.take(check_of(1), many, {}).size(), 1024U);
}

}  // namespace
}  // namespace tundish::agent
