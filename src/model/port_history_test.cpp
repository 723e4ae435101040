#include "model/port_history.hpp"

#include <gtest/gtest.h>

namespace tundish {
namespace {

constexpr Instant start{hours(1000).us};

PortHistory lost_for(Duration length) {
  PortHistory port;
  port.look(PortSeen::up, start);
  port.look(PortSeen::down, start + minutes(1));
  port.look(PortSeen::up, start + minutes(1) + length);
  return port;
}

// gpud PR 1110 and 1247: what is a flap and what is a short drop is a matter of one second.
TEST(PortHistory, EdgesOfADrop) {
  EXPECT_EQ(lost_for(seconds(24)).drops(start + hours(1)), 0);
  EXPECT_EQ(lost_for(seconds(25)).drops(start + hours(1)), 1);
  EXPECT_EQ(lost_for(minutes(4)).drops(start + hours(1)), 1);
}

TEST(PortHistory, DownIsTimedFromTheFirstLook) {
  PortHistory port;
  EXPECT_FALSE(port.down_since().is_set());
  port.look(PortSeen::down, start);
  port.look(PortSeen::down, start + minutes(4));
  EXPECT_EQ(port.down_since(), start);
  EXPECT_EQ(port.drops(start + minutes(4)), 0);  // it is not back
  port.look(PortSeen::up, start + minutes(5));
  EXPECT_FALSE(port.down_since().is_set());
}

// The loss of a boot was timed from the boot before, and every restart of ours counted as a drop.
TEST(PortHistory, AStartOfTheNodeIsNoLoss) {
  PortHistory port;
  port.look(PortSeen::down, start);
  port.begin_boot();
  port.look(PortSeen::down, start + minutes(4));
  EXPECT_EQ(port.down_since(), start + minutes(4)) << "as of this boot";
  port.look(PortSeen::up, start + minutes(5));
  EXPECT_EQ(port.drops(start + minutes(5)), 0) << "it came up for the first time";
  port.look(PortSeen::down, start + minutes(6));
  port.look(PortSeen::up, start + minutes(7));
  EXPECT_EQ(port.drops(start + minutes(7)), 1) << "and then it was lost";
}

TEST(PortHistory, DropsAreForgottenAfterTwelveHours) {
  PortHistory port = lost_for(minutes(1));
  EXPECT_EQ(port.drops(start + hours(12)), 1);
  EXPECT_EQ(port.drops(start + hours(13)), 0);
}

}  // namespace
}  // namespace tundish
