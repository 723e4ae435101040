#include "runtime/clock_start.hpp"

#include <gtest/gtest.h>

namespace tundish {
namespace {

constexpr Instant noon{1'700'000'000'000'000};

/// A store whose newest entry is of noon, a machine that is up for a day.
ClockSight at(Instant wall) {
  ClockSight out;
  out.wall = wall;
  out.newest = noon;
  out.boot_id = "this";
  out.uptime = hours(24);
  return out;
}

TEST(clock_start, a_short_pause_and_a_new_store_need_no_evidence) {
  EXPECT_EQ(judge_clock(at(noon + minutes(59))).trust, ClockTrust::believed);
  EXPECT_EQ(judge_clock(at(noon + minutes(59))).begin, noon + minutes(59));
  ClockSight fresh = at(noon + hours(48));
  fresh.newest = {};
  EXPECT_EQ(judge_clock(fresh).trust, ClockTrust::believed);
  EXPECT_EQ(judge_clock(fresh).begin, noon + hours(48));
}

TEST(clock_start, a_jump_that_nothing_vouches_for_is_not_gone_along_with) {
  const auto jumped = judge_clock(at(noon + hours(48)));
  EXPECT_EQ(jumped.trust, ClockTrust::ahead);
  EXPECT_EQ(jumped.begin, noon);
  EXPECT_EQ(jumped.away, hours(48));
  const std::string note = clock_note(jumped, "touch X");
  EXPECT_NE(note.find("ahead"), std::string::npos) << note;
  EXPECT_NE(note.find("touch X"), std::string::npos) << note;
}

TEST(clock_start, the_steady_clock_of_this_boot_vouches_for_a_long_pause) {
  ClockSight seen = at(noon + hours(20));
  seen.mark = ClockMark{"this", hours(4), noon};
  EXPECT_EQ(judge_clock(seen).trust, ClockTrust::believed);
  EXPECT_EQ(judge_clock(seen).begin, noon + hours(20));
  seen.wall = noon + hours(68);
  const auto jumped = judge_clock(seen);
  EXPECT_EQ(jumped.trust, ClockTrust::ahead);
  EXPECT_EQ(jumped.begin, noon + hours(20)) << "so much has passed by the steady clock";
  EXPECT_EQ(jumped.away, hours(48));
}

TEST(clock_start, the_mark_of_another_boot_vouches_for_nothing) {
  ClockSight seen = at(noon + hours(20));
  seen.mark = ClockMark{"other", hours(4), noon};
  EXPECT_EQ(judge_clock(seen).trust, ClockTrust::ahead);
  seen.mark = ClockMark{"this", hours(30), noon};
  EXPECT_EQ(judge_clock(seen).trust, ClockTrust::ahead) << "an uptime that went back";
}

TEST(clock_start, a_time_service_vouches_for_any_time) {
  ClockSight seen = at(noon + hours(500));
  seen.disciplined = true;
  EXPECT_EQ(judge_clock(seen).trust, ClockTrust::believed);
}

TEST(clock_start, going_back_is_told_and_time_does_not) {
  const auto back = judge_clock(at(noon - hours(48)));
  EXPECT_EQ(back.trust, ClockTrust::behind);
  EXPECT_EQ(back.begin, noon);
  EXPECT_EQ(back.away, hours(48));
  EXPECT_NE(clock_note(back, "").find("behind"), std::string::npos);
  EXPECT_EQ(judge_clock(at(noon - seconds(30))).trust, ClockTrust::believed);
  EXPECT_EQ(judge_clock(at(noon - seconds(30))).begin, noon);
  EXPECT_EQ(clock_note(judge_clock(at(noon)), ""), "");
}

TEST(clock_start, a_mark_is_read_as_it_was_written_and_nothing_else_is_one) {
  const ClockMark mark{"5f3c", hours(3), noon};
  const auto read = parse_mark(render_mark(mark));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->boot_id, mark.boot_id);
  EXPECT_EQ(read->uptime, mark.uptime);
  EXPECT_EQ(read->at, mark.at);
  for (const char* text : {"", "5f3c", "5f3c x y", "5f3c 1"}) {
    EXPECT_FALSE(parse_mark(text)) << text;
  }
}

TEST(clock_start, this_machine_has_clocks) {
  const ClockSight seen = look_at_clock();
  EXPECT_TRUE(seen.wall.is_set());
  EXPECT_FALSE(seen.boot_id.empty());
  EXPECT_GT(seen.uptime, Duration{});
}

}  // namespace
}  // namespace tundish
