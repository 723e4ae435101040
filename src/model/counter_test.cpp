#include "model/counter.hpp"

#include <gtest/gtest.h>

namespace tundish {
namespace {

constexpr Instant day{hours(24 * 1000).us};

TEST(CounterTrend, OneValueProvesNothing) {
  CounterTrend trend;
  EXPECT_FALSE(trend.read(day).per_minute);
  trend.add(17657, day);
  EXPECT_EQ(trend.read(day).total, 17657);
  EXPECT_FALSE(trend.read(day).per_minute);
  EXPECT_FALSE(trend.read(day).grown);
}

TEST(CounterTrend, RatesAreScaledAndRoundedUp) {
  CounterTrend trend;
  trend.add(100, day);
  trend.add(101, day + minutes(5));
  EXPECT_EQ(trend.read(day + minutes(5)).per_minute, 1);  // 0.2, but not none
  EXPECT_EQ(trend.read(day + minutes(5)).grown, 1);
  trend.add(161, day + minutes(5) + seconds(30));
  EXPECT_EQ(trend.read(day + minutes(6)).per_minute, 120);
  EXPECT_EQ(trend.read(day + minutes(6)).covered, minutes(5) + seconds(30));
}

TEST(CounterTrend, ASmallerValueIsANewBeginning) {
  CounterTrend trend;
  trend.add(1000, day);
  trend.add(7, day + minutes(1));
  EXPECT_EQ(trend.read(day + minutes(1)).per_minute, 7);
  EXPECT_EQ(trend.read(day + minutes(1)).grown, 7);
  EXPECT_EQ(trend.read(day + minutes(1)).resets, 1);
}

TEST(CounterTrend, ADayEnds) {
  CounterTrend trend;
  trend.add(0, day);
  trend.add(50, day + minutes(30));
  for (int hour = 1; hour <= 23; ++hour) trend.add(50 + hour, day + hours(hour));
  EXPECT_EQ(trend.read(day + hours(23)).grown, 73);
  trend.add(74, day + hours(25));
  EXPECT_EQ(trend.read(day + hours(25)).grown, 23);  // the hours 2 to 23, and the new one
  EXPECT_EQ(trend.read(day + hours(25)).covered, hours(24));
}

TEST(CounterTrend, GrowthOverALongPauseIsNoRate) {
  CounterTrend trend;
  trend.add(0, day);
  trend.add(1000000, day + hours(9));
  EXPECT_FALSE(trend.read(day + hours(9)).per_minute);
  EXPECT_EQ(trend.read(day + hours(9)).grown, 1000000);
}

TEST(CounterTrend, TheSameMomentOrAnOlderOneChangesNothing) {
  CounterTrend trend;
  trend.add(5, day);
  trend.add(9, day);
  trend.add(2, day - minutes(1));
  EXPECT_EQ(trend.read(day).total, 5);
  EXPECT_EQ(trend.read(day).resets, 0);
}

TEST(CounterTrend, IsForgottenAfterADay) {
  CounterTrend trend;
  trend.add(5, day);
  EXPECT_FALSE(trend.is_stale(day + hours(24)));
  EXPECT_TRUE(trend.is_stale(day + hours(26)));
}

}  // namespace
}  // namespace tundish
